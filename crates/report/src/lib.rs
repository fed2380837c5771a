//! Pages from records: a run, a listing or a machine in, text out. Prints nothing and asks the terminal nothing.
#![forbid(unsafe_code)]

mod explain;
mod grid;
mod head;
mod lists;
mod prices;
mod study;

pub use explain::{explained, explanations};
pub use head::head_line;
pub use lists::{Kept, Listed, doctor, history, list};
pub use prices::page;
pub use study::study;

/// Whether a page may carry colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    Plain,
    /// Headings bold, asides dim, by terminal escape sequences.
    Coloured,
}

/// Columns that running text is filled to.
const WIDTH: usize = 118;

impl Style {
    fn bold(self, text: &str) -> String {
        self.wrapped("\u{1b}[1m", text)
    }

    fn dim(self, text: &str) -> String {
        self.wrapped("\u{1b}[2m", text)
    }

    fn wrapped(self, start: &str, text: &str) -> String {
        match self {
            Style::Coloured if !text.is_empty() => format!("{start}{text}\u{1b}[0m"),
            _ => text.into(),
        }
    }
}

/// Running text filled to the page's width: the first line after `first`, the others after as many spaces.
fn paragraph(first: &str, text: &str) -> String {
    let rest = " ".repeat(textwrap::core::display_width(first));
    textwrap::fill(
        &text.replace('\n', " "),
        textwrap::Options::new(WIDTH).initial_indent(first).subsequent_indent(&rest),
    )
}
