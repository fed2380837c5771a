//! Whether two figures differ: the interval of their ratio, the probability of such a difference by chance, and the
//! noise of the machine.

use record::Cost;

use super::figure::{ComparedFigure, is_published, rounds_behind};
use super::noise::Joint;
use crate::statistics::{Interval, ratio, student_quantile, student_tail, weighted_sum};

/// The share of the reported changes that may be false (Benjamini and Hochberg, J. R. Statist. Soc. B 57:289, 1995).
const FALSE_SHARE: f64 = 0.05;

/// The ratio of a cost to that of the base.
#[derive(Clone, Debug, PartialEq)]
pub enum RatioToBase {
    /// This ratio.
    Times(Interval),
    /// At most this ratio: the cost is not distinguishable from zero, its partner is.
    AtMost(f64),
    /// At least this ratio: the cost of the base is not distinguishable from zero.
    AtLeast(f64),
    /// Unknown, for this reason.
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
    /// True for a change.
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
    /// The ratio.
    pub ratio: RatioToBase,
    /// The verdict.
    pub verdict: Verdict,
    /// The probability of such a difference by chance, if both costs were the same; `None` if neither was measured.
    pub chance: Option<f64>,
}

/// Two costs before the verdict.
pub(super) struct CostPair {
    ratio: RatioToBase,
    chance: Option<f64>,
    costs: [FigureOrigin; 2],
}

/// What the verdict needs to know about the origin of a figure.
#[derive(Clone, Copy)]
struct FigureOrigin {
    published: bool,
    elsewhere: bool,
}

impl CostPair {
    pub(super) fn of(base: ComparedFigure, other: ComparedFigure, one: &Cost, two: &Cost) -> CostPair {
        let measured = |cost: &Cost| FigureOrigin {
            published: is_published(cost),
            elsewhere: super::noise::needs_more_than_its_core(cost),
        };
        let rounds = [one, two].into_iter().filter(|cost| !is_published(cost)).map(rounds_behind).min();
        let (base, other) = (alone(base, one), alone(other, two));
        let mut told = times(&base, &other);
        // One round shows no scatter. Its interval is a point that excludes everything.
        if rounds.is_some_and(|rounds| rounds < 2) && !matches!(told, RatioToBase::Unknown(_)) {
            told = RatioToBase::Unknown("it rests on a single round, which shows no scatter".into());
        }
        let chance = rounds.and_then(|rounds| chance(base.interval()?, other.interval()?, rounds));
        CostPair { ratio: told, chance, costs: [measured(one), measured(two)] }
    }
}

/// A figure with the interval of its own error. The interval of a cost of an older run says where another run would land, so it
/// contains the errors of two runs. Therefore each of two runs contributes its part, by squares.
fn alone(figure: ComparedFigure, cost: &Cost) -> ComparedFigure {
    // The intervals of the oldest runs were those of their own median.
    let both = cost.basis.is_none() && cost.rounds.iter().any(|round| round.survey.is_some());
    let narrower = |it: Interval| Interval {
        value: it.value,
        low: it.value - (it.value - it.low) / std::f64::consts::SQRT_2,
        high: it.value + (it.high - it.value) / std::f64::consts::SQRT_2,
    };
    match figure {
        ComparedFigure::Value(it) if both => ComparedFigure::Value(narrower(it)),
        other => other,
    }
}

/// Judges all pairs of two runs together: with more pairs, the limit for chance is stricter.
pub(super) fn judge(pairs: &[CostPair], joint: &Joint) -> Vec<Against> {
    let limit = benjamini_hochberg(pairs.iter().filter_map(|pair| pair.chance).collect());
    let judged = pairs.iter().map(|pair| {
        let by_chance = pair.chance.is_some_and(|chance| chance > limit);
        let verdict = match differs(&pair.ratio, joint.least_for(&pair.costs)) {
            Verdict::Unknown => Verdict::Unknown,
            change if change.is_change() && !by_chance => change,
            _ => equivalent(&pair.ratio, joint.margin),
        };
        Against { ratio: pair.ratio.clone(), verdict, chance: pair.chance }
    });
    judged.collect()
}

impl Joint {
    fn least_for(&self, costs: &[FigureOrigin; 2]) -> f64 {
        if costs.iter().all(|cost| cost.published) {
            0.0
        } else if costs.iter().any(|cost| cost.elsewhere) {
            self.least().max(super::noise::ELSEWHERE)
        } else {
            self.least()
        }
    }
}

/// The verdict on a ratio that is no change: the same if its whole interval lies within the margin.
fn equivalent(ratio: &RatioToBase, margin: f64) -> Verdict {
    match ratio {
        RatioToBase::Times(it) if it.high.ln() <= margin.ln_1p() && it.low.ln() >= -margin.ln_1p() => Verdict::Same,
        _ => Verdict::Inconclusive,
    }
}

/// The verdict by the interval of a ratio alone, and by the smallest difference that counts.
fn differs(ratio: &RatioToBase, least: f64) -> Verdict {
    let counts = |times: f64| times.ln().abs() > least.ln_1p();
    match ratio {
        RatioToBase::Times(it) if it.low > 1.0 && counts(it.value) => Verdict::Slower,
        RatioToBase::Times(it) if it.high < 1.0 && counts(it.value) => Verdict::Faster,
        RatioToBase::Times(_) => Verdict::Inconclusive,
        RatioToBase::AtMost(most) if *most < 1.0 && counts(*most) => Verdict::Faster,
        RatioToBase::AtLeast(least) if *least > 1.0 && counts(*least) => Verdict::Slower,
        // A bound on the other side of 1 leaves both open.
        RatioToBase::AtMost(_) | RatioToBase::AtLeast(_) | RatioToBase::Unknown(_) => Verdict::Unknown,
    }
}

fn times(base: &ComparedFigure, other: &ComparedFigure) -> RatioToBase {
    let finite = |value: f64, told: fn(f64) -> RatioToBase| match value.is_finite() && value > 0.0 {
        true => told(value),
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
            Some(it) if [it.low, it.value, it.high].into_iter().all(|end| end.is_finite() && end > 0.0) => {
                RatioToBase::Times(it)
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

/// The probability that two equal costs differ by this much: Student's t of the difference over the scatter that its
/// interval shows, with one degree of freedom less than the smaller number of rounds. The interval of the ratio
/// excludes 1 exactly if that of the difference excludes 0.
fn chance(base: Interval, other: Interval, rounds: usize) -> Option<f64> {
    /// Beyond this, Student's t is the normal distribution to four digits, and its series only costs time.
    const MOST: usize = 1000;
    let freedom = u32::try_from(rounds.checked_sub(1)?.min(MOST)).ok().filter(|&freedom| freedom > 0)?;
    let apart = weighted_sum(&[(1.0, other), (-1.0, base)]);
    let reach = if apart.value > 0.0 { apart.value - apart.low } else { apart.high - apart.value };
    if apart.value == 0.0 || !apart.value.is_finite() {
        return Some(1.0);
    }
    // A reach of zero makes the t infinite and the probability zero.
    let t = apart.value.abs() / reach * student_quantile(0.975, freedom);
    Some(2.0 * student_tail(t, freedom))
}

/// The largest probability at which a difference still counts, given all the differences that were tested.
fn benjamini_hochberg(mut chances: Vec<f64>) -> f64 {
    chances.sort_by(f64::total_cmp);
    let share = |place: usize| FALSE_SHARE * (place + 1) as f64 / chances.len() as f64;
    let passing = chances.iter().enumerate().rev().find(|(place, chance)| **chance <= share(*place));
    passing.map_or(0.0, |(_, chance)| *chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_false_share_is_that_of_the_published_example() {
        // The example of Benjamini and Hochberg: of 15 probabilities the four smallest count.
        let chances = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        assert_eq!(benjamini_hochberg(chances.to_vec()), 0.0095);
        assert_eq!(benjamini_hochberg(vec![0.2, 0.9]), 0.0);
        assert_eq!(benjamini_hochberg(Vec::new()), 0.0);
    }

    #[test]
    fn the_chance_is_that_of_the_interval() {
        let part = |value: f64, half: f64| Interval { value, low: value - half, high: value + half };
        // Six rounds: if one interval just reaches the other figure, the difference is significant at 95 %.
        let chance_of = |apart: f64| chance(part(10.0, 3.0), part(10.0 + apart, 4.0), 6).expect("rounds enough");
        assert!((chance_of(5.0) - 0.05).abs() < 1e-9);
        assert!((chance_of(-5.0) - 0.05).abs() < 1e-9);
        assert!(chance_of(20.0) < 0.001 && chance_of(1.0) > 0.5);
        assert_eq!(chance(part(1.0, 0.0), part(2.0, 0.0), 6), Some(0.0));
        assert_eq!(chance(part(2.0, 0.0), part(2.0, 0.0), 6), Some(1.0));
        assert_eq!(chance(part(1.0, 0.1), part(2.0, 0.1), 1), None);
    }
}
