//! Modes of a cost: values that are constant within a round and differ between rounds, such as two ways in which a
//! hypervisor wakes a halted CPU. A median over rounds would jump between them. The modes and their shares are steady.

use record::{Estimate, Round, largest_first, smallest_first};

use crate::statistics::{median, quantile, sorted};

/// One of the values of a cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The median over its rounds, in ns.
    pub ns: f64,
    /// Its share of all rounds, 0 to 1.
    pub share: f64,
}

/// Rounds needed to find modes. With fewer, two modes may be chance.
const ENOUGH: usize = 8;
/// Modes lie at least this share of the lower one apart. Rounds of one mode scatter by less.
const APART: f64 = 0.08;
/// The smallest share of all rounds, and the smallest number of rounds, that make a mode.
const LEAST_SHARE: f64 = 0.1;
const LEAST: usize = 2;
/// The smallest share of the rounds that stay in one mode throughout. With less, these are no modes of rounds.
const CONSTANT: f64 = 0.7;

/// The modes of a cost, from the batches behind its headline figure; cheapest first. Empty if it has one mode only, or
/// changes it within rounds. Rounds beside a neighbour are no mode: if the figure is the quiet one, rounds without a
/// quiet batch do not count. `in_cycles` is for work that follows the clock, whose steps would otherwise look like
/// modes.
pub fn modes(rounds: &[Round], headline: Estimate, in_cycles: bool) -> Vec<Mode> {
    let cycle = if in_cycles { median(rounds.iter().flat_map(|round| round.cycle_ns.iter().copied())) } else { None };
    let mut spreads: Vec<(f64, f64, f64)> =
        rounds.iter().filter_map(|round| quartiles(round, headline, cycle)).collect();
    if spreads.len() < ENOUGH {
        return Vec::new();
    }
    smallest_first(&mut spreads, |one| one.1);
    let middles: Vec<f64> = spreads.iter().map(|&(_, middle, _)| middle).collect();
    let least = LEAST.max((LEAST_SHARE * middles.len() as f64).ceil() as usize);
    let cuts = cuts(&middles, least);
    // The middle between two modes. If the middle half of a round crosses it, the round was in both modes.
    let bounds: Vec<f64> = cuts.iter().map(|&cut| (middles[cut - 1] + middles[cut]) / 2.0).collect();
    let stays = |&&(low, _, high): &&(f64, f64, f64)| !bounds.iter().any(|bound| low < *bound && *bound < high);
    let constant = spreads.iter().filter(stays).count() as f64 / spreads.len() as f64;
    if cuts.is_empty() || constant < CONSTANT {
        return Vec::new();
    }
    let edges = [&[0], cuts.as_slice(), &[middles.len()]].concat();
    let mode = |edge: &[usize]| {
        let group = &middles[edge[0]..edge[1]];
        Some(Mode { ns: quantile(group, 0.5)?, share: group.len() as f64 / middles.len() as f64 })
    };
    edges.windows(2).filter_map(mode).collect()
}

/// The quartiles of the batches of a round that count.
fn quartiles(round: &Round, headline: Estimate, cycle: Option<f64>) -> Option<(f64, f64, f64)> {
    let samples = round.ns.iter().zip(&round.cycle_ns).zip(&round.quiet);
    let counting = samples.filter(|(_, quiet)| headline != Estimate::Quiet || **quiet);
    let values = sorted(counting.map(|((ns, own), _)| cycle.map_or(*ns, |cycle| ns / own * cycle)));
    Some((quantile(&values, 0.25)?, quantile(&values, 0.5)?, quantile(&values, 0.75)?))
}

/// The first index of every group of ascending values except the first group. A gap separates groups if it is wide,
/// wider than the middle halves of both sides' values together, and has enough values on either side.
fn cuts(values: &[f64], least: usize) -> Vec<usize> {
    let inner = least..(values.len() + 1).saturating_sub(least);
    let gap = |cut: usize| values[cut] - values[cut - 1];
    let mut by_gap: Vec<usize> = inner.collect();
    largest_first(&mut by_gap, |&one| gap(one));
    let spread = |group: &[f64]| {
        let quarter = |part| quantile(group, part).unwrap_or(0.0);
        quarter(0.75) - quarter(0.25)
    };
    // The widest gap may separate two modes of three, and leave the other two together. So each side is examined
    // separately.
    for cut in by_gap.into_iter().take_while(|&cut| gap(cut) > APART * values[cut - 1]) {
        let (below, above) = values.split_at(cut);
        let (low, high) = (cuts(below, least), cuts(above, least));
        let nearest_below = &below[low.last().copied().unwrap_or(0)..];
        let nearest_above = &above[..high.first().copied().unwrap_or(above.len())];
        if gap(cut) > spread(nearest_below) + spread(nearest_above) {
            let high = high.into_iter().map(|other| cut + other);
            return low.into_iter().chain([cut]).chain(high).collect();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    const QUIET: Estimate = Estimate::Quiet;

    fn round(ns: &[f64], cycle: f64, quiet: bool) -> Round {
        let (cycle_ns, quiet) = (vec![cycle; ns.len()], vec![quiet; ns.len()]);
        Round { cycle_ns, quiet, survey: None, ..example::round(ns) }
    }

    /// Rounds of three batches around these values.
    fn rounds(values: &[f64]) -> Vec<Round> {
        values.iter().map(|value| round(&[value * 0.99, *value, value * 1.02], 0.25, true)).collect()
    }

    fn shown(modes: &[Mode]) -> Vec<(f64, f64)> {
        modes.iter().map(|mode| (mode.ns, (mode.share * 100.0).round())).collect()
    }

    #[test]
    fn modes_with_their_shares() {
        let two = modes(&rounds(&[43.0, 56.0, 44.0, 57.0, 42.0, 56.5, 43.5, 43.0, 58.0, 44.5]), QUIET, false);
        assert_eq!(shown(&two), [(43.25, 60.0), (56.75, 40.0)]);
        let three = [33.0, 43.0, 56.0, 33.5, 43.5, 56.5, 32.5, 42.5, 55.5, 33.2];
        assert_eq!(shown(&modes(&rounds(&three), QUIET, false)), [(33.1, 40.0), (43.0, 30.0), (56.0, 30.0)]);
    }

    #[test]
    fn one_mode_that_scatters_is_none() {
        assert_eq!(modes(&rounds(&[32.2, 32.5, 33.1, 32.8, 32.4, 33.0, 32.6, 32.9, 32.2, 33.1]), QUIET, false), []);
        // Evenly spread from 40 to 60, so no gap is wider than its sides.
        let even: Vec<f64> = (0..11).map(|step| 40.0 + 2.0 * f64::from(step)).collect();
        assert_eq!(modes(&rounds(&even), QUIET, false), []);
        // One round far off is an accident and no mode.
        assert_eq!(modes(&rounds(&[33.0, 33.1, 33.2, 33.3, 33.0, 33.1, 33.2, 33.3, 33.1, 56.0]), QUIET, false), []);
        assert_eq!(modes(&rounds(&[33.0, 56.0, 33.0, 56.0]), QUIET, false), []);
        assert_eq!(modes(&[], QUIET, true), []);
    }

    #[test]
    fn rounds_that_change_within_themselves_have_no_modes() {
        let batches = [[43.0, 43.0, 56.0, 56.0, 43.0], [43.0, 56.0, 56.0, 56.0, 43.0]];
        let [fast, slow] = batches.map(|ns| vec![round(&ns, 0.25, true); 5]);
        assert_eq!(modes(&[fast, slow].concat(), QUIET, false), []);
    }

    #[test]
    fn steps_of_the_clock_are_no_modes() {
        let at = |cycle: f64| round(&[100.0 * cycle; 3], cycle, true);
        let both: Vec<Round> = (0..10).map(|index| at(if index % 2 == 0 { 0.25 } else { 0.30 })).collect();
        assert_eq!(modes(&both, QUIET, true), []);
        assert_eq!(modes(&both, QUIET, false).len(), 2);
    }

    #[test]
    fn busy_batches_do_not_count_where_there_are_quiet_ones() {
        let mut all = rounds(&[43.0, 43.1, 43.2, 43.3, 43.4, 43.5, 43.6, 43.7, 43.8, 43.9]);
        for round in &mut all[..2] {
            round.ns.extend([60.0; 9]);
            round.cycle_ns.extend([0.25; 9]);
            round.quiet.extend([false; 9]);
        }
        assert_eq!(modes(&all, QUIET, false), []);
        // Rounds that a neighbour slowed throughout are no mode either, except for a cost quoted by its typical figure.
        all.extend((0..5).map(|_| round(&[60.0; 3], 0.25, false)));
        assert_eq!(modes(&all, QUIET, false), []);
        assert_eq!(modes(&all, Estimate::Typical, false).len(), 2);
    }
}
