//! What a longer run would bring: the interval of a cost that had more rounds like those it has.

use record::{Cost, Round, Run};

use crate::estimate::{gross, interval};
use crate::prior::Prior;
use crate::reading::Reading;
use crate::statistics::student_quantile;

/// How many times as long a run is considered.
pub const TIMES: [u32; 3] = [2, 4, 8];

/// By which part the interval of a cost of this run would be narrower, for each of [`TIMES`]. `None` if the cost has no rounds or no
/// interval.
pub fn shrunk(run: &Run, cost: &Cost) -> Option<[f64; TIMES.len()]> {
    let half = |rounds: &[Round]| {
        let estimated = gross(rounds, Reading::of(cost, run.noise.cycle_ns), &Prior::of(cost))?;
        let interval = interval(&estimated.figures, cost.headline);
        Some((interval.high / interval.low).ln() / 2.0).filter(|half| half.is_finite() && *half > 0.0)
    };
    let now = half(&cost.rounds)?;
    let mut parts = [1.0; TIMES.len()];
    for (part, times) in parts.iter_mut().zip(TIMES) {
        *part = (half(&more_rounds(cost, times))? / now).min(1.0);
    }
    Some(parts)
}

/// The rounds of a cost so many times. Copies differ by the usual scatter: equal ones would show none.
fn more_rounds(cost: &Cost, times: u32) -> Vec<Round> {
    let scatter = Prior::of(cost).scatter;
    let copies = (0..times).flat_map(|copy| {
        let share = (f64::from(copy) + 0.5) / f64::from(times);
        let off = student_quantile(share.max(1.0 - share), 1000).copysign(share - 0.5);
        let by = (scatter * off).exp();
        cost.rounds.iter().map(move |round| Round { ns: round.ns.iter().map(|ns| ns * by).collect(), ..round.clone() })
    });
    copies.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn more_rounds_narrow_an_interval_and_never_widen_it() {
        let run = example::run();
        let mut known = 0;
        for cost in run.costs.iter().filter(|cost| cost.rounds.len() > 1) {
            let Some([two, four, eight]) = shrunk(&run, cost) else { continue };
            assert!(two <= 1.0 && four <= two * 1.1 && eight <= four * 1.1, "{} {two} {four} {eight}", cost.name());
            known += usize::from(eight < 0.7);
        }
        assert!(known > 3, "{known}");
        let mut single = run.costs[0].clone();
        single.rounds.clear();
        assert_eq!(shrunk(&run, &single), None);
    }
}
