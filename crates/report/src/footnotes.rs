//! Texts below a table, shown once each, and the numbers that refer to them.

use record::Doubt;

use crate::text::Style;

/// The notes to the rows of one table.
#[derive(Default)]
pub(crate) struct Footnotes(Vec<Note>);

/// A text, and the costs that it was inherited from; none if it is the row's own.
struct Note {
    text: String,
    from: Vec<String>,
}

impl Footnotes {
    /// The numbers of these texts, such as `[1,3]`; empty without texts.
    pub(crate) fn refer(&mut self, texts: impl IntoIterator<Item = String>) -> String {
        let numbers = texts.into_iter().map(|text| self.number(text, None)).collect();
        together(numbers)
    }

    /// The numbers of these doubts, each with its full text. Rows that inherit the same doubt from different costs share
    /// a number: the rows name the costs.
    pub(crate) fn doubts(&mut self, doubts: &[Doubt]) -> String {
        let number = |doubt: &Doubt| match doubt {
            Doubt::Inherited { from, doubt } => self.number(doubt.to_string(), Some(from)),
            own => self.number(own.to_string(), None),
        };
        together(doubts.iter().map(number).collect())
    }

    fn number(&mut self, text: String, from: Option<&String>) -> usize {
        let known = self.0.iter().position(|note| note.text == text && note.from.is_empty() == from.is_none());
        let index = known.unwrap_or_else(|| {
            self.0.push(Note { text, from: Vec::new() });
            self.0.len() - 1
        });
        let note = &mut self.0[index];
        note.from.extend(from.filter(|from| !note.from.contains(from)).cloned());
        index + 1
    }

    /// All texts, in the order of their numbers.
    pub(crate) fn render(&self, style: Style) -> String {
        let mut text = String::new();
        for (index, note) in self.0.iter().enumerate() {
            text += &style.dim(&style.paragraph(&format!("{:>5} ", format!("[{}]", index + 1)), &note.told()));
            text.push('\n');
        }
        text
    }
}

impl Note {
    fn told(&self) -> String {
        match self.from.as_slice() {
            [] => self.text.clone(),
            [one] => format!("inherited from {one}: {}", self.text),
            [one, other] => format!("inherited from {one} and {other}: {}", self.text),
            [one, more @ ..] => format!("inherited from {one} and {} more costs: {}", more.len(), self.text),
        }
    }
}

fn together(mut numbers: Vec<usize>) -> String {
    numbers.sort_unstable();
    numbers.dedup();
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    if numbers.is_empty() { String::new() } else { format!("[{}]", numbers.join(",")) }
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
        assert_eq!(notes.render(Style::PLAIN), "  [1] b\n  [2] a\n  [3] c\n");
    }

    #[test]
    fn the_same_doubt_of_several_costs_has_one_number() {
        let mut notes = Footnotes::default();
        let inherited = |from: &str| Doubt::Inherited { from: from.into(), doubt: Box::new(Doubt::NegativeNet) };
        assert_eq!(notes.doubts(&[inherited("a")]), "[1]");
        assert_eq!(notes.doubts(&[Doubt::NegativeNet]), "[2]", "the row's own");
        assert_eq!(notes.doubts(&[inherited("b"), inherited("a")]), "[1]");
        let text = Doubt::NegativeNet.to_string();
        assert!(notes.render(Style::PLAIN).starts_with(&format!("  [1] inherited from a and b: {}", &text[..30])));
        assert_eq!(notes.doubts(&[inherited("c")]), "[1]");
        assert!(notes.render(Style::PLAIN).contains("inherited from a and 2 more costs: "));
    }
}
