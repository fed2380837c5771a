//! Text inside an XML document.

/// The text with XML's own characters escaped. Characters that XML 1.0 does not allow become U+FFFD.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            '\t' | '\n' | '\r' => safe.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// The colours of light and of dark pages, which the viewer of the file chooses. A light page is the default.
pub(super) const STYLE: &str = "\
.paper{fill:#fff}text,.ink{fill:#1b1b1b}text{font:12px system-ui,sans-serif}.title{font-size:15px;font-weight:600}\
.axis{stroke:#555;fill:none}.grid{stroke:#ddd;fill:none}\
@media(prefers-color-scheme:dark){.paper{fill:#16181c}text,.ink{fill:#e8e8e8}.axis{stroke:#aaa}.grid{stroke:#34373d}}";

/// The opening of a drawing of this width and height in an HTML page, with the class of its style.
pub(super) fn figure_opening(class: &str, (width, height): (f64, f64), title: &str) -> String {
    let title = escaped(title);
    format!("<svg class=\"{class}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{title}\">")
}

/// The first lines of a document of this size: its title, its colours, its background.
pub(super) fn opening(width: f64, height: f64, title: &str) -> String {
    let title = escaped(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n<text class=\"title\" x=\"14\" y=\"24\">{title}</text>\n"
    )
}
