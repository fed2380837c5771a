//! Text on a page: its width, its colours, and how long names are shortened.

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
        match self {
            Style::Coloured if !text.is_empty() => format!("{style}{text}{style:#}"),
            _ => text.into(),
        }
    }
}

/// An id in a table. It may be a whole command line, whose middle part matters least.
pub(crate) fn in_table(id: &str) -> String {
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
pub(crate) fn paragraph(first: &str, text: &str) -> String {
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
