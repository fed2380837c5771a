//! Whether two figures differ: the interval of their ratio, the probability of such a difference by chance, and what the rounds
//! show besides.

use record::{Cost, Origin, Run};

use super::conditions::Conditions;
use super::figure::{ComparedFigure, is_published, rounds_behind};
use super::grounds::Grounds;
use super::options::Joint;
use crate::change::{Difference, greatest_chance};
use crate::statistics::{Interval, ratio, weighted_sum};

#[derive(Clone, Debug, PartialEq)]
pub enum RatioToBase {
    /// This ratio.
    Times(Interval),
    /// At most this ratio: the cost is not distinguishable from zero, its partner is.
    AtMost(f64),
    /// At least this ratio: the cost of the base is not distinguishable from zero.
    AtLeast(f64),
    Unknown(String),
}

/// The verdict on two costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It costs less than in the base, by more than noise.
    Faster,
    /// It costs more than in the base, by more than noise.
    Slower,
    /// Shown to be no further apart than the margin.
    Same,
    /// Neither a change nor shown to be the same: the evidence leaves both open.
    Inconclusive,
    /// There is no verdict.
    Unknown,
}

impl Verdict {
    pub fn is_change(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }

    /// `faster`, `slower`, `same` or `inconclusive`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Inconclusive | Verdict::Unknown => "inconclusive",
        }
    }
}

/// One cost compared with that of the base.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    pub ratio: RatioToBase,
    pub verdict: Verdict,
    /// The probability of such a difference by chance, if both costs were the same; `None` if neither was measured.
    pub chance: Option<f64>,
}

/// Two costs before the verdict.
pub(super) struct CostPair {
    ratio: RatioToBase,
    pub(super) chance: Option<f64>,
    grounds: Grounds,
    published: bool,
}

impl CostPair {
    /// `apart` is by how much clocks that are not known to be alike may err and what the conditions explain, on the log scale.
    pub(super) fn of(
        [base, other]: [ComparedFigure; 2],
        sides: [(&Run, &Cost); 2],
        (apart, conditions): (f64, Conditions),
    ) -> CostPair {
        let [one, two] = sides;
        let published = is_published(one.0, one.1) && is_published(two.0, two.1);
        let (base, other) = (alone(base, one), alone(other, two));
        let mut ratio = times(&base, &other);
        let value = if let RatioToBase::Times(ratio) = &ratio { Some(ratio.value) } else { None };
        let grounds = Grounds::of(sides, value, conditions, 1);
        if grounds == Grounds::SingleRound && !matches!(ratio, RatioToBase::Unknown(_)) {
            ratio = RatioToBase::Unknown("it rests on a single round, which shows no scatter".into());
        }
        let rounds = [one.1, two.1].into_iter().filter(|cost| !cost.rounds.is_empty()).map(rounds_behind).min();
        let chance = if published { None } else { chance(&base, &other, apart, rounds.unwrap_or(usize::MAX)) };
        if let RatioToBase::Times(ratio) = &mut ratio {
            *ratio = ratio.with_error(apart);
        }
        CostPair { ratio, chance, grounds, published }
    }
}

/// A figure with the interval of its own error. The interval of a cost of an older run says where another run would land, so it
/// contains the errors of two runs. Therefore each of two runs contributes its part, by squares.
fn alone(figure: ComparedFigure, (run, cost): (&Run, &Cost)) -> ComparedFigure {
    // The intervals of the oldest runs were those of their own median, and so are those of other tools' results.
    let both = run.origin != Origin::Imported
        && cost.basis.is_none()
        && cost.rounds.iter().any(|round| round.survey.is_some());
    let narrower = |interval: Interval| Interval {
        value: interval.value,
        low: interval.value - (interval.value - interval.low) / std::f64::consts::SQRT_2,
        high: interval.value + (interval.high - interval.value) / std::f64::consts::SQRT_2,
    };
    match figure {
        ComparedFigure::Value(interval) if both => ComparedFigure::Value(narrower(interval)),
        other => other,
    }
}

/// Judges all pairs of two runs together: with more pairs, the limit for chance is stricter.
pub(super) fn judge(pairs: Vec<CostPair>, joint: &Joint) -> Vec<Against> {
    let limit = greatest_chance(joint.judged);
    let judged = pairs.into_iter().map(|pair| {
        let by_chance = pair.chance.is_some_and(|chance| chance > limit);
        let least = if pair.published { 0.0 } else { joint.threshold };
        let verdict = match differs(&pair.ratio, least) {
            Verdict::Unknown => Verdict::Unknown,
            change if change.is_change() && !by_chance && pair.grounds == Grounds::Enough => change,
            _ => equivalent(&pair.ratio, joint.margin),
        };
        Against { ratio: pair.ratio, verdict, chance: pair.chance }
    });
    judged.collect()
}

/// Half of a 90 % interval over half of a 95 % one. Two one-sided tests at 5 % show equivalence (Schuirmann, J. Pharmacokinet.
/// Biopharm. 15:657, 1987).
pub(super) const ONE_SIDED: f64 = 1.645 / 1.96;

/// The verdict on a ratio that is no change: the same if neither side can be further from 1 than the margin.
fn equivalent(ratio: &RatioToBase, margin: f64) -> Verdict {
    let RatioToBase::Times(ratio) = ratio else { return Verdict::Inconclusive };
    let is_near = |end: f64| (ratio.value.ln() + ONE_SIDED * (end / ratio.value).ln()).abs() <= margin.ln_1p();
    if is_near(ratio.low) && is_near(ratio.high) { Verdict::Same } else { Verdict::Inconclusive }
}

/// The verdict by the interval of a ratio alone, and by the smallest difference that counts.
fn differs(ratio: &RatioToBase, least: f64) -> Verdict {
    let counts = |times: f64| times.ln().abs() > least.ln_1p();
    match ratio {
        RatioToBase::Times(ratio) if ratio.low > 1.0 && counts(ratio.value) => Verdict::Slower,
        RatioToBase::Times(ratio) if ratio.high < 1.0 && counts(ratio.value) => Verdict::Faster,
        RatioToBase::Times(_) => Verdict::Inconclusive,
        RatioToBase::AtMost(most) if *most < 1.0 && counts(*most) => Verdict::Faster,
        RatioToBase::AtLeast(least) if *least > 1.0 && counts(*least) => Verdict::Slower,
        // A bound on the other side of 1 leaves both open.
        RatioToBase::AtMost(_) | RatioToBase::AtLeast(_) | RatioToBase::Unknown(_) => Verdict::Unknown,
    }
}

fn times(base: &ComparedFigure, other: &ComparedFigure) -> RatioToBase {
    let finite = |value: f64, bound: fn(f64) -> RatioToBase| match value.is_finite() && value > 0.0 {
        true => bound(value),
        false => RatioToBase::Unknown("the two lie too far apart to divide".into()),
    };
    match (base, other) {
        (ComparedFigure::Unknown(why), _) => RatioToBase::Unknown(format!("in the base {why}")),
        (_, ComparedFigure::Unknown(why)) => RatioToBase::Unknown(why.clone()),
        (ComparedFigure::AtMost(_), ComparedFigure::AtMost(_)) => {
            RatioToBase::Unknown("neither can be told from zero".into())
        }
        (ComparedFigure::Value(base), ComparedFigure::AtMost(other)) => {
            finite(other.high / base.low, RatioToBase::AtMost)
        }
        (ComparedFigure::AtMost(base), ComparedFigure::Value(other)) => {
            finite(other.low / base.high, RatioToBase::AtLeast)
        }
        (ComparedFigure::Value(base), ComparedFigure::Value(other)) => match either_way(*base, *other) {
            Some(ratio) if [ratio.low, ratio.value, ratio.high].into_iter().all(|end| end.is_finite() && end > 0.0) => {
                RatioToBase::Times(ratio)
            }
            _ => RatioToBase::Unknown("the two lie too far apart to divide".into()),
        },
    }
}

/// The ratio with the wider one of two intervals: its own and that of its inverse. An interval wider than its figure
/// has no end that both agree on, and the order of the runs must not matter.
fn either_way(base: Interval, other: Interval) -> Option<Interval> {
    let (straight, inverse) = (ratio(other, base)?, ratio(base, other)?);
    Some(Interval {
        value: straight.value,
        low: straight.low.min(1.0 / inverse.high),
        high: straight.high.max(1.0 / inverse.low),
    })
}

/// The probability that two equal costs differ by this much; `None` if a figure is unknown.
fn chance(base: &ComparedFigure, other: &ComparedFigure, apart: f64, rounds: usize) -> Option<f64> {
    if let (ComparedFigure::Value(base), ComparedFigure::Value(other)) = (base, other) {
        let difference = Difference::of(*base, *other);
        return Some(Difference { reach: difference.reach.hypot(apart), ..difference }.chance(rounds));
    }
    // What holds zero has no logarithm.
    let (base, other) = (base.interval()?, other.interval()?);
    let difference = weighted_sum(&[(1.0, other), (-1.0, base)]);
    let Interval { value, low, high } = difference;
    let reach = if value > 0.0 { value - low } else { high - value };
    Some(Difference { log: value, reach: reach.hypot(apart * base.value.abs().max(other.value.abs())) }.chance(rounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_conditions_may_hide_is_not_the_same() {
        let same = |ratio: Interval, margin: f64| equivalent(&RatioToBase::Times(ratio), margin);
        let ratio = Interval { value: 1.03, low: 1.027, high: 1.033 };
        assert_eq!(same(ratio, 0.05), Verdict::Same);
        assert_eq!(same(ratio.with_error(0.04), 0.05), Verdict::Inconclusive);
        assert_eq!(same(ratio.with_error(0.04), 0.10), Verdict::Same);
        assert_eq!(same(Interval::exactly(0.96).with_error(0.03), 0.05), Verdict::Inconclusive);
    }

    #[test]
    fn an_interval_of_another_tool_is_that_of_its_own_figure() {
        let mut run = crate::example::of_rounds(&[100.0, 101.0, 102.0], true);
        let figure = || ComparedFigure::Value(Interval { value: 10.0, low: 8.0, high: 12.0 });
        let half = |run: &Run| match alone(figure(), (run, &run.costs[0])) {
            ComparedFigure::Value(interval) => interval.high - interval.value,
            _ => panic!("a value"),
        };
        run.costs[0].basis = None;
        run.costs[0].rounds[0].survey = Some(true);
        assert!((half(&run) - std::f64::consts::SQRT_2).abs() < 1e-9);
        run.origin = Origin::Imported;
        assert_eq!(half(&run), 2.0);
    }

    #[test]
    fn the_chance_is_that_of_the_interval() {
        let part = |value: f64, half: f64| Interval { value, low: value - half, high: value + half };
        let at_most = |value: f64, half: f64| ComparedFigure::AtMost(part(value, half));
        // If one interval just reaches the other figure, the difference is significant at 95 %.
        let chance_of = |apart: f64| chance(&at_most(1.0, 3.0), &at_most(1.0 + apart, 4.0), 0.0, 9).expect("figures");
        let by_conditions = chance(&at_most(1.0, 3.0), &at_most(101.0, 4.0), 1.0, 9).expect("figures");
        assert!(chance_of(100.0) < 1e-9 && by_conditions > 0.05, "{by_conditions}");
        assert!((chance_of(5.0) - 0.05).abs() < 1e-3);
        assert!((chance_of(-5.0) - 0.05).abs() < 1e-3);
        assert!(chance_of(20.0) < 0.001 && chance_of(1.0) > 0.5);
        let value = |value: f64, half: f64| ComparedFigure::Value(part(value, half));
        assert_eq!(chance(&value(1.0, 0.0), &value(2.0, 0.0), 0.0, 9), Some(0.0));
        assert_eq!(chance(&value(2.0, 0.0), &value(2.0, 0.0), 0.0, 9), Some(1.0));
        let clocks = chance(&value(1.0, 0.0), &value(1.01, 0.0), 0.01_f64.ln_1p(), 9).expect("figures");
        assert!((clocks - 0.05).abs() < 1e-3, "{clocks}");
        assert_eq!(chance(&value(1.0, 0.1), &ComparedFigure::Unknown("unknown".into()), 0.0, 9), None);
    }
}
