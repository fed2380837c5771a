//! Sentences of a paper as tests: two costs and what their ratio must be, or one cost and the load it makes; the same
//! test is put to the paper's own figures and to a run.

use record::Run;

use super::why_missing;
use crate::derived::Route;
use crate::statistics::{Interval, ratio, weighted_sum};

/// A sentence that can be tested.
pub struct Claim {
    /// The sentence, in our words.
    pub claim: &'static str,
    /// What must be so for it to hold.
    pub test: Test,
    /// The paper's costs.
    pub there: Pair,
    /// The same here; the first decides, the others are told beside it.
    pub here: &'static [Pair],
    /// Why these costs are the ones to compare, where that is not plain.
    pub note: &'static str,
}

/// Two costs to compare.
pub struct Pair {
    /// The one the sentence is about.
    pub one: Route,
    /// What it is held against; not looked at for a load.
    pub other: Route,
}

/// What must be so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test {
    /// One is certainly less than so many times the other.
    Below(f64),
    /// One is certainly more than so many times the other.
    Above(f64),
    /// One is between so many times the other and so many.
    Between(f64, f64),
    /// Performed so many times per second, it takes more than this share of a CPU.
    Load {
        /// Times per second.
        per_second: f64,
        /// The share.
        share: f64,
    },
}

/// A tested sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The sentence.
    pub claim: &'static str,
    /// What was tested.
    pub test: Test,
    /// Why these costs are the ones to compare.
    pub note: &'static str,
    /// Whether the paper's own figures bear it out.
    pub there: Compared,
    /// The same here.
    pub here: Vec<Compared>,
}

impl Finding {
    /// Whether the sentence holds here; `None` where a cost is missing or cannot be told from zero.
    pub fn holds(&self) -> Option<bool> {
        self.here.first()?.holds
    }
}

/// One of the costs compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name or formula.
    pub name: String,
    /// In ns, or why it is not known.
    pub figure: Result<Interval, String>,
}

/// A pair of costs under a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The cost the sentence is about.
    pub one: Figure,
    /// What it is held against; `None` for a load.
    pub other: Option<Figure>,
    /// One over the other; for a load the share of a CPU.
    pub value: Option<Interval>,
    /// Of a load: times per second at which the share is reached.
    pub reached_at: Option<f64>,
    /// Whether the test is passed.
    pub holds: Option<bool>,
}

impl Claim {
    /// Puts the test to the paper's costs and to those of a run.
    pub(super) fn test(&self, paper: &Run, run: &Run) -> Finding {
        Finding {
            claim: self.claim,
            test: self.test,
            note: self.note,
            there: self.compare(&self.there, paper),
            here: self.here.iter().map(|pair| self.compare(pair, run)).collect(),
        }
    }

    fn compare(&self, pair: &Pair, run: &Run) -> Compared {
        let figure = |route: &Route| Figure {
            name: if route.name.is_empty() { route.short_formula() } else { route.name.into() },
            figure: route.follow(run).map_err(|missing| why_missing(run, &missing)),
        };
        let one = figure(&pair.one);
        let known = one.figure.as_ref().ok().copied();
        if let Test::Load { per_second, share } = self.test {
            let value = known.map(|known| weighted_sum(&[(per_second / 1e9, known)]));
            let cost = known.map(|known| known.value).filter(|&cost| cost > 0.0);
            let holds = value.map(|value| value.low > share);
            return Compared { one, other: None, value, reached_at: cost.map(|cost| share * 1e9 / cost), holds };
        }
        let other = figure(&pair.other);
        let against = other.figure.as_ref().ok().copied();
        let value = known.zip(against).and_then(|(one, other)| ratio(one, other));
        let band = run.noise.band.as_ref().map_or(0.0, |band| band.difference);
        let holds = value.map(|value| passes(self.test, value, band));
        Compared { one, other: Some(other), value, reached_at: None, holds }
    }
}

/// Whether a ratio passes. A difference must exceed both the interval and what the machine shows against itself.
fn passes(test: Test, ratio: Interval, band: f64) -> bool {
    match test {
        Test::Below(bound) => ratio.high < bound && ratio.value < bound * (1.0 - band),
        Test::Above(bound) => ratio.low > bound && ratio.value > bound * (1.0 + band),
        Test::Between(low, high) => (low..=high).contains(&ratio.value),
        Test::Load { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_must_exceed_the_interval_and_the_band() {
        let ratio = |value: f64, half: f64| Interval { value, low: value - half, high: value + half };
        assert!(passes(Test::Below(1.0), ratio(0.97, 0.01), 0.02));
        assert!(!passes(Test::Below(1.0), ratio(0.97, 0.04), 0.02), "the interval holds 1");
        assert!(!passes(Test::Below(1.0), ratio(0.99, 0.005), 0.02), "within the band");
        assert!(passes(Test::Above(1.5), ratio(1.6, 0.01), 0.02));
        assert!(!passes(Test::Above(1.5), ratio(1.52, 0.01), 0.02));
        assert!(passes(Test::Between(0.8, 1.25), ratio(1.0, 0.5), 0.0));
        assert!(!passes(Test::Between(0.8, 1.25), ratio(50.0, 1.0), 0.0));
    }
}
