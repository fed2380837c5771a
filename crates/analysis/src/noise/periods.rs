//! Which gaps come back with a period. Robust against gaps that are missing (another one covered them), gaps that do not
//! belong to the series, and lateness of single ones.
//!
//! Long gaps are looked at first, then ever shorter ones, so that a rare long disturbance is not hidden among many short
//! ones. Among the gaps of at least some length, distances that occur much more often than similar distances are
//! candidates. Each is followed through the recording from slot to slot. The period that finds the most gaps, and finds
//! one in most of its slots, is a series; its gaps leave the pool, and the search goes on.

mod path;

use path::{FEWEST, FILLED, LOOSE, Pace, Path, Watch, follow};
use record::smallest_first;
use serde::Serialize;

use super::gap::{Gap, SpinWindow};
use crate::form::{As, Form};
use crate::statistics::{median, quantile, sorted};

/// Gaps that come back with a period.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// In ns.
    #[serde(rename = "period_ns")]
    pub period: f64,
    /// How far one distance between neighbours typically is from the period, in ns: the median.
    #[serde(rename = "jitter_ns")]
    pub jitter: f64,
    /// The places of its gaps in the list; in documents their number.
    #[serde(rename = "gaps", with = "As::<u64>")]
    pub members: Vec<usize>,
    /// How many there would be if none were missing, while the task was watching.
    pub slots: u64,
    /// The median length, in ns.
    #[serde(rename = "length_ns")]
    pub length: f64,
    /// One in ten is shorter, in ns.
    #[serde(rename = "p10_ns")]
    pub shorter: f64,
    /// One in ten is longer, in ns.
    #[serde(rename = "p90_ns")]
    pub longer: f64,
}

impl Series {
    /// Takes the lengths from those of its gaps that are `plain`, if there are any.
    pub(super) fn measure(&mut self, gaps: &[Gap], plain: impl Fn(usize) -> bool) {
        let plain: Vec<usize> = self.members.iter().copied().filter(|&member| plain(member)).collect();
        if !plain.is_empty() {
            (self.shorter, self.length, self.longer) = lengths(&plain, gaps);
        }
    }
}

impl Form<Vec<usize>> for u64 {
    fn of(members: &Vec<usize>) -> u64 {
        members.len() as u64
    }
}

/// So many following gaps are looked at for distances: that many may come between two of a series.
const FOLLOWING: usize = 24;
/// The most gaps that are searched for candidates.
const MOST: usize = 4_000;
/// No series has a shorter period, in ns: a shorter one is a gap after every few steps of the loop.
const SHORTEST: f64 = 20_000.0;

/// The series among gaps in order of time, the shortest period first.
pub fn periods(gaps: &[Gap], windows: &[SpinWindow]) -> Vec<Series> {
    let mut free = vec![true; gaps.len()];
    let mut found: Vec<Series> = Vec::new();
    let Some(longest) = gaps.iter().map(|gap| gap.length).max_by(f64::total_cmp) else { return found };
    let shortest = gaps.iter().map(|gap| gap.length).fold(longest, f64::min);
    let mut least = longest / 2.0;
    loop {
        let last = least <= shortest;
        let rung = if last { 0.0 } else { least };
        while let Some(series) = next_series(gaps, windows, &free, rung) {
            series.members.iter().for_each(|&member| free[member] = false);
            keep(&mut found, series, gaps);
        }
        if last {
            break;
        }
        least /= 2.0;
    }
    smallest_first(&mut found, |one| one.period);
    found
}

/// Adds a series. Where one of the same period is known whose gaps begin just before: gaps of similar length belong to it,
/// and much shorter ones follow from it (caches are cold after a gap), so they are no series of their own.
fn keep(found: &mut Vec<Series>, series: Series, gaps: &[Gap]) {
    const AFTER: f64 = 0.05;
    const ALIKE: f64 = 4.0;
    let same = found.iter_mut().find(|other| {
        let apart = (other.period / series.period - 1.0).abs();
        let shift = shift(other, &series, gaps);
        apart < 1e-3 && shift > -AFTER * other.period && shift < other.length + AFTER * other.period
    });
    let Some(other) = same else { return found.push(series) };
    if other.length < ALIKE * series.length {
        other.members.extend(&series.members);
        other.members.sort_unstable();
        other.slots = other.slots.max(other.members.len() as u64);
        (other.shorter, other.length, other.longer) = lengths(&other.members, gaps);
    }
}

/// How long after the gaps of one series those of another one begin, in ns: the median, between minus and plus half a period.
fn shift(one: &Series, other: &Series, gaps: &[Gap]) -> f64 {
    const ASKED: usize = 50;
    let step = other.members.len().div_ceil(ASKED).max(1);
    let shifts = other.members.iter().step_by(step).map(|&member| {
        let at = one.members.partition_point(|&before| before < member);
        let near = one.members[at.saturating_sub(1).min(one.members.len() - 1)];
        let shift = (gaps[member].start - gaps[near].start).rem_euclid(one.period);
        if shift > one.period / 2.0 { shift - one.period } else { shift }
    });
    median(shifts).unwrap_or(f64::INFINITY)
}

/// Deciles and median of the lengths.
fn lengths(members: &[usize], gaps: &[Gap]) -> (f64, f64, f64) {
    let lengths = sorted(members.iter().map(|&member| gaps[member].length));
    let at = |share| quantile(&lengths, share).unwrap_or(0.0);
    (at(0.1), at(0.5), at(0.9))
}

/// The series that explains the most of the free gaps of at least this length.
fn next_series(gaps: &[Gap], windows: &[SpinWindow], free: &[bool], least: f64) -> Option<Series> {
    let pool: Vec<usize> = (0..gaps.len()).filter(|&place| free[place] && gaps[place].length >= least).collect();
    if pool.len() < FEWEST {
        return None;
    }
    let watch = Watch { gaps, windows };
    let starts: Vec<f64> = pool.iter().map(|&place| gaps[place].start).collect();
    // The task sees nothing while it is away, so all that it sees comes in the rest of the time.
    let watched: f64 = windows.iter().map(|window| window.end - window.start).sum();
    let away: f64 = gaps.iter().map(|gap| gap.length).sum();
    let rate = starts.len() as f64 / (watched - away).max(watched / 100.0);
    let mut best: Option<(f64, Path)> = None;
    for candidate in candidates(&starts) {
        let Some(first) = follow(&starts, &watch, Pace { period: candidate, tolerance: LOOSE * candidate }) else {
            continue;
        };
        if (first.hits.len() as f64) < FILLED * first.slots as f64 || first.hits.len() < FEWEST {
            continue;
        }
        let pace = Pace::of(first.period, first.jitter(&starts));
        let Some(path) = follow(&starts, &watch, pace) else { continue };
        let score = path.score();
        if path.is_series(rate, pace.tolerance) && best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, path));
        }
    }
    let (_, known) = best?;
    let (period, jitter) = (known.period, known.jitter(&starts));
    // The shorter gaps of the same series are found in its slots, and between them.
    let around: Vec<usize> =
        (0..gaps.len()).filter(|&place| free[place] && gaps[place].length >= least / 4.0).collect();
    let all: Vec<f64> = around.iter().map(|&place| gaps[place].start).collect();
    let whole = follow(&all, &watch, Pace::of(period, jitter)).filter(|path| path.hits.len() >= known.hits.len());
    let rate = rate * all.len() as f64 / starts.len() as f64;
    let whole = finest(whole, &all, &watch, (period, jitter, rate))
        .filter(|path| path.is_series(rate, Pace::of(path.period, jitter).tolerance));
    let (path, places, starts) = match whole {
        Some(path) => (path, around, all),
        None => (known, pool, starts),
    };
    let members: Vec<usize> = path.hits.iter().map(|&hit| places[hit]).collect();
    let (shorter, length, longer) = lengths(&members, gaps);
    Some(Series {
        period: path.period,
        jitter: path.jitter(&starts),
        members,
        slots: path.slots,
        length,
        shorter,
        longer,
    })
}

/// Of a series with gaps of different lengths, only some may be long enough to be looked at. These may come back with a multiple
/// of its period, and the others lie in the slots between. The period, or the part of it, that explains the most gaps.
fn finest(
    whole: Option<Path>,
    starts: &[f64],
    watch: &Watch<'_>,
    (period, jitter, rate): (f64, f64, f64),
) -> Option<Path> {
    const PARTS: u32 = 64;
    // A finer series has a gap in most of its slots.
    let slots = whole.as_ref().map_or(0, |whole| whole.slots) as f64;
    let is_possible = |parts: &f64| period / parts > SHORTEST && starts.len() as f64 >= FILLED * parts * slots;
    (2..=PARTS).map(f64::from).take_while(is_possible).fold(whole, |best, parts| {
        let pace = Pace::of(period / parts, jitter);
        let finer = follow(starts, watch, pace).filter(|path| path.is_series(rate, pace.tolerance));
        match (finer, &best) {
            (Some(finer), Some(whole)) if finer.score() > whole.score() => Some(finer),
            _ => best,
        }
    })
}

/// Distances that occur much more often than similar ones, in ns. A period's multiples occur as often as the period, so
/// the shortest distances come first.
fn candidates(starts: &[f64]) -> Vec<f64> {
    const KEPT: usize = 20;
    const AS_OFTEN: f64 = 0.3;
    // In the middle of a long recording: a whole piece, because distances between samples of it would be multiples.
    let from = starts.len().saturating_sub(MOST) / 2;
    let starts = &starts[from..starts.len().min(from + MOST)];
    let span = starts[starts.len() - 1] - starts[0];
    let mut distances = Vec::with_capacity(starts.len() * FOLLOWING);
    for (place, start) in starts.iter().enumerate() {
        let following = starts[place + 1..].iter().take(FOLLOWING).map(|next| next - start);
        distances.extend(following.filter(|distance| *distance > 0.0 && *distance <= span / 3.0));
    }
    distances.sort_by(f64::total_cmp);
    // Exact clocks first, then late wake-ups.
    let mut kept: Vec<f64> = Vec::new();
    for width in [0.002_f64, 0.01, 0.05] {
        let peaks = peaks(&distances, width, (starts.len() / 20).max(3));
        let most = peaks.iter().map(|peak| peak.0).fold(0.0, f64::max);
        let often = peaks.iter().filter(|peak| peak.0 >= AS_OFTEN * most).map(|peak| peak.1);
        let is_new = |distance: &f64| kept.iter().all(|other| (other / distance - 1.0).abs() > width);
        let new: Vec<f64> = often.filter(is_new).take(KEPT).collect();
        kept.extend(new);
    }
    kept
}

/// By how many every bin of ascending distances exceeds its surroundings, and its middle, where that is significant. Bins
/// are of the relative width `width`.
fn peaks(distances: &[f64], width: f64, least: usize) -> Vec<(f64, f64)> {
    const SIGNIFICANT: f64 = 4.0;
    let within = |low: f64, high: f64| {
        distances.partition_point(|&distance| distance < high) as f64
            - distances.partition_point(|&distance| distance < low) as f64
    };
    let mut found = Vec::new();
    let (Some(first), Some(last)) = (distances.first(), distances.last()) else { return found };
    // A shorter distance than this is no period.
    let mut bin = first.max(SHORTEST);
    while bin <= *last {
        let next = bin * (1.0 + width);
        let low = distances.partition_point(|&distance| distance < bin);
        let count = distances[low..].partition_point(|&distance| distance < next);
        if count >= least {
            // What lies to either side, with the same number of ns. The bins beside belong to the same peak.
            let size = next - bin;
            let nearby = within(bin - 9.0 * size, bin - 2.0 * size) + within(next + 2.0 * size, next + 9.0 * size);
            let expected = nearby / 14.0;
            let more = count as f64 - expected;
            if more > SIGNIFICANT * (expected + 1.0).sqrt() {
                found.push((more, distances[low + count / 2]));
            }
        }
        // Half a bin on: a peak that lies on a border is whole in the next one.
        bin *= 1.0 + width / 2.0;
    }
    found
}

#[cfg(test)]
mod tests;
