//! The memory cliff: throughput and response as memory shrinks, and where they break off.

use serde::Serialize;

use super::configuration::Configuration;
use super::figures::row;
use super::measured::Measured;
use super::response::Response;
use crate::by_key;

/// The work still gets this share of its best throughput above the cliff.
const HOLDS: f64 = 0.9;

/// Configurations that differ in their memory alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Cliff {
    /// What they have in common; its memory and repetition mean nothing.
    pub common: Configuration,
    /// By memory, the largest first.
    pub points: Vec<CliffPoint>,
    /// Where it breaks off; `None` if it nowhere does.
    pub knee: Option<Knee>,
}

/// One amount of memory; repetitions are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CliffPoint {
    /// In bytes; infinite, in documents null, for all there is.
    #[schemars(with = "Option<f64>")]
    pub memory: f64,
    /// Interactions per second.
    pub throughput: f64,
    /// Mean response in seconds; null if none did its work, or many take longer than was measured.
    pub response_s: Option<f64>,
    /// What it is at least in that case.
    pub response_at_least_s: Option<f64>,
    /// Pages per second read back from swap.
    pub swapped_in_per_s: f64,
    /// Pages of files per second that had to be read again.
    pub refaulted_per_s: f64,
    /// Interactions that failed, were killed or hung, as a share.
    pub failed: f64,
    /// Processes that the kernel killed for lack of memory, per interaction.
    pub killed_for_memory: f64,
}

/// Between which amounts of memory the work breaks off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// The least memory with nine tenths of the best throughput.
    pub holds: CliffPoint,
    /// The next smaller one.
    pub falls: CliffPoint,
}

impl Cliff {
    /// True if the work gets nine tenths of its best throughput with every amount of memory.
    pub fn holds_throughout(&self) -> bool {
        let best = best(&self.points);
        self.points.iter().all(|point| point.throughput >= HOLDS * best)
    }
}

impl Knee {
    /// What the memory is missing for, in words.
    pub fn cause(&self) -> &'static str {
        let (swap, files) = (self.falls.swapped_in_per_s, self.falls.refaulted_per_s);
        match () {
            () if self.falls.killed_for_memory > 0.1 => {
                "the kernel kills processes because the group has no memory left"
            }
            () if swap + files < 1.0 => "no page comes back from a device, so memory is not what is missing",
            () if swap >= 4.0 * files => "pages of the programs' own come back from swap",
            () if files >= 4.0 * swap => {
                "pages of files leave the page cache and are read again; swapping is not the cause"
            }
            () => "both pages from swap and pages of files come back",
        }
    }
}

/// The cliffs of an experiment: one for each set of configurations that differ in memory alone, where there are at least two.
pub fn cliffs(measured: &[Measured]) -> Vec<Cliff> {
    let common = |configuration: &Configuration| Configuration { memory: None, repetition: 0, ..configuration.clone() };
    let cliff = |(common, same): (Configuration, Vec<&Measured>)| {
        let mut sizes = by_key(same.into_iter().map(|measured| (measured.configuration.memory, measured)));
        sizes.sort_by_key(|(memory, _)| std::cmp::Reverse(memory.unwrap_or(u64::MAX)));
        let points: Vec<CliffPoint> = sizes.iter().map(|(memory, repetitions)| point(*memory, repetitions)).collect();
        Cliff { common, knee: knee(&points), points }
    };
    let kinds = by_key(measured.iter().map(|one| (common(&one.configuration), one))).into_iter();
    kinds.map(cliff).filter(|cliff| cliff.points.len() >= 2).collect()
}

fn point(memory: Option<u64>, repetitions: &[&Measured]) -> CliffPoint {
    let rows: Vec<_> = repetitions.iter().map(|measured| row(measured)).collect();
    let elapsed: f64 = rows.iter().map(|row| row.elapsed_s).sum::<f64>().max(f64::MIN_POSITIVE);
    let sum = |of: &dyn Fn(&Measured) -> f64| repetitions.iter().map(|measured| of(measured)).sum::<f64>();
    let count: usize = rows.iter().map(|row| row.response.count).sum();
    let failed: usize = rows.iter().map(|row| row.response.failed).sum();
    let done = (count - failed) as f64;
    let (response_s, response_at_least_s) = mean_response(&rows.iter().map(|row| &row.response).collect::<Vec<_>>());
    CliffPoint {
        memory: memory.map_or(f64::INFINITY, |bytes| bytes as f64),
        throughput: done / elapsed,
        response_s,
        response_at_least_s,
        swapped_in_per_s: sum(&|measured| measured.paging.pages_in) / elapsed,
        refaulted_per_s: sum(&|measured| measured.paging.file_refaults) / elapsed,
        failed: failed as f64 / count.max(1) as f64,
        killed_for_memory: sum(&|measured| measured.killed_for_memory as f64) / count.max(1) as f64,
    }
}

/// The mean response of repetitions together, in seconds, or else what it is at least.
fn mean_response(all: &[&Response]) -> (Option<f64>, Option<f64>) {
    // Each bound is the mean over those overdue as well.
    let one = |response: &Response| {
        let done = response.count - response.failed;
        match response.mean_at_least_s {
            Some(bound_s) => Some((bound_s, done + response.overdue)),
            None => response.mean.map(|mean| (mean.value, done)),
        }
    };
    let means: Vec<(f64, usize)> = all.iter().filter_map(|response| one(response)).collect();
    let count: usize = means.iter().map(|mean| mean.1).sum();
    let sum = means.iter().map(|(mean_s, count)| mean_s * *count as f64).sum::<f64>();
    let mean_s = (count > 0).then(|| sum / count as f64);
    let is_bound = all.iter().any(|response| response.mean_at_least_s.is_some());
    if is_bound { (None, mean_s) } else { (mean_s, None) }
}

fn best(points: &[CliffPoint]) -> f64 {
    points.iter().map(|point| point.throughput).fold(0.0, f64::max)
}

/// Where the throughput falls below its share of the best for good.
fn knee(points: &[CliffPoint]) -> Option<Knee> {
    let best = best(points);
    let last = points.iter().rposition(|point| point.throughput >= HOLDS * best)?;
    Some(Knee { holds: points[last], falls: *points.get(last + 1)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(memory: f64, throughput: f64) -> CliffPoint {
        CliffPoint {
            memory,
            throughput,
            response_s: Some(1.0 / throughput),
            response_at_least_s: None,
            swapped_in_per_s: 100.0 / throughput,
            refaulted_per_s: 1.0,
            failed: 0.0,
            killed_for_memory: 0.0,
        }
    }

    #[test]
    fn the_knee_is_where_throughput_breaks_off_for_good() {
        let points = [at(64.0, 10.0), at(48.0, 8.9), at(32.0, 9.8), at(24.0, 4.0), at(16.0, 1.0)];
        let knee = knee(&points).expect("a cliff");
        assert_eq!((knee.holds.memory, knee.falls.memory), (32.0, 24.0));
        assert!(knee.cause().contains("from swap"), "{}", knee.cause());
        assert!(super::knee(&points[..3]).is_none(), "it holds everywhere");
        assert!(super::knee(&[]).is_none());
    }

    #[test]
    fn reclaim_of_files_is_distinguished_from_swapping() {
        let mut knee = Knee { holds: at(2.0, 10.0), falls: at(1.0, 1.0) };
        knee.falls.swapped_in_per_s = 0.0;
        knee.falls.refaulted_per_s = 500.0;
        assert!(knee.cause().contains("page cache"));
        knee.falls.refaulted_per_s = 0.0;
        assert!(knee.cause().contains("not what is missing"));
        knee.falls.failed = 0.5;
        assert!(knee.cause().contains("not what is missing"), "whatever fails with all memory too");
        knee.falls.killed_for_memory = 0.5;
        assert!(knee.cause().contains("kills"));
    }

    #[test]
    fn a_response_of_which_a_repetition_is_unfinished_is_a_bound() {
        use super::super::measured::{Finished, Unfinished};
        let ended = |response_s| Finished { response_s, ..Finished::default() };
        let whole = Measured { elapsed_s: 4.0, finished: vec![ended(1.0), ended(1.1)], ..Measured::default() };
        let hangs = Unfinished { age_s: 4.0, ..Unfinished::default() };
        let stuck = Measured { unfinished: vec![hangs; 2], ..Measured { finished: Vec::new(), ..whole.clone() } };
        let both = point(None, &[&whole, &stuck]);
        assert!(both.response_s.is_none() && (both.throughput - 0.25).abs() < 1e-12);
        assert!(both.response_at_least_s.is_some_and(|bound| (bound - 10.1 / 4.0).abs() < 1e-9), "{both:?}");
        let alone = point(None, &[&whole]);
        assert!(alone.response_at_least_s.is_none() && alone.response_s.is_some());
    }
}
