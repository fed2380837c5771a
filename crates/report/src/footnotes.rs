//! Texts below a table, shown once each, and the numbers that refer to them.

use std::collections::BTreeSet;

use record::units::counted;
use record::{Doubt, typed_name};

use crate::doubts::{same_kind, together};
use crate::text::Style;

/// The notes to the rows of one table.
pub(crate) struct Footnotes {
    style: Style,
    notes: Vec<Note>,
    /// Doubts of kinds that are shown elsewhere.
    left_out: Vec<Doubt>,
}

/// One text, or the doubts that one text is about.
enum Note {
    Text(String),
    Doubts {
        /// What a table of several runs calls the costs' run; else empty.
        label: String,
        doubts: Vec<Doubt>,
        /// The rows that refer to it. One may have several of the doubts.
        rows: usize,
        /// The cost that each was inherited from; none if they are the rows' own.
        from: Vec<String>,
    },
}

impl Footnotes {
    /// Notes with doubts of one kind together, or each by itself, as the page wants it.
    pub(crate) fn of(style: Style) -> Footnotes {
        Footnotes { style, notes: Vec::new(), left_out: Vec::new() }
    }

    /// Leaves out the doubts of these kinds, which are shown elsewhere.
    pub(crate) fn leave_out(&mut self, kinds: Vec<Doubt>) {
        self.left_out = kinds;
    }

    /// The numbers of these texts, such as `[1,3]`; empty without texts.
    pub(crate) fn refer(&mut self, texts: impl IntoIterator<Item = String>) -> String {
        numbered(texts.into_iter().map(|text| self.text(text)).collect())
    }

    /// The numbers of these doubts. Rows that inherit the same doubt from different costs share a number: the rows name
    /// the costs.
    pub(crate) fn doubts<'d>(&mut self, doubts: impl IntoIterator<Item = &'d Doubt>) -> String {
        self.labelled("", doubts)
    }

    /// The numbers of these doubts and of these texts.
    pub(crate) fn doubts_and<'d>(
        &mut self,
        doubts: impl IntoIterator<Item = &'d Doubt>,
        texts: impl IntoIterator<Item = String>,
    ) -> String {
        let [doubts, texts] = [self.doubts(doubts), self.refer(texts)];
        (doubts + &texts).replace("][", ",")
    }

    /// The same for one of several runs, with its label.
    pub(crate) fn labelled<'d>(&mut self, label: &str, doubts: impl IntoIterator<Item = &'d Doubt>) -> String {
        let mut numbers = BTreeSet::new();
        for doubt in doubts {
            if self.left_out.iter().any(|kind| same_kind(kind, doubt)) {
                continue;
            }
            numbers.insert(match doubt {
                Doubt::Inherited { from, doubt } => self.doubt(label, doubt, Some(from)),
                own => self.doubt(label, own, None),
            });
        }
        for number in &numbers {
            if let Note::Doubts { rows, .. } = &mut self.notes[number - 1] {
                *rows += 1;
            }
        }
        numbered(numbers)
    }

    fn text(&mut self, text: String) -> usize {
        let known = self.notes.iter().position(|note| matches!(note, Note::Text(known) if *known == text));
        known.unwrap_or_else(|| self.add(Note::Text(text))) + 1
    }

    fn doubt(&mut self, label: &str, doubt: &Doubt, inherited: Option<&String>) -> usize {
        let full = self.style.is_full();
        let fits = |note: &Note| match note {
            Note::Doubts { label: known, doubts, from, .. } => {
                known == label
                    && from.is_empty() == inherited.is_none()
                    && doubts.first().is_some_and(|first| {
                        if full { first.to_string() == doubt.to_string() } else { same_kind(first, doubt) }
                    })
            }
            Note::Text(_) => false,
        };
        let known = self.notes.iter().position(fits);
        let new = || Note::Doubts { label: label.into(), doubts: Vec::new(), rows: 0, from: Vec::new() };
        let index = known.unwrap_or_else(|| self.add(new()));
        if let Note::Doubts { doubts, from, .. } = &mut self.notes[index] {
            // Several rows may inherit the same doubt of one cost.
            if !doubts.iter().zip(from.iter()).any(|(known, of)| known == doubt && Some(of) == inherited) {
                doubts.push(doubt.clone());
                from.extend(inherited.cloned());
            }
        }
        index + 1
    }

    fn add(&mut self, note: Note) -> usize {
        self.notes.push(note);
        self.notes.len() - 1
    }

    /// True if a note is about several doubts.
    pub(crate) fn is_folded(&self) -> bool {
        let several = |note: &Note| matches!(note, Note::Doubts { doubts, .. } if doubts.len() > 1);
        !self.style.is_full() && self.notes.iter().any(several)
    }

    /// All texts, in the order of their numbers.
    pub(crate) fn render(&self) -> String {
        let note = |(note, number): (&Note, usize)| {
            self.style.aside(&format!("{:>5} ", format!("[{number}]")), &self.described(note))
        };
        self.notes.iter().zip(1..).map(note).collect()
    }

    fn described(&self, note: &Note) -> String {
        let (label, doubts, rows, from) = match note {
            Note::Text(text) => return text.clone(),
            Note::Doubts { label, doubts, rows, from } => (label, doubts, rows, from),
        };
        let once = from.iter().enumerate().filter(|(place, name)| !from[..*place].contains(name));
        let from: Vec<_> = once.map(|(_, name)| typed_name(name)).collect();
        let costs = if from.is_empty() { *rows } else { from.len() };
        let text = if self.style.is_full() { doubts[0].to_string() } else { together(doubts, costs) };
        // The names of the costs show how many they are.
        let costs = format!("{}: ", counted(costs as u64, "cost"));
        let text = if from.is_empty() { text } else { text.strip_prefix(&costs).map(String::from).unwrap_or(text) };
        let text = match from.as_slice() {
            [] => text,
            [one] => format!("inherited from {one}: {text}"),
            [one, other] => format!("inherited from {one} and {other}: {text}"),
            [one, more @ ..] => format!("inherited from {one} and {} more costs: {text}", more.len()),
        };
        if label.is_empty() { text } else { format!("{label}: {text}") }
    }
}

fn numbered(numbers: BTreeSet<usize>) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    if numbers.is_empty() { String::new() } else { format!("[{}]", numbers.join(",")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Detail;

    #[test]
    fn the_same_text_has_one_number() {
        let mut notes = Footnotes::of(Style::PLAIN);
        assert_eq!(notes.refer(["b".into(), "a".into()]), "[1,2]");
        assert_eq!(notes.refer(["c".into(), "b".into(), "b".into()]), "[1,3]");
        assert_eq!(notes.refer([]), "");
        assert_eq!(notes.render(), "  [1] b\n  [2] a\n  [3] c\n");
    }

    #[test]
    fn the_same_doubt_of_several_costs_has_one_number() {
        let mut notes = Footnotes::of(Style::PLAIN);
        let inherited = |from: &str| Doubt::Inherited { from: from.into(), doubt: Box::new(Doubt::NegativeNet) };
        assert_eq!(notes.doubts(&[inherited("a")]), "[1]");
        assert_eq!(notes.doubts(&[Doubt::NegativeNet]), "[2]", "the row's own");
        assert_eq!(notes.doubts(&[inherited("b"), inherited("a")]), "[1]");
        let text = Doubt::NegativeNet.short();
        assert!(notes.render().starts_with(&format!("  [1] inherited from a and b: {}", &text[..30])));
        assert_eq!(notes.doubts(&[inherited("c")]), "[1]");
        assert!(notes.is_folded());
        assert!(notes.render().contains("inherited from a and 2 more costs: "));
        for (from, half_width) in [("a", 0.1), ("b", 0.2), ("a", 0.1)] {
            let doubt = Box::new(Doubt::Wide { half_width, wanted: 0.01 });
            assert_eq!(notes.doubts(&[Doubt::Inherited { from: from.into(), doubt }]), "[3]");
        }
        assert!(notes.render().contains("inherited from a and b: 2 intervals wider than"));
    }

    #[test]
    fn a_cost_with_two_doubts_of_a_kind_is_one_cost() {
        let mut notes = Footnotes::of(Style::PLAIN);
        let lost = ["killed", "too long"].map(|reason| Doubt::RoundLost { reason: reason.into() });
        assert_eq!(notes.doubts(&lost), "[1]");
        assert_eq!(notes.render(), "  [1] a round was lost: killed; a round was lost: too long\n");
        assert_eq!(notes.doubts(&lost[..1]), "[1]");
        assert_eq!(notes.render(), "  [1] 2 costs: a round was lost\n");
    }

    #[test]
    fn doubts_of_one_kind_are_one_note_unless_all_is_wanted() {
        let clock = |ghz| Doubt::OwnClock { ghz, run_ghz: 3.0 };
        let mut folded = Footnotes::of(Style::PLAIN);
        assert_eq!([folded.doubts(&[clock(2.9)]), folded.doubts(&[clock(2.1)])], ["[1]", "[1]"]);
        assert!(folded.render().contains("2 costs: ") && folded.render().contains("2.10 GHz"));
        let mut full = Footnotes::of(Style::PLAIN.with_detail(Detail::Full));
        assert_eq!([full.doubts(&[clock(2.9)]), full.doubts(&[clock(2.1)])], ["[1]", "[2]"]);
        assert!(!full.is_folded() && full.render().contains("2.90 GHz"));
        assert_eq!([folded.labelled("A", &[clock(1.0)]), folded.labelled("B", &[clock(1.0)])], ["[2]", "[3]"]);
    }
}
