//! Texts below a table, shown once each, and the numbers that refer to them.

use record::Doubt;

use crate::text::{Style, paragraph};

/// The notes to the rows of one table.
#[derive(Default)]
pub(crate) struct Footnotes(Vec<String>);

impl Footnotes {
    /// The numbers of these texts, such as `[1,3]`; empty without texts.
    pub(crate) fn refer(&mut self, texts: impl IntoIterator<Item = String>) -> String {
        let mut numbers: Vec<usize> = texts.into_iter().map(|text| self.number(text)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        if numbers.is_empty() { String::new() } else { format!("[{}]", numbers.join(",")) }
    }

    /// The numbers of these doubts, each with its full text.
    pub(crate) fn doubts(&mut self, doubts: &[Doubt]) -> String {
        self.refer(doubts.iter().map(Doubt::to_string))
    }

    fn number(&mut self, text: String) -> usize {
        let known = self.0.iter().position(|note| *note == text);
        known.unwrap_or_else(|| {
            self.0.push(text);
            self.0.len() - 1
        }) + 1
    }

    /// All texts, in the order of their numbers.
    pub(crate) fn render(&self, style: Style) -> String {
        let mut text = String::new();
        for (index, note) in self.0.iter().enumerate() {
            text += &style.dim(&paragraph(&format!("{:>5} ", format!("[{}]", index + 1)), note));
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_one_number() {
        let mut notes = Footnotes::default();
        assert_eq!(notes.refer(["b".into(), "a".into()]), "[1,2]");
        assert_eq!(notes.refer(["c".into(), "b".into(), "b".into()]), "[1,3]");
        assert_eq!(notes.refer([]), "");
        assert_eq!(notes.render(Style::Plain), "  [1] b\n  [2] a\n  [3] c\n");
    }
}
