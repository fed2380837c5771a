//! The frame of a page: its policy, style, script and the order of its parts.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::{Run, printable};

use super::form::HtmlPage;
use super::{blocks, compared, costs, curves, first, ladder, own};
use crate::head::machine_parts;

/// The style and the script of every page. The policy names them by their SHA-256, which a test keeps current.
pub(super) const STYLE: &str = include_str!("page.css");
pub(super) const SCRIPT: &str = include_str!("page.js");
pub(super) const STYLE_HASH: &str = "kNgO8UVHDxwRv8WOPnMT/jWt/qsNEDGjYKSntpBiHEI=";
pub(super) const SCRIPT_HASH: &str = "fEWQs8FIsKC1Z3IIA4nqcxive5pjcFFNT1fWRHknm5I=";

/// The page of runs and sections.
pub fn html_page(page: &HtmlPage<'_>) -> String {
    let title = title(page);
    let curves = page.runs.first().map(|first| curves::curves(first.run, page.detail)).unwrap_or_default();
    let own = page.runs.first().map(|first| own::sections(first.run)).unwrap_or_default();
    let names: Vec<(&str, &str)> = navigation(page, &own, !curves.is_empty());
    let body = html! {
        @if !page.runs.is_empty() { (first::first(page)) }
        @else { header { p.brand { "howslow" } h1 { (title) } } }
        (links(&names))
        main {
            @if let Some(first) = page.runs.first() {
                @if page.runs.len() > 1 { (compared::compared(page)) }
                (ladder::ladder(page))
                (costs::costs(page, &curves))
                (curves::section(&curves))
                @for section in &own { (blocks::section(section)) }
                @if first.run.costs.is_empty() { p { "Nothing was measured." } }
            }
            @for section in &page.sections { (blocks::section(section)) }
        }
        (footer(page))
        @for run in page.runs.iter().filter(|run| !run.packed.is_empty()) {
            script type=(page.run_type) data-name=(printable(&run.name)) { (PreEscaped(&run.packed)) }
        }
    };
    document(&title, &body)
}

/// A whole document.
pub(super) fn document(title: &str, body: &Markup) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) script { (PreEscaped(SCRIPT)) } }
        }
    };
    without_needless_ends(&page.into_string())
}

/// HTML does not need the ends of cells, rows and items. Text holds no `<`, so that these are tags. The style, the script and the runs hold
/// none of them.
fn without_needless_ends(page: &str) -> String {
    ["</td>", "</th>", "</tr>", "</tbody>", "</li>", "</dd>", "</dt>"]
        .iter()
        .fold(page.to_string(), |page, end| page.replace(end, ""))
}

/// A run's machine in one line.
fn title(page: &HtmlPage<'_>) -> String {
    match page.runs {
        [] => page.sections.iter().map(|section| printable(&section.title)).collect::<Vec<_>>().join(", "),
        [one] => format!("howslow: {}", printable(&machine_parts(&one.run.machine).join(", "))),
        several => {
            let names: Vec<String> = several.iter().map(|run| printable(&run.name)).collect();
            format!("howslow: {}", names.join(" and "))
        }
    }
}

/// The parts of the page: anchor and name.
fn navigation<'p>(
    page: &'p HtmlPage<'_>,
    own: &'p [super::form::Section],
    has_curves: bool,
) -> Vec<(&'p str, &'p str)> {
    let has = |is: fn(&Run) -> bool| page.runs.first().is_some_and(|first| is(first.run));
    let of_runs = [
        (page.runs.len() > 1, ("compared", "Compared")),
        (has(|run| !ladder::rungs(run).is_empty()), ("ladder", "Ladder")),
        (has(|run| !run.costs.is_empty()), ("costs", "Costs")),
        (has_curves, ("curves", "Curves")),
    ];
    let of_runs = of_runs.into_iter().filter(|(is_there, _)| *is_there).map(|(_, part)| part);
    let sections = own.iter().chain(&page.sections).map(|section| (section.id.as_str(), section.title.as_str()));
    of_runs.chain(sections).collect()
}

fn links(names: &[(&str, &str)]) -> Markup {
    html! {
        @if names.len() > 1 {
            nav aria-label="Parts of this page" { ul { @for (id, name) in names { li { a href={ "#" (id) } { (printable(name)) } } } } }
        }
    }
}

fn footer(page: &HtmlPage<'_>) -> Markup {
    let held = page.runs.iter().filter(|run| !run.packed.is_empty()).count();
    html! {
        footer {
            @if held > 0 {
                p {
                    "This page holds " @if held == 1 { "its run" } @else { "its " (held) " runs" } ": "
                    code { "howslow show PAGE.html" } " and " code { "howslow compare PAGE.html @1" } " read "
                    @if held == 1 { "it." } @else { "the first, PAGE.html#2 the second." } " "
                    button type="button" class="js" data-do="save" hidden {
                        @if held == 1 { "Save as JSON" } @else { "Save the first as JSON" }
                    }
                }
            }
            @if page.anonymous {
                p { "The names of host, user, labels, files and own commands, the day and the run's id were left out." }
            }
            p { "Made by howslow " (env!("CARGO_PKG_VERSION")) "; ± holds the interval in which the cost lies 95 times in 100." }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use sha2::Digest;

    use super::*;

    #[test]
    fn the_policy_allows_this_style_and_this_script() {
        let hash = |text: &str| base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(text.as_bytes()));
        assert_eq!(STYLE_HASH, hash(STYLE), "set STYLE_HASH to this");
        assert_eq!(SCRIPT_HASH, hash(SCRIPT), "set SCRIPT_HASH to this");
        for part in [STYLE, SCRIPT] {
            assert!(!part.contains("</") && !part.contains("<!--"), "it would end its element");
        }
        assert!(SCRIPT.lines().count() <= 400);
    }
}
