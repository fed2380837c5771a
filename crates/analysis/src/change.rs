//! When two figures of one cost differ: the rule that compare, its gate and watch share. Nodes of a fleet are judged beside others of
//! their class ([`crate::fleet`]), with the same share of alarms and the same least difference.

use crate::statistics::{Interval, student_95, student_quantile, student_tail};

/// The share of comparisons that may report a change although there was none, over all their costs together.
pub const ALARMS: f64 = 0.05;
/// A difference of this share or less is never a change: clocks and layouts resolve no less.
pub const LEAST: f64 = 0.01;
/// Figures err further than by the normal distribution, as by Student's t with this many degrees of freedom: with the normal one, one
/// pair of equal runs in seven had a change. Its two-sided 95 % point.
pub(crate) const FREEDOM: u32 = 20;
const AT_REACH: f64 = 2.086;

/// With fewer rounds than this, figures err further than that.
pub const FEW_ROUNDS: usize = 6;

/// The degrees of freedom of figures of so many rounds. With those of many, of pairs of equal runs 33 % had a change if their costs had
/// two rounds, and 16 % with three.
fn freedom(rounds: usize) -> u32 {
    match rounds {
        0..=2 => 3,
        3 => 4,
        4..FEW_ROUNDS => 10,
        _ => FREEDOM,
    }
}

/// How far apart two figures are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The logarithm of the second over the first.
    pub log: f64,
    /// Half of the 95 % interval of that, on the side of 0.
    pub reach: f64,
}

impl Difference {
    /// That of two independent positive figures.
    pub fn of(base: Interval, other: Interval) -> Difference {
        let log = (other.value / base.value).ln();
        let down = |interval: Interval| (interval.value / interval.low).ln();
        let up = |interval: Interval| (interval.high / interval.value).ln();
        let reach = if log > 0.0 { down(other).hypot(up(base)) } else { up(other).hypot(down(base)) };
        Difference { log, reach }
    }

    /// The probability of such a difference by chance, if the fewer of both have so many rounds.
    pub fn chance(self, rounds: usize) -> f64 {
        if self.log == 0.0 || !self.log.is_finite() {
            return 1.0;
        }
        /// The tail is the difference of two numbers near 1.
        const RESOLVED: f64 = 1e-12;
        // A reach of zero makes the t infinite and the probability zero.
        let freedom = freedom(rounds);
        let at_reach = student_95(freedom);
        let chance = 2.0 * student_tail(self.log.abs() / self.reach * at_reach, freedom);
        if chance < RESOLVED { 0.0 } else { chance }
    }
}

/// The greatest probability by chance at which a difference counts if this many are judged together (Bonferroni).
pub fn greatest_chance(judged: usize) -> f64 {
    ALARMS / judged.max(1) as f64
}

/// The standard deviations that a difference must exceed if this many are judged together, and if the deviation is known with this
/// many degrees of freedom.
pub fn deviations(judged: usize, freedom: u32) -> f64 {
    student_quantile(1.0 - greatest_chance(judged) / 2.0, freedom)
}

/// How many times its reach a difference must exceed if this many are judged together: 1.95 times for 80.
pub fn reaches(judged: usize) -> f64 {
    deviations(judged, FREEDOM) / AT_REACH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_are_judged_the_further_a_difference_must_reach() {
        assert!((reaches(1) - 1.0).abs() < 0.01 && (reaches(80) - 1.95).abs() < 0.01, "{}", reaches(80));
        assert!(deviations(80, 4) > 1.5 * deviations(80, FREEDOM), "few degrees of freedom know less");
        assert_eq!(greatest_chance(0), ALARMS);
        let twice = |rounds| Difference { log: 2.0, reach: 1.0 }.chance(rounds);
        let chances = [2, 3, 4, 6].map(twice);
        assert!(chances.is_sorted_by(|more, less| *more > 1.4 * less) && twice(60) == chances[3], "{chances:?}");
    }

    #[test]
    fn a_difference_counts_the_sides_that_face_each_other() {
        let base = Interval { value: 100.0, low: 50.0, high: 101.0 };
        let other = Interval { value: 110.0, low: 109.0, high: 300.0 };
        let apart = Difference::of(base, other);
        assert!(apart.log > 5.0 * apart.reach && apart.chance(9) < 1e-9, "{apart:?}");
        let back = Difference::of(other, base);
        assert!((back.log + apart.log).abs() < 1e-12 && (back.reach - apart.reach).abs() < 1e-12, "{back:?}");
        let wide = Interval { low: 90.0, ..other };
        assert!(Difference::of(base, wide).chance(9) > 0.05);
        assert_eq!(Difference::of(base, base).chance(9), 1.0);
    }
}
