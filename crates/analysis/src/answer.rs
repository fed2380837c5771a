//! Answers to questions about figures with intervals. There are three answers, because missing evidence does not mean
//! no.

use crate::statistics::Interval;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The whole interval says so.
    Yes,
    /// The whole interval says otherwise.
    No,
    /// The interval holds both, or there is none.
    Inconclusive,
    /// A figure is missing.
    NotMeasured,
}

impl Answer {
    /// `Some` if there is evidence either way.
    pub fn is_yes(self) -> Option<bool> {
        match self {
            Answer::Yes => Some(true),
            Answer::No => Some(false),
            Answer::Inconclusive | Answer::NotMeasured => None,
        }
    }

    /// The word on pages and in documents.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Yes => "yes",
            Answer::No => "no",
            Answer::Inconclusive => "inconclusive",
            Answer::NotMeasured => "not measured",
        }
    }

    /// True if both hold: no if one certainly does not hold, yes if both certainly do.
    #[must_use]
    pub fn and(self, other: Answer) -> Answer {
        match (self, other) {
            (Answer::NotMeasured, _) | (_, Answer::NotMeasured) => Answer::NotMeasured,
            (Answer::No, _) | (_, Answer::No) => Answer::No,
            (Answer::Yes, Answer::Yes) => Answer::Yes,
            _ => Answer::Inconclusive,
        }
    }
}

/// The answer to: is a positive figure below a bound? The interval and the figure must both lie on one side, and the
/// figure by more than the share `band`, the machine's own A/A difference.
pub fn below(figure: &Interval, bound: f64, band: f64) -> Answer {
    let yes = figure.high < bound && figure.value < bound * (1.0 - band);
    decided(figure, yes, figure.low >= bound && figure.value >= bound * (1.0 + band))
}

/// The answer to: is a positive figure above a bound? As [`below`].
pub fn above(figure: &Interval, bound: f64, band: f64) -> Answer {
    let yes = figure.low > bound && figure.value > bound * (1.0 + band);
    decided(figure, yes, figure.high <= bound && figure.value <= bound * (1.0 - band))
}

/// The answer to: is a positive figure between two bounds? This is an equivalence test: yes if the whole interval lies
/// inside, no if all of it lies outside on one side.
pub fn between(figure: &Interval, (low, high): (f64, f64), band: f64) -> Answer {
    let outside = [below(figure, low, band), above(figure, high, band)].contains(&Answer::Yes);
    decided(figure, low <= figure.low && figure.high <= high, outside)
}

/// The answer of a figure that shows it, or shows the opposite. Without an interval it shows nothing.
fn decided(figure: &Interval, yes: bool, no: bool) -> Answer {
    match (yes, no) {
        _ if !figure.is_bounded() => Answer::Inconclusive,
        (true, _) => Answer::Yes,
        (_, true) => Answer::No,
        _ => Answer::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_must_exceed_the_interval_and_the_band() {
        let below = |value: f64, half: f64| below(&Interval::around(value, half), 1.0, 0.02);
        assert_eq!(below(0.97, 0.01), Answer::Yes);
        assert_eq!(below(0.97, 0.04), Answer::Inconclusive, "the interval holds 1");
        assert_eq!(below(0.99, 0.005), Answer::Inconclusive, "within the band");
        assert_eq!(below(1.1, 0.01), Answer::No);
        assert_eq!(below(1.01, 0.005), Answer::Inconclusive, "no needs as much evidence as yes");
        let above = |value: f64| above(&Interval::around(value, 0.01), 1.5, 0.02);
        assert_eq!([1.6, 1.52, 1.4].map(above), [Answer::Yes, Answer::Inconclusive, Answer::No]);
    }

    #[test]
    fn what_is_printed_exactly_at_the_bound_is_not_beyond_it() {
        assert_eq!(below(&Interval::around(2.0, 0.0), 2.0, 0.0), Answer::No);
        assert_eq!(above(&Interval::around(2.0, 0.0), 2.0, 0.0), Answer::No);
        assert_eq!(between(&Interval::around(2.0, 0.0), (2.0, 3.0), 0.0), Answer::Yes);
    }

    #[test]
    fn equivalence_needs_the_whole_interval() {
        let between = |value: f64, half: f64| between(&Interval::around(value, half), (0.8, 1.25), 0.01);
        assert_eq!(between(1.0, 0.1), Answer::Yes);
        assert_eq!(between(1.0, 0.5), Answer::Inconclusive, "it may be anything");
        assert_eq!(between(1.2, 0.1), Answer::Inconclusive);
        assert_eq!([between(1.4, 0.1), between(50.0, 1.0), between(0.5, 0.1)], [Answer::No; 3]);
        assert_eq!(between(1.255, 0.001), Answer::Inconclusive, "within the band of the bound");
    }

    #[test]
    fn without_an_interval_there_is_no_evidence() {
        let open = Interval::unbounded(1.0);
        let answers = [below(&open, 5.0, 0.0), above(&open, 0.1, 0.0), between(&open, (0.5, 2.0), 0.0)];
        assert_eq!(answers, [Answer::Inconclusive; 3]);
    }

    #[test]
    fn answers_are_joined() {
        use Answer::{Inconclusive, No, NotMeasured, Yes};
        assert_eq!([Yes.and(Yes), Yes.and(No), Yes.and(Inconclusive)], [Yes, No, Inconclusive]);
        assert_eq!([No.and(Inconclusive), No.and(NotMeasured)], [No, NotMeasured]);
        assert_eq!([Yes, No, Inconclusive, NotMeasured].map(Answer::is_yes), [Some(true), Some(false), None, None]);
    }
}
