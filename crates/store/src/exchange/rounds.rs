//! What each round of a cost holds, for formats that hold repetitions.

use analysis::estimate::{Clocking, quiet_rounds, typical_medians};
use analysis::statistics::weighted_quantile;
use record::{Cost, Estimate};

/// The net cost that each round gives, in ns, in the order taken. They lie around the quoted figure: at the run's clock if the
/// cost follows the clock, with the baseline subtracted. A cost without rounds has its quoted figure alone.
pub(crate) fn round_ns(cost: &Cost) -> Vec<f64> {
    let clocking = if cost.follows_clock { Clocking::At(1.0) } else { Clocking::AsRead };
    let stated = match cost.headline {
        Estimate::Quiet => quiet_rounds(&cost.rounds, clocking),
        Estimate::Typical | Estimate::Best => typical_medians(&cost.rounds, Clocking::AsRead),
    };
    let weighted: Vec<(f64, f64)> = stated.iter().map(|stated| (stated.figure, stated.weight)).collect();
    let gross = cost.gross_ns.get(cost.headline).0;
    let scale = weighted_quantile(&weighted, 0.5).map_or(f64::NAN, |middle| gross / middle);
    let subtracted = gross - cost.quoted().0;
    let net: Vec<f64> =
        weighted.iter().map(|(figure, _)| figure * scale - subtracted).filter(|ns| ns.is_finite()).collect();
    if net.is_empty() && cost.quoted().0.is_finite() { vec![cost.quoted().0] } else { net }
}

/// All iterations behind a cost.
pub(crate) fn iterations(cost: &Cost) -> u64 {
    let of_round = |round: &record::Round| round.times.saturating_mul(round.ns.len() as u64);
    cost.rounds.iter().map(of_round).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_lie_around_the_quoted_figure() {
        let bytes = include_bytes!("../../../record/tests/data/example-run.json");
        let run = record::run_from_bytes(bytes).expect("a run");
        let mut several = 0;
        for cost in &run.costs {
            let rounds = round_ns(cost);
            let (least, most) = rounds.iter().fold((f64::MAX, f64::MIN), |(a, b), ns| (a.min(*ns), b.max(*ns)));
            let room = 1e-9 * cost.quoted().0.abs();
            assert!(least - room <= cost.quoted().0 && cost.quoted().0 <= most + room, "{}: {rounds:?}", cost.name());
            several += usize::from(rounds.len() > 1);
        }
        assert!(several > 0, "no cost of the example has rounds");
    }
}
