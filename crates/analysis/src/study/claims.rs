//! Sentences of a paper as tests: two costs and a condition on their ratio, or one cost and the load it makes. The same
//! test is applied to the paper's own figures and to a run.

use record::{Band, Doubt, Run};
use serde::Serialize;

use super::missing::followed;
use crate::answer::{Answer, above, below, between};
use crate::derived::Route;
use crate::form::{As, Form, TimeFigure};
use crate::statistics::Interval;
use crate::sums::{join, quotient};

/// A sentence that can be tested.
pub struct Claim {
    /// The sentence, in our own words.
    pub claim: &'static str,
    /// The condition under which it holds.
    pub test: Test,
    /// The paper's costs.
    pub there: Pair,
    /// The same costs here. The first pair decides; the others are shown beside it.
    pub here: &'static [Pair],
    /// The reason for this choice of costs, if it is not obvious.
    pub note: &'static str,
}

/// Two costs to compare.
pub struct Pair {
    /// The cost that the sentence is about.
    pub one: Route,
    /// The cost to compare it with. Not used for a load.
    pub other: Route,
}

/// The condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test {
    /// One is certainly less than this many times the other.
    Below(f64),
    /// One is certainly more than this many times the other.
    Above(f64),
    /// One is certainly between these multiples of the other.
    Between(f64, f64),
    /// At this many times per second, it takes more than this share of a CPU.
    Load { per_second: f64, share: f64 },
}

#[derive(Clone, Debug, PartialEq)]
pub struct TestedClaim {
    /// The sentence.
    pub claim: &'static str,
    pub test: Test,
    /// The reason for this choice of costs.
    pub note: &'static str,
    /// The test on the paper's own figures.
    pub there: Compared,
    /// The test on this machine's figures.
    pub here: Vec<Compared>,
}

impl TestedClaim {
    /// The answer for this machine.
    pub fn answer(&self) -> Answer {
        self.here.first().map_or(Answer::NotMeasured, |here| here.answer)
    }

    /// True if the sentence holds here; `None` if a cost is missing, or there is no evidence either way.
    pub fn holds(&self) -> Option<bool> {
        self.answer().is_yes()
    }
}

/// One of the costs compared.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClaimFigure {
    /// Its name or formula.
    pub name: String,
    /// In ns, or the reason why it is not known.
    #[serde(flatten, with = "As::<FigureOrReason>")]
    pub figure: Result<Interval, String>,
}

/// A cost, or why it is not known, for documents.
#[derive(Serialize, JsonSchema)]
struct FigureOrReason {
    /// The cost.
    figure: Option<TimeFigure>,
    /// Why there is none.
    why_not: Option<String>,
}

impl Form<Result<Interval, String>> for FigureOrReason {
    fn of(figure: &Result<Interval, String>) -> FigureOrReason {
        FigureOrReason { figure: figure.as_ref().ok().map(TimeFigure::from), why_not: figure.as_ref().err().cloned() }
    }
}

/// An answer, for documents.
#[derive(Serialize, JsonSchema)]
struct HoldsAnswer {
    /// Whether the test is passed; null if there is no evidence either way.
    holds: Option<bool>,
    /// The same as a word.
    answer: &'static str,
}

impl Form<Answer> for HoldsAnswer {
    fn of(answer: &Answer) -> HoldsAnswer {
        HoldsAnswer { holds: answer.is_yes(), answer: answer.word() }
    }
}

/// A pair of costs with the result of a test.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    /// The cost the sentence is about.
    pub one: ClaimFigure,
    /// The cost to compare it with; null for a load.
    pub other: Option<ClaimFigure>,
    /// One divided by the other; for a load the share of a CPU.
    pub value: Option<Interval>,
    /// For a load: the number per second at which the share is reached.
    #[serde(rename = "reached_at_per_second")]
    pub reached_at: Option<f64>,
    /// The answer of the test.
    #[serde(flatten, with = "As::<HoldsAnswer>")]
    pub answer: Answer,
    /// The doubts of the costs behind it.
    pub doubts: Vec<Doubt>,
}

impl Compared {
    /// True if the test is passed; `None` if there is no evidence either way.
    pub fn holds(&self) -> Option<bool> {
        self.answer.is_yes()
    }
}

impl Claim {
    /// Applies the test to the paper's costs and to those of a run.
    pub(super) fn test(&self, paper: &Run, run: &Run) -> TestedClaim {
        TestedClaim {
            claim: self.claim,
            test: self.test,
            note: self.note,
            there: self.compare(&self.there, paper),
            here: self.here.iter().map(|pair| self.compare(pair, run)).collect(),
        }
    }

    fn compare(&self, pair: &Pair, run: &Run) -> Compared {
        let figure = |route: &Route| ClaimFigure {
            name: if route.name.is_empty() { route.short_formula() } else { route.name.into() },
            figure: match route.parts().next() {
                None => Err("the paper prints no figure".into()),
                Some(_) => followed(route, run),
            },
        };
        let one = figure(&pair.one);
        let known = one.figure.as_ref().ok().copied();
        let mut doubts = pair.one.doubts(run);
        if let Test::Load { per_second, share } = self.test {
            let value = known.map(|known| known.times(per_second / 1e9));
            let cost = known.map(|known| known.value).filter(|&cost| cost > 0.0);
            let reached_at = cost.map(|cost| share * 1e9 / cost);
            let answer = value.map_or(Answer::NotMeasured, |value| self.test.answer(&value, 0.0));
            return Compared { one, other: None, value, reached_at, answer, doubts };
        }
        let other = figure(&pair.other);
        let against = other.figure.as_ref().ok().copied();
        join(&mut doubts, pair.other.doubts(run));
        let both = known.zip(against);
        let value = both.and_then(|(one, other)| quotient(one, other).or_else(|| bounded(one, other)));
        let band = run.noise.band.as_ref().map_or(0.0, Band::least);
        let answer = match (both, value) {
            (None, _) => Answer::NotMeasured,
            (_, None) => Answer::Inconclusive,
            (_, Some(value)) => self.test.answer(&value, band),
        };
        Compared { one, other: Some(other), value, reached_at: None, answer, doubts }
    }
}

/// The ratio of a cost that is not distinguishable from zero to one that is: at most its upper end divided by the
/// other's lower one, which is also evidence. `None` if the other is not distinguishable from zero either.
fn bounded(one: Interval, other: Interval) -> Option<Interval> {
    let known = one.is_at_most() && other.is_bounded() && other.low > 0.0;
    known.then(|| Interval { value: one.value / other.value, low: one.low / other.low, high: one.high / other.low })
}

impl Test {
    /// The answer that a ratio gives. A difference must exceed both the interval and the machine's A/A band.
    fn answer(self, ratio: &Interval, band: f64) -> Answer {
        match self {
            Test::Below(bound) => below(ratio, bound, band),
            Test::Above(bound) => above(ratio, bound, band),
            Test::Between(low, high) => between(ratio, (low, high), band),
            Test::Load { share, .. } => above(ratio, share, band),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived::cost;
    use crate::example;

    const CLAIM: Claim = Claim {
        claim: "a costs about as much as b",
        test: Test::Between(0.8, 1.25),
        there: PAIR,
        here: &[PAIR],
        note: "",
    };
    const PAIR: Pair = Pair { one: Route::of(&[cost("a")]), other: Route::of(&[cost("b")]) };
    const BELOW: Claim = Claim { test: Test::Below(1.0), ..CLAIM };
    const LOAD: Claim = Claim { test: Test::Load { per_second: 1000.0, share: 0.01 }, ..CLAIM };

    fn run(a: (f64, f64), b: (f64, f64)) -> Run {
        example::with_costs([example::cost("a", a.0, a.1), example::cost("b", b.0, b.1)])
    }

    #[test]
    fn a_claim_whose_interval_holds_its_bound_is_neither_yes_nor_no() {
        let answer = |claim: &Claim, a, b| claim.test(&run(a, b), &run(a, b)).answer();
        assert_eq!(answer(&BELOW, (98.0, 10.0), (100.0, 1.0)), Answer::Inconclusive);
        assert_eq!(answer(&BELOW, (90.0, 1.0), (100.0, 1.0)), Answer::Yes);
        assert_eq!(answer(&BELOW, (110.0, 1.0), (100.0, 1.0)), Answer::No);
        assert_eq!(answer(&CLAIM, (100.0, 60.0), (100.0, 1.0)), Answer::Inconclusive);
        assert_eq!(answer(&CLAIM, (100.0, 6.0), (100.0, 1.0)), Answer::Yes);
        assert_eq!(answer(&CLAIM, (1.0, 6.0), (100.0, 1.0)), Answer::No, "at most 7 of 99");
        assert_eq!(answer(&BELOW, (1.0, 6.0), (100.0, 1.0)), Answer::Yes);
        assert_eq!(answer(&BELOW, (1.0, 600.0), (100.0, 1.0)), Answer::Inconclusive, "at most six times");
        assert_eq!(answer(&BELOW, (1.0, 6.0), (1.0, 6.0)), Answer::Inconclusive, "neither is distinguished from zero");
        assert_eq!(answer(&LOAD, (10_000.0, 100.0), (1.0, 1.0)), Answer::Inconclusive);
        assert_eq!(answer(&LOAD, (20_000.0, 100.0), (1.0, 1.0)), Answer::Yes);
        assert_eq!(answer(&LOAD, (2_000.0, 100.0), (1.0, 1.0)), Answer::No);
    }

    #[test]
    fn one_round_answers_nothing_and_its_doubt_is_reported() {
        let mut one = run((50.0, f64::INFINITY), (100.0, 1.0));
        one.costs[0].doubts = vec![Doubt::FewRounds { rounds: 1 }];
        for claim in [&BELOW, &CLAIM, &LOAD] {
            let here = &claim.test(&one, &one).here[0];
            assert_eq!((here.answer, here.holds()), (Answer::Inconclusive, None));
            assert_eq!(here.doubts.len(), 1);
            assert!(here.value.is_some_and(|value| value.value.is_finite() && !value.low.is_nan()));
        }
        one.costs.remove(0);
        assert_eq!(BELOW.test(&one, &one).answer(), Answer::NotMeasured);
    }
}
