//! How far ahead and how much at a time to request: the arithmetic of the paper `mpe`, another one for today's kernels
//! and disks, and the verdict of a sweep of measured windows on both.

use serde::Serialize;

use crate::statistics::{Interval, mean, median, quantile, sorted};
use crate::tails::median_interval;

/// A window: bytes requested beyond the one being read, and bytes per request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Window {
    /// Bytes ahead.
    pub distance: u64,
    /// Bytes per request.
    pub quantity: u64,
}

/// Measured values of a device and of the program that reads from it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Inputs {
    /// The mean time of one cold read of a page, in ns.
    pub latency_ns: f64,
    /// Bytes a second that the program consumes when it waits for nothing.
    pub consumption: f64,
    /// Sequential reads: bytes of each, and its mean time in ns, in order of size.
    pub in_order: Vec<(u64, f64)>,
    /// The most bytes that the kernel reads ahead for one request. It drops the rest without an error. `None` if the file's device
    /// is not known, as on layered file systems and Btrfs.
    pub most: Option<u64>,
    /// Bytes of a page.
    pub page: u64,
}

/// The values in the paper's arithmetic: a read of 30 ms, and 80 x 7,040 bytes in 181 ms, which it rounded to 3,111
/// bytes a ms.
pub const THERE: (f64, f64) = (30e6, 3_111_000.0);

/// How long a program may be kept from its next request, in ns: a tick of the kernel's scheduler (250 a second). The
/// device needs work for that time too.
const TICK_NS: f64 = 4e6;

/// A request is large enough if the device reaches this share of its best rate with it.
const SATURATED: f64 = 0.95;

impl Inputs {
    /// The paper's window: the distance is the latency times the rate of consumption, and the quantity is the distance.
    pub fn by_the_paper(&self) -> Window {
        let distance = pages(distance(self.latency_ns, self.consumption), self.page);
        Window { distance, quantity: distance }
    }

    /// The window for devices with a rate of their own, and kernels that limit a request. The quantity is twice the
    /// smallest request that saturates the device, or the program if that is slower: larger requests would only delay
    /// the first one. It never exceeds what the kernel takes. The distance is what is consumed (or delivered, if the
    /// device is slower) during one such request and a tick, plus one quantity, so that a request is always in flight
    /// behind the one that is waited for.
    pub fn by_saturation(&self) -> Window {
        let Some(best) = self.best_rate() else { return self.by_the_paper() };
        let needed = best.min(self.consumption);
        let enough = self.in_order.iter().find(|&&(size, ns)| rate(size, ns) >= SATURATED * needed);
        let Some(&(enough, enough_ns)) = enough else { return self.by_the_paper() };
        let quantity = (2 * enough).min(self.most.unwrap_or(u64::MAX) / self.page * self.page).max(self.page);
        let request_ns = enough_ns * quantity as f64 / enough as f64;
        let consumed = distance(request_ns + TICK_NS, needed);
        let distance = (consumed.ceil() as u64).next_multiple_of(quantity) + quantity;
        Window { distance, quantity }
    }

    /// The device's rate in bytes a second at the best size of request.
    pub fn best_rate(&self) -> Option<f64> {
        let rates = self.in_order.iter().map(|&(size, ns)| rate(size, ns));
        rates.filter(|rate| rate.is_finite()).max_by(f64::total_cmp)
    }
}

/// Bytes consumed at `consumption` (bytes a second) in `latency_ns`.
pub fn distance(latency_ns: f64, consumption: f64) -> f64 {
    latency_ns * consumption / 1e9
}

fn rate(size: u64, ns: f64) -> f64 {
    size as f64 * 1e9 / ns
}

/// Rounded up to whole pages, at least one.
fn pages(bytes: f64, page: u64) -> u64 {
    (bytes.ceil() as u64).next_multiple_of(page).max(page)
}

/// The values of one axis of a sweep: powers of `step` around `centre` from 1/16 to 16 times, in whole pages up to
/// `most`, and those of `others` that are not near any of them.
pub fn axis(centre: u64, step: u64, others: &[u64], (page, most): (u64, u64)) -> Vec<u64> {
    let step = step.max(2);
    let up = std::iter::successors(Some(centre), |value| value.checked_mul(step));
    let down = std::iter::successors(Some(centre / step), |value| Some(value / step));
    let up = up.take_while(|value| *value <= centre.saturating_mul(16));
    let down = down.take_while(|value| *value > 0 && *value >= centre / 16);
    let in_pages = |value: u64| value.next_multiple_of(page).min(most.next_multiple_of(page));
    let mut values: Vec<u64> = up.chain(down).map(in_pages).chain([centre]).collect();
    for &other in others {
        if values.iter().all(|&value| value.max(other) as f64 > 1.2 * value.min(other) as f64) {
            values.push(other);
        }
    }
    values.sort_unstable();
    values.dedup();
    values
}

/// The measured rates of one window or method.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredRates<Of> {
    /// The window or method.
    pub of: Of,
    /// Bytes a second, one for each repetition.
    pub rates: Vec<f64>,
}

impl<Of> MeasuredRates<Of> {
    /// The median rate; 0 before any.
    pub fn rate(&self) -> f64 {
        median(self.rates.iter().copied()).unwrap_or(0.0)
    }
}

/// The entry with the largest median.
pub fn best<Of>(tried: &[MeasuredRates<Of>]) -> Option<&MeasuredRates<Of>> {
    tried.iter().max_by(|one, other| one.rate().total_cmp(&other.rate()))
}

/// The first of these entries, in order from the simplest, that no other beats by more than `margin`.
pub fn simplest_good<Of>(tried: &[MeasuredRates<Of>], margin: f64) -> Option<&MeasuredRates<Of>> {
    let best = best(tried)?.rate();
    tried.iter().find(|one| one.rate() >= (1.0 - margin) * best)
}

/// The share of the best's rate that counts as good.
const NEAR: f64 = 0.95;

/// The rate of one window relative to another, measured in turns: the median of the ratios of neighbours, with its 95 %
/// interval by order statistics if there are enough pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RelativeRate {
    /// Its rate divided by the other's.
    pub ratio: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Pairs.
    pub pairs: usize,
}

impl RelativeRate {
    /// From the rates of both, in the order in which they were taken; `None` without a pair.
    pub fn of(rates: &[f64], others: &[f64]) -> Option<RelativeRate> {
        let ratios = rates.iter().zip(others).map(|(one, other)| one / other).filter(|ratio| ratio.is_finite());
        let pairs = ratios.clone().count();
        median_interval(ratios).map(|Interval { value: ratio, low, high }| RelativeRate { ratio, low, high, pairs })
    }

    /// True if it is within 5 % of the other. `None` if the interval contains both answers, or with fewer than six
    /// pairs, which have no interval of 95 %.
    pub fn is_as_good(&self) -> Option<bool> {
        match (self.low >= NEAR, self.high < NEAR) {
            _ if self.pairs < 6 => None,
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// The likelier answer.
    pub fn is_rather_as_good(&self) -> bool {
        self.ratio >= NEAR
    }
}

/// The times of single reads of a page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PageLatency {
    /// The median, in ns.
    pub median_ns: f64,
    /// Lower and upper quartile, in ns.
    pub quartiles_ns: [f64; 2],
    /// The time of all reads divided by their number, in ns: the mean wait of a reader, and the input of the
    /// arithmetic. On a disk that answers in bursts the median does not show it.
    pub mean_ns: f64,
    /// The number of reads.
    pub reads: usize,
    /// True if they bypassed the page cache.
    pub direct: bool,
}

impl PageLatency {
    /// The summary of these reads; `None` without reads.
    pub fn of(page_ns: &[f64], direct: bool) -> Option<PageLatency> {
        let sorted = sorted(page_ns.iter().copied());
        let at = |share| quantile(&sorted, share);
        Some(PageLatency {
            median_ns: at(0.5)?,
            quartiles_ns: [at(0.25)?, at(0.75)?],
            mean_ns: mean(page_ns),
            reads: page_ns.len(),
            direct,
        })
    }
}

/// The window of one formula beside the best of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FormulaVerdict {
    /// `paper` or `saturation`.
    pub arithmetic: &'static str,
    /// Its window.
    pub window: Window,
    /// Its rate relative to that of the best window, measured again in turns.
    pub relative_to_best: RelativeRate,
    /// True if it is within 5 %; null if the interval contains both answers.
    pub found: Option<bool>,
}

/// A sweep of windows over a file, and its verdict on the arithmetic.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Tuning {
    /// The file, printable.
    pub path: String,
    /// The size of the file in bytes.
    pub file_bytes: u64,
    /// The bytes of a pass, from the beginning.
    pub pass_bytes: u64,
    /// The times of single reads.
    pub latency: PageLatency,
    /// The input of the arithmetic.
    pub inputs: Inputs,
    /// The distances of the sweep: rows of the surface.
    pub distances: Vec<u64>,
    /// The quantities of the sweep: columns of the surface.
    pub quantities: Vec<u64>,
    /// Every window with its rates.
    pub windows: Vec<MeasuredRates<Window>>,
    /// Methods without explicit prefetch with their rates.
    pub plain: Vec<MeasuredRates<String>>,
    /// The best window of the sweep.
    pub best: Window,
    /// The verdict on each formula.
    pub verdicts: Vec<FormulaVerdict>,
    /// The window to use: that by saturation if it is more likely as good as the best than not; else the paper's under the
    /// same condition; else the best.
    pub recommended: Window,
    /// The number of passes, including those that did not begin with the file out of memory.
    pub passes: u64,
    /// Passes that began with pages of the file in memory.
    pub not_cold: u64,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// The figures of one method.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Candidate {
    /// The method in words.
    pub method: String,
    /// Bytes a second, one for each repetition.
    pub rates: Vec<f64>,
    /// The share of the elapsed time during which the processor worked: the median.
    pub processor: f64,
    /// The reason why it was not tried.
    pub skipped: Option<String>,
}

/// The recommendation for one state of the file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Recommended {
    /// `cold` or `warm`.
    pub state: &'static str,
    /// The methods, the simplest first.
    pub candidates: Vec<Candidate>,
    /// The simplest method within 5 % of the fastest.
    pub method: Option<String>,
    /// The reason, in a sentence.
    pub reason: String,
}

/// Advice on reading one file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// The file, printable.
    pub path: String,
    /// The size of the file in bytes.
    pub file_bytes: u64,
    /// The most bytes in a pass.
    pub pass_bytes: u64,
    /// `sequential` or `random`.
    pub order: &'static str,
    /// The times of single reads; null if the file cannot be evicted from memory.
    pub latency: Option<PageLatency>,
    /// The input of the arithmetic; null under the same condition.
    pub inputs: Option<Inputs>,
    /// The recommendations for the file out of memory, if possible, and in memory.
    pub states: Vec<Recommended>,
    /// Further notes for the reader.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests;
