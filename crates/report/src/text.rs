//! Text on a page: its width, its colours, and how long names are shortened.

use record::units::{grouped, significant};

/// Whether a page contains colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Text only.
    Off,
    /// With terminal escape sequences: headings bold, asides dim, changes red or green.
    On,
}

/// How much a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What matters most, with doubts and reasons of one kind together.
    Folded,
    /// Every cost, doubt and reason.
    Full,
}

/// How a page looks: its colours, and the columns that it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    colours: Colours,
    width: usize,
    detail: Detail,
}

/// Running text is no wider than this, because longer lines are hard to read.
const WIDEST_TEXT: usize = 118;

impl Style {
    /// A page for a file or a pipe: without colours, 100 columns wide.
    pub const PLAIN: Style = Style { colours: Colours::Off, width: 100, detail: Detail::Folded };

    /// A page of this many columns.
    pub fn new(colours: Colours, width: usize) -> Style {
        Style { colours, width: width.max(1), detail: Detail::Folded }
    }

    /// The same page with this much shown.
    pub fn with_detail(self, detail: Detail) -> Style {
        Style { detail, ..self }
    }

    pub(crate) fn is_full(self) -> bool {
        self.detail == Detail::Full
    }

    /// The columns that a page may take.
    pub fn width(self) -> usize {
        self.width
    }

    /// The page with every line that is too wide continued on the next one, below the text of the first. Tables and
    /// paragraphs fit already; this is for lines that are neither.
    pub fn fitted(self, page: &str) -> String {
        let mut text = String::with_capacity(page.len());
        for line in page.split_inclusive('\n') {
            let (bare, end) = line.strip_suffix('\n').map_or((line, ""), |bare| (bare, "\n"));
            if display_width(bare) <= self.width {
                text += line;
                continue;
            }
            let indent = bare.chars().take_while(|c| *c == ' ').count().min(self.width / 3);
            let rest = " ".repeat((indent + 2).min(self.width / 3));
            let first = " ".repeat(indent);
            let options = textwrap::Options::new(self.width).initial_indent(&first).subsequent_indent(&rest);
            text += &filled(&whole_parts(bare.trim_start_matches(' '), self.width - rest.len()), options);
            text += end;
        }
        text
    }

    /// How many of a list are shown: this many, or all on a full page.
    pub(crate) fn most(self, folded: usize) -> usize {
        if self.is_full() { usize::MAX } else { folded }
    }

    /// Running text, filled to the page's width, without a line feed at its end. The first line starts with `first`, the
    /// others with the same number of spaces, or fewer on a narrow page.
    pub(crate) fn running(self, first: &str, text: &str) -> String {
        let width = self.width.min(WIDEST_TEXT);
        let rest = " ".repeat(display_width(first).min(width / 4));
        let text = text.replace('\n', " ");
        let wrapped = |first: &str, text: &str| {
            filled(text, textwrap::Options::new(width).initial_indent(first).subsequent_indent(&rest))
        };
        if display_width(first) <= width / 2 {
            return wrapped(first, &text);
        }
        let lead = first.trim_start_matches(' ');
        let indent = " ".repeat((first.len() - lead.len()).min(width / 4));
        wrapped(&indent, &format!("{lead}{text}"))
    }

    /// Running text with its line feed.
    pub(crate) fn paragraph(self, first: &str, text: &str) -> String {
        self.running(first, text) + "\n"
    }

    /// Each text as a paragraph of its own, whose first line starts with `first`.
    pub(crate) fn paragraphs<T: AsRef<str>>(self, first: &str, texts: impl IntoIterator<Item = T>) -> String {
        texts.into_iter().map(|text| self.paragraph(first, text.as_ref())).collect()
    }

    /// A paragraph that is dim: what stands below a table.
    pub(crate) fn aside(self, first: &str, text: &str) -> String {
        self.dim(&self.running(first, text)) + "\n"
    }

    /// Each text as an aside of its own.
    pub(crate) fn asides<T: AsRef<str>>(self, first: &str, texts: impl IntoIterator<Item = T>) -> String {
        texts.into_iter().map(|text| self.aside(first, text.as_ref())).collect()
    }

    /// A paragraph that is bold: what matters most.
    pub(crate) fn headline(self, text: &str) -> String {
        self.bold(&self.running("", text)) + "\n"
    }

    /// The title of a part of the page, below an empty line.
    pub(crate) fn title(self, title: &str) -> String {
        format!("\n{}\n", self.bold(title))
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrapped(anstyle::Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrapped(anstyle::Style::new().dimmed(), text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.wrapped(anstyle::AnsiColor::Red.on_default(), text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.wrapped(anstyle::AnsiColor::Green.on_default(), text)
    }

    fn wrapped(self, style: anstyle::Style, text: &str) -> String {
        match self.colours {
            Colours::On if !text.is_empty() => format!("{style}{text}{style:#}"),
            _ => text.into(),
        }
    }
}

/// Filled text in which no line ends between a number and its unit.
fn filled(text: &str, options: textwrap::Options) -> String {
    const UNITS: [&str; 12] = ["%", "ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "GHz", "MB/s", "cycles"];
    let mut together = String::with_capacity(text.len());
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        together += word;
        let unit = words.peek().map(|next| next.trim_end_matches([',', ';', '.', ':', ')']));
        let stays = unit.is_some_and(|unit| UNITS.contains(&unit)) && word.ends_with(|c: char| c.is_ascii_digit());
        if unit.is_some() {
            together.push(if stays { HARD } else { ' ' });
        }
    }
    textwrap::fill(&together, options).replace(HARD, " ")
}

/// A blank at which no line ends.
const HARD: char = '\u{a0}';

/// The parts of a line, which have three blanks between them, so that a line ends only between two of them.
fn whole_parts(line: &str, width: usize) -> String {
    let part = |part: &str| match display_width(part) <= width {
        true => part.replace(' ', &HARD.to_string()),
        false => part.into(),
    };
    if line.contains("   ") { line.split("   ").map(part).collect::<Vec<_>>().join("   ") } else { line.into() }
}

/// An id in a table. It may be a whole command line, whose middle part matters least, or the name that a process gave itself,
/// which must not control the terminal.
pub(crate) fn in_table(id: &str) -> String {
    shortened(&record::printable(id), 48)
}

/// A text of at most this many columns, without its middle if it is longer.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if display_width(text) <= most {
        return text.into();
    }
    let half = most / 2;
    let start = taken(text.chars(), half);
    let end: String = taken(text.chars().rev(), most.saturating_sub(half + 1)).chars().rev().collect();
    format!("{start}…{end}")
}

/// The first characters, of at most this many columns together.
pub(crate) fn taken(text: impl Iterator<Item = char>, most: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += display_width(c.encode_utf8(&mut [0; 4]));
        used <= most
    };
    text.take_while(fits).collect()
}

/// True for what is one column wide and controls nothing.
pub(crate) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' '
}

/// The columns that a text takes. Most texts are plain ASCII, which need not be read by character.
pub(crate) fn display_width(text: &str) -> usize {
    // At this crate's level of optimization an iterator is called for each byte: a sixth of the time of `howslow list`.
    let (bytes, mut place) = (text.as_bytes(), 0);
    while place < bytes.len() && is_plain(bytes[place]) {
        place += 1;
    }
    if place == bytes.len() { place } else { textwrap::core::display_width(text) }
}

/// The text with a capital at its beginning.
pub(crate) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The first names, and how many there are beyond them: `a, b and 3 more`.
pub(crate) fn and_more(names: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let named = names.take(most).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// The first names, with dots for those beyond them: `a, b, ...`.
pub(crate) fn and_so_on(names: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = if names.len() > most { ", ..." } else { "" };
    names.take(most).collect::<Vec<_>>().join(", ") + more
}

/// `2`, `0.500`: a whole number in full, another one by its first digits; `?` for what is no number.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        "?".into()
    } else if value.fract() == 0.0 {
        format!("{value}")
    } else {
        significant(value)
    }
}

/// A count: a whole number.
pub(crate) fn times(count: u64) -> String {
    events(count as f64)
}

/// A number of events, which need not be whole where it is a mean.
pub(crate) fn events(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 100.0 { format!("{number}") } else { grouped(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_lose_their_middle() {
        assert_eq!(in_table("pipe.self"), "pipe.self");
        let long = format!("command: sort {} end", "é".repeat(100));
        let shown = in_table(&long);
        assert_eq!(shown.chars().count(), 48);
        assert!(shown.starts_with("command: sort é") && shown.contains('…') && shown.ends_with("é end"));
        assert_eq!(shortened("漢字漢字", 5), "漢…字", "wide characters take two columns");
    }

    #[test]
    fn lines_end_between_parts_and_not_before_a_unit() {
        let style = Style::new(Colours::Off, 30);
        assert_eq!(
            style.fitted("howslow 0.1.0   Some CPU, 2 CPUs   KVM guest"),
            "howslow 0.1.0\n  Some CPU, 2 CPUs   KVM guest"
        );
        assert_eq!(
            style.running("", "the time differs by at most 1.5 %, in all"),
            "the time differs by at most\n1.5 %, in all"
        );
    }

    #[test]
    fn text_fits_into_every_width() {
        let long = format!("several words and {} at the end", "x".repeat(200));
        for width in [1, 2, 7, 20, 60, 118, 200] {
            for colours in [Colours::Off, Colours::On] {
                let style = Style::new(colours, width);
                for first in ["", "  ", "a name that is long: ", "        -> "] {
                    let text = style.dim(&style.running(first, &long));
                    assert!(text.lines().all(|line| display_width(line) <= width.max(2)), "{width}: {text}");
                }
                let text = style.fitted(&format!("    {}\n\nshort\n", style.bold(&long)));
                assert!(text.lines().all(|line| display_width(line) <= width.max(2)), "{width}: {text}");
                assert!(width < 7 || text.ends_with("\n\nshort\n"), "{text}");
            }
        }
    }
}
