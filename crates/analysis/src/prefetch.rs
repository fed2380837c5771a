//! How far ahead and how much at a time to request: the arithmetic of the paper `mpe`, another one for today's kernels
//! and disks, and the verdict of a sweep of measured windows on both.

use serde::Serialize;

use crate::statistics::{median, median_ranks, sorted};

/// A window: bytes requested beyond the one being read, and bytes per request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Window {
    /// Bytes ahead.
    pub distance: u64,
    /// Bytes per request.
    pub quantity: u64,
}

/// Measured values of a device and of the program that reads from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inputs {
    /// The mean time of one cold read of a page, in ns.
    pub latency_ns: f64,
    /// Bytes a second that the program consumes when it waits for nothing.
    pub consumption: f64,
    /// Sequential reads: bytes of each, and its mean time in ns, in order of size.
    pub in_order: Vec<(u64, f64)>,
    /// The most bytes that the kernel reads ahead for one request. It drops the rest without an error.
    pub most: u64,
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
        let quantity = (2 * enough).min(self.most / self.page * self.page).max(self.page);
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
    let mut values: Vec<u64> = up
        .take_while(|value| *value <= centre.saturating_mul(16))
        .chain(down.take_while(|value| *value > 0 && *value >= centre / 16))
        .map(|value| value.next_multiple_of(page).min(most.next_multiple_of(page)))
        .chain([centre])
        .collect();
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        let ratios = sorted(rates.iter().zip(others).map(|(one, other)| one / other).filter(|ratio| ratio.is_finite()));
        let (low, high) = median_ranks(ratios.len());
        Some(RelativeRate {
            ratio: median(ratios.iter().copied())?,
            low: *ratios.get(low)?,
            high: *ratios.get(high.min(ratios.len() - 1))?,
            pairs: ratios.len(),
        })
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        let at = |share| crate::statistics::quantile(&sorted, share);
        Some(PageLatency {
            median_ns: at(0.5)?,
            quartiles_ns: [at(0.25)?, at(0.75)?],
            mean_ns: page_ns.iter().sum::<f64>() / page_ns.len() as f64,
            reads: page_ns.len(),
            direct,
        })
    }
}

/// The window of one formula beside the best of the sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FormulaVerdict {
    /// `paper` or `saturation`.
    pub arithmetic: &'static str,
    /// Its window.
    pub window: Window,
    /// Its rate relative to that of the best window, measured again in turns.
    pub beside_best: RelativeRate,
    /// True if it is within 5 %; null if the interval contains both answers.
    pub found: Option<bool>,
}

/// A sweep of windows over a file, and its verdict on the arithmetic.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
mod tests {
    use super::*;

    /// The paper's page has 4096 bytes, its postscript's latency is 30 ms, its consumption 563,200 bytes in 181 ms.
    #[test]
    fn the_paper_s_own_numbers() {
        let consumption: f64 = 80.0 * 7040.0 / 0.181;
        let (latency_ns, taken) = THERE;
        assert_eq!((consumption / 1000.0).floor(), taken / 1000.0);
        assert_eq!(distance(latency_ns, taken), 93_330.0);
        let inputs = Inputs { latency_ns, consumption: taken, in_order: Vec::new(), most: 1 << 20, page: 4096 };
        // 22.8 pages: 23 whole ones; the paper took 24, which it calls 100,000 bytes.
        assert_eq!(inputs.by_the_paper(), Window { distance: 23 * 4096, quantity: 23 * 4096 });
        assert_eq!((24 * 4096_u32).div_ceil(1000), 99);
    }

    fn disk(latency_ns: f64, bandwidth: f64, consumption: f64) -> Inputs {
        let sizes = (14..=22).map(|power| 1_u64 << power);
        let in_order = sizes.map(|size| (size, latency_ns + size as f64 * 1e9 / bandwidth)).collect();
        Inputs { latency_ns, consumption, in_order, most: 2560 << 10, page: 4096 }
    }

    #[test]
    fn requests_are_large_enough_and_never_larger_than_the_kernel_takes() {
        let fast = disk(20e3, 1.6e9, 8e9).by_saturation();
        // Of 512 KiB, 20 us are 5.8 %, of 1 MiB 3 %.
        assert_eq!(fast.quantity, 2 << 20);
        assert!(fast.distance >= fast.quantity + 6_400_000, "{fast:?}");
        // A disk arm: only the largest requests hide 10 ms.
        let slow = disk(10e6, 30e6, 8e9).by_saturation();
        assert_eq!(slow.quantity, 2560 << 10);
        assert!(slow.distance > slow.quantity && slow.distance.is_multiple_of(slow.quantity));
    }

    /// Nothing waits if less is consumed during a request than the window holds.
    #[test]
    fn a_slow_program_needs_no_more_than_it_consumes() {
        let inputs = disk(100e3, 1e9, 10e6);
        let window = inputs.by_saturation();
        // With 16 KiB the device already delivers 141 MB/s. Larger requests would only delay the first byte.
        assert_eq!(window.quantity, 32 << 10);
        let needed = distance(100e3 + window.quantity as f64 + TICK_NS, inputs.consumption);
        assert!(window.distance as f64 >= needed, "{window:?}");
        assert!(window.distance as f64 <= needed + 3.0 * window.quantity as f64, "{window:?}");
    }

    #[test]
    fn an_axis_goes_from_a_sixteenth_to_sixteen_times() {
        let values = axis(64 << 10, 2, &[70 << 10, 8 << 20], (4096, 1 << 30));
        let doubled: Vec<u64> = (12..=20).map(|power| 1 << power).chain([8 << 20]).collect();
        assert_eq!(values, doubled, "70 KiB is near 64 KiB, 8 MiB near nothing");
        assert_eq!(axis(64 << 10, 4, &[], (4096, 1 << 30)), [4096, 16384, 65536, 262_144, 1 << 20]);
        assert_eq!(axis(8192, 2, &[], (4096, 16384)), [4096, 8192, 16384], "whole pages, within the file");
    }

    #[test]
    fn the_simplest_of_good_ones_is_recommended() {
        let tried = |of, rates: &[f64]| MeasuredRates { of, rates: rates.to_vec() };
        let all =
            [tried("slow", &[1.0, 2.0, 3.0]), tried("plain", &[96.0, 97.0]), tried("clever", &[100.0, 90.0, 101.0])];
        assert_eq!(best(&all).map(|one| one.of), Some("clever"));
        assert_eq!(simplest_good(&all, 0.05).map(|one| one.of), Some("plain"));
        assert_eq!(simplest_good(&all, 0.01).map(|one| one.of), Some("clever"));
        assert_eq!(best::<u8>(&[]).map(|one| one.of), None);
    }

    #[test]
    fn neighbours_are_compared_in_pairs() {
        // The machine halves its speed from pair to pair. The ratio does not change.
        let others: Vec<f64> = (0..10).map(|pair| 1000.0 / f64::from(1 << pair)).collect();
        let rates: Vec<f64> = others.iter().map(|rate| rate * 0.97).collect();
        let beside = RelativeRate::of(&rates, &others).expect("pairs");
        assert!((beside.ratio - 0.97).abs() < 1e-9 && beside.low <= beside.ratio && beside.ratio <= beside.high);
        assert_eq!((beside.is_as_good(), beside.pairs), (Some(true), 10));
        let two_out_of_three =
            |pairs: usize| -> Vec<f64> { (0..pairs).map(|pair| [97.0, 93.0, 96.0][pair % 3]).collect() };
        let beside = |rates: &[f64]| RelativeRate::of(rates, &vec![100.0; rates.len()]).expect("pairs");
        assert_eq!(beside(&[90.0; 6]).is_as_good(), Some(false));
        assert_eq!(beside(&[90.0; 5]).is_as_good(), None, "five pairs have no interval");
        assert_eq!(beside(&two_out_of_three(12)).is_as_good(), None);
        assert!(beside(&two_out_of_three(12)).is_rather_as_good() && !beside(&[90.0]).is_rather_as_good());
        assert_eq!(RelativeRate::of(&[], &[]), None);
    }
}
