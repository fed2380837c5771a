//! What earlier runs of the same build on the same machine add to a run's intervals: scatter between runs that its own
//! rounds do not show. It never changes a figure.

use record::{Cost, Nanoseconds};

use crate::landing::around;
use crate::statistics::student_quantile;

/// With fewer earlier runs than this, their scatter is unknown.
pub const ENOUGH_RUNS: usize = 3;
/// Runs must scatter by this factor more than their rounds explain. With a handful of runs, a smaller factor is chance.
const BEYOND_CHANCE: f64 = 1.5;

/// The figure by which runs of one machine are compared: in cycles if the cost follows the clock, else in ns. `None` if
/// it is unknown.
pub fn figure(cost: &Cost) -> Option<f64> {
    let figure = if cost.follows_clock { cost.cycles } else { cost.quoted().0 };
    (cost.has_interval() && !cost.holds_zero() && figure.is_finite() && figure > 0.0).then_some(figure)
}

/// Widens a cost's interval if earlier runs, in the order taken, scattered by more than its own rounds explain. Returns whether
/// it did.
///
/// The scatter between runs contains the variance of the rounds. The rest, `s_r^2 = s^2 - (reach / (t sqrt(2)))^2` on
/// the log scale, is added to the reach by squares as `t s_r sqrt(2)`, with t for the number of runs.
pub fn widen(cost: &mut Cost, earlier: &[f64]) -> bool {
    let quoted = cost.quoted().0;
    let Some(own) = figure(cost).filter(|_| earlier.len() >= ENOUGH_RUNS && quoted > 0.0) else { return false };
    let logs: Vec<f64> =
        earlier.iter().filter(|figure| **figure > 0.0).chain([&own]).map(|figure| figure.ln()).collect();
    let freedom = logs.len() - 1;
    let between = scatter(&logs);
    let reach = (cost.net_ns.high.0 / quoted).ln();
    // The reach of a run of about ten rounds. The t for that number is between 2.0 and 2.6.
    const T_OF_ROUNDS: f64 = 2.2;
    let within = reach / (T_OF_ROUNDS * std::f64::consts::SQRT_2);
    if between <= BEYOND_CHANCE * within {
        return false;
    }
    let more = (between * between - within * within).sqrt();
    let t = student_quantile(0.975, freedom as u32);
    let wide = around(quoted, reach.hypot(t * more * std::f64::consts::SQRT_2));
    (cost.net_ns.low, cost.net_ns.high) = (Nanoseconds(wide.low), Nanoseconds(wide.high));
    true
}

/// The standard deviation of values in the order taken, from their successive differences (von Neumann, Annals of
/// Mathematical Statistics 12:367, 1941) without the largest one: a machine that was changed between two runs, by a kernel or a
/// setting, scatters no more than before, and a drift over months is no scatter either.
pub(crate) fn scatter(values: &[f64]) -> f64 {
    let squares: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).collect();
    let count = squares.len() as f64;
    if squares.len() < 2 {
        return 0.0;
    }
    let kept = squares.iter().sum::<f64>() - squares.iter().copied().fold(0.0, f64::max);
    // What the largest of so many squares takes away of normal scatter, fitted to a simulation within 5 %.
    let left_out = 1.0 + (1.75 + count.ln()) / count;
    (kept / (2.0 * (count - 1.0)) * left_out).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(cycles: f64, half: f64) -> Cost {
        let run = record::run_from_bytes(include_bytes!("../../record/tests/data/example-run.json")).expect("a run");
        let mut cost = run.cost("syscall.getppid", &[]).expect("a cost").clone();
        let ns = cycles / 4.0;
        (cost.follows_clock, cost.cycles, cost.net_ns.quiet) = (true, cycles, Nanoseconds(ns));
        (cost.net_ns.low, cost.net_ns.high) = (Nanoseconds(ns * (1.0 - half)), Nanoseconds(ns * (1.0 + half)));
        cost
    }

    #[test]
    fn scatter_between_runs_that_rounds_do_not_show_widens_the_interval() {
        let mut wide = cost(100.0, 0.005);
        let figure = wide.quoted();
        assert!(widen(&mut wide, &[95.0, 104.0, 99.0, 105.0]));
        assert_eq!(wide.quoted(), figure, "a figure is never changed");
        assert!(wide.half_width().expect("an interval") > 0.05, "{:?}", wide.net_ns);
    }

    #[test]
    fn the_scatter_of_normal_runs_is_their_standard_deviation() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut normal = || {
            let (one, two) = (random.f64().max(1e-300), random.f64());
            (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos()
        };
        for runs in [4, 6, 11, 30] {
            const TRIES: u32 = 20_000;
            let squares = (0..TRIES).map(|_| scatter(&(0..runs).map(|_| normal()).collect::<Vec<_>>()).powi(2));
            let variance = squares.sum::<f64>() / f64::from(TRIES);
            assert!((0.9..=1.1).contains(&variance), "{runs}: {variance}");
        }
    }

    #[test]
    fn a_change_of_the_machine_is_no_scatter() {
        // A setting was changed: before and after it, runs agree within 0.1 %.
        let mut after = cost(106.0, 0.006);
        let before = after.clone();
        assert!(!widen(&mut after, &[100.0, 100.1, 99.9, 100.05]), "the first run after it");
        assert!(!widen(&mut after, &[100.0, 100.1, 99.9, 105.9, 106.1]), "a later run");
        assert_eq!(after, before);
        assert!(widen(&mut after, &[100.0, 106.0, 100.0, 106.0, 100.0]), "a setting that changes all the time");
    }

    #[test]
    fn runs_that_agree_and_too_few_runs_change_nothing() {
        let before = cost(100.0, 0.01);
        for earlier in [&[100.1, 99.9, 100.2, 100.0][..], &[90.0, 110.0], &[]] {
            let mut after = before.clone();
            assert!(!widen(&mut after, earlier), "{earlier:?}");
            assert_eq!(after, before);
        }
    }

    #[test]
    fn a_cost_without_an_interval_or_not_told_from_zero_stays() {
        let mut open = cost(100.0, 0.01);
        (open.net_ns.low, open.net_ns.high) = (Nanoseconds(f64::NEG_INFINITY), Nanoseconds(f64::INFINITY));
        assert!(!widen(&mut open, &[90.0, 110.0, 100.0]));
        let mut zero = cost(100.0, 1.5);
        assert!(!widen(&mut zero, &[90.0, 110.0, 100.0]));
    }
}
