//! Pages from records: a run, a listing or a machine as input, text as output. Prints nothing and does not look at the
//! terminal.
//!
//! ```no_run
//! let run = record::read_run(std::path::Path::new("run.json"))?;
//! print!("{}", report::page(&run, report::Style::Plain));
//! # Ok::<(), record::ReadError>(())
//! ```
#![forbid(unsafe_code)]

mod accounts;
mod compare;
pub mod document;
mod explain;
mod factors;
mod footnotes;
mod grid;
mod head;
mod lists;
mod memory;
mod predict;
mod prefetch;
mod prices;
mod repeated;
mod residence;
mod study;

pub use accounts::COMMANDS;
pub use compare::{Shown, Sort, View, comparison};
pub use explain::{explained, explanations};
pub use factors::{FactorsOf, factors};
pub use head::head_line;
pub use lists::{Kept, Listed, ListedCall, doctor, history, list, syscalls};
pub use predict::{Priced, predictions};
pub use prefetch::{advice, tuning};
pub use prices::page;
pub use record::BLOCK;
pub use repeated::{needs, repeated};
pub use residence::{ResidentFile, resident_files};
pub use study::study;

/// Whether a page contains colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    Plain,
    /// With terminal escape sequences: headings bold, asides dim, changes red or green.
    Coloured,
}

/// The width of running text, in columns.
const WIDTH: usize = 118;

impl Style {
    fn bold(self, text: &str) -> String {
        self.wrapped(anstyle::Style::new().bold(), text)
    }

    fn dim(self, text: &str) -> String {
        self.wrapped(anstyle::Style::new().dimmed(), text)
    }

    fn red(self, text: &str) -> String {
        self.wrapped(anstyle::AnsiColor::Red.on_default(), text)
    }

    fn green(self, text: &str) -> String {
        self.wrapped(anstyle::AnsiColor::Green.on_default(), text)
    }

    fn wrapped(self, style: anstyle::Style, text: &str) -> String {
        match self {
            Style::Coloured if !text.is_empty() => format!("{style}{text}{style:#}"),
            _ => text.into(),
        }
    }
}

/// An id in a table. It may be a whole command line, whose middle part matters least.
fn in_table(id: &str) -> String {
    const MOST: usize = 48;
    let characters: Vec<char> = id.chars().collect();
    if characters.len() <= MOST {
        return id.into();
    }
    let part = |range: &[char]| range.iter().collect::<String>();
    let half = MOST / 2;
    format!("{}…{}", part(&characters[..half]), part(&characters[characters.len() - half + 1..]))
}

/// Running text, filled to the page's width. The first line starts with `first`, the others with the same number of
/// spaces.
fn paragraph(first: &str, text: &str) -> String {
    let rest = " ".repeat(textwrap::core::display_width(first));
    textwrap::fill(
        &text.replace('\n', " "),
        textwrap::Options::new(WIDTH).initial_indent(first).subsequent_indent(&rest),
    )
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
    }
}
