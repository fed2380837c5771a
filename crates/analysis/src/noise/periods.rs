//! Which gaps come back with a period. Robust against gaps that are missing (another one covered them), gaps that do not
//! belong to the series, and lateness of single ones.
//!
//! Long gaps are looked at first, then ever shorter ones, so that a rare long disturbance is not hidden among many short
//! ones. Among the gaps of at least some length, distances that occur much more often than similar distances are
//! candidates. Each is followed through the recording from slot to slot. The period that finds the most gaps, and finds
//! one in most of its slots, is a series; its gaps leave the pool, and the search goes on.

use super::gap::{Gap, SpinWindow};
use crate::statistics::{median, quantile, sorted};

/// Gaps that come back with a period.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// In ns.
    pub period: f64,
    /// How far one distance between neighbours typically is from the period, in ns: the median.
    pub jitter: f64,
    /// The places of its gaps in the list.
    pub members: Vec<usize>,
    /// How many there would be if none were missing, while the task was watching.
    pub slots: u64,
    /// The median length, in ns.
    pub length: f64,
    /// One in ten is shorter, in ns.
    pub shorter: f64,
    /// One in ten is longer, in ns.
    pub longer: f64,
}

/// A series has at least this many gaps, and at least this share of its slots has one.
const FEWEST: usize = 5;
const FILLED: f64 = 0.6;
/// How late or early a gap may be, as a part of the period, before anything is known of its jitter.
const LOOSE: f64 = 0.08;
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
    found.sort_by(|a, b| a.period.total_cmp(&b.period));
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
    let mut best: Option<(f64, f64, Vec<usize>)> = None;
    for candidate in candidates(&starts) {
        let Some(first) = follow(&starts, &watch, Pace { period: candidate, tolerance: LOOSE * candidate }) else {
            continue;
        };
        if (first.hits.len() as f64) < FILLED * first.slots as f64 || first.hits.len() < FEWEST {
            continue;
        }
        let tolerance = (6.0 * first.jitter(&starts)).clamp((0.001 * first.period).max(1e3), LOOSE * first.period);
        let Some(path) = follow(&starts, &watch, Pace { period: first.period, tolerance }) else { continue };
        // Two series together fill many slots of a shorter period; its empty slots tell it from a real one.
        let empty = path.slots.saturating_sub(path.hits.len() as u64);
        let score = path.hits.len() as f64 - empty as f64;
        if path.is_series(rate, tolerance) && best.as_ref().is_none_or(|(most, ..)| score > *most) {
            best = Some((score, path.period, path.hits));
        }
    }
    let (_, period, hits) = best?;
    // The shorter gaps of the same series are found in its slots.
    let around: Vec<usize> =
        (0..gaps.len()).filter(|&place| free[place] && gaps[place].length >= least / 4.0).collect();
    let all: Vec<f64> = around.iter().map(|&place| gaps[place].start).collect();
    let narrow = Path { period, ..Path::of(&hits) };
    let tolerance = (6.0 * narrow.jitter(&starts)).clamp((0.001 * period).max(1e3), LOOSE * period);
    let path = follow(&all, &watch, Pace { period, tolerance }).filter(|path| path.hits.len() >= hits.len());
    let (path, places, starts) = match path {
        Some(path) => (path, around, all),
        None => (follow(&starts, &watch, Pace { period, tolerance })?, pool, starts),
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
        let new: Vec<f64> = often
            .filter(|distance| kept.iter().all(|other| (other / distance - 1.0).abs() > width))
            .take(KEPT)
            .collect();
        kept.extend(new);
    }
    kept
}

/// By how many every bin of ascending distances exceeds its surroundings, and its middle, where that is significant. Bins
/// are of the relative width `width`.
fn peaks(distances: &[f64], width: f64, least: usize) -> Vec<(f64, f64)> {
    const SIGNIFICANT: f64 = 4.0;
    let within = |low: f64, high: f64| {
        distances.partition_point(|&it| it < high) as f64 - distances.partition_point(|&it| it < low) as f64
    };
    let mut found = Vec::new();
    let (Some(first), Some(last)) = (distances.first(), distances.last()) else { return found };
    // A shorter distance than this is no period.
    let mut bin = first.max(SHORTEST);
    while bin <= *last {
        let next = bin * (1.0 + width);
        let low = distances.partition_point(|&it| it < bin);
        let count = distances[low..].partition_point(|&it| it < next);
        if count >= least {
            // What lies to either side, with the same number of ns. The bins beside belong to the same peak.
            let size = next - bin;
            let beside = within(bin - 9.0 * size, bin - 2.0 * size) + within(next + 2.0 * size, next + 9.0 * size);
            let expected = beside / 14.0;
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

/// What the task could see: nothing outside of its windows, and nothing else during a gap.
struct Watch<'a> {
    gaps: &'a [Gap],
    windows: &'a [SpinWindow],
}

impl Watch<'_> {
    fn sees(&self, moment: f64) -> bool {
        let after = self.windows.partition_point(|window| window.start <= moment);
        if after == 0 || self.windows[after - 1].end < moment {
            return false;
        }
        let after = self.gaps.partition_point(|gap| gap.start <= moment);
        after == 0 || self.gaps[after - 1].end() < moment
    }
}

/// What a series is followed with.
#[derive(Clone, Copy)]
struct Pace {
    period: f64,
    tolerance: f64,
}

/// The gaps that lie in the slots of a period.
struct Path {
    period: f64,
    /// Their places in the list of starts.
    hits: Vec<usize>,
    /// The number of each one's slot; after a break it goes on with the next one, and the break is not measured.
    slot_of: Vec<u64>,
    /// The stretches between breaks, as numbers of hits.
    breaks: Vec<usize>,
    /// Slots that were seen.
    slots: u64,
    misses: u64,
}

impl Path {
    fn of(hits: &[usize]) -> Path {
        Path {
            period: 0.0,
            hits: hits.to_vec(),
            slot_of: (0..hits.len() as u64).collect(),
            breaks: vec![0],
            slots: hits.len() as u64,
            misses: 0,
        }
    }

    /// The median distance of neighbours from the period, neighbours being one period apart or nearly so.
    fn jitter(&self, starts: &[f64]) -> f64 {
        let off = self.hits.windows(2).filter_map(|pair| {
            let distance = starts[pair[1]] - starts[pair[0]];
            let slots = (distance / self.period).round().max(1.0);
            (slots <= 3.0).then(|| (distance - slots * self.period).abs())
        });
        median(off).unwrap_or(0.0)
    }

    /// True if there are enough gaps, in most slots, and far more than gaps at random moments would fill: by the relative
    /// entropy of the two shares (Chernoff's bound of the binomial tail). The first three are where they are because they
    /// were looked for there, and many periods are tried.
    fn is_series(&self, rate: f64, tolerance: f64) -> bool {
        const CHOSEN: f64 = 3.0;
        const UNLIKELY: f64 = 13.0;
        let slots = self.slots as f64;
        let by_chance = 1.0 - (-rate * 2.0 * tolerance).exp();
        let filled = (self.hits.len() as f64 / slots).min(1.0);
        let part = |share: f64, chance: f64| if share > 0.0 { share * (share / chance).ln() } else { 0.0 };
        let entropy = part(filled, by_chance) + part(1.0 - filled, 1.0 - by_chance);
        self.hits.len() >= FEWEST && filled >= FILLED && filled > by_chance && (slots - CHOSEN) * entropy > UNLIKELY
    }

    /// The period that fits the moments best, each stretch between breaks with a phase of its own (least squares).
    fn fitted(&self, starts: &[f64]) -> Option<f64> {
        let (mut above, mut below) = (0.0, 0.0);
        let ends = self.breaks.iter().skip(1).copied().chain([self.hits.len()]);
        for (begin, end) in self.breaks.iter().copied().zip(ends) {
            let count = (end - begin) as f64;
            if count < 2.0 {
                continue;
            }
            let slot = |hit: usize| self.slot_of[hit] as f64;
            let moment = |hit: usize| starts[self.hits[hit]] - starts[self.hits[begin]];
            let (slots, moments) =
                (begin..end).fold((0.0, 0.0), |sums, hit| (sums.0 + slot(hit), sums.1 + moment(hit)));
            for hit in begin..end {
                let off = slot(hit) - slots / count;
                above += off * (moment(hit) - moments / count);
                below += off * off;
            }
        }
        (below > 0.0).then(|| above / below)
    }
}

/// Follows a period through the recording.
fn follow(starts: &[f64], watch: &Watch<'_>, pace: Pace) -> Option<Path> {
    /// After this many empty slots in a row the phase is lost.
    const LOST_AFTER: u32 = 6;
    let Pace { mut period, tolerance } = pace;
    let mut path = Path::of(&[]);
    path.breaks.clear();
    let mut from = 0;
    while let Some(first) = begin(starts, from, Pace { period, tolerance }) {
        // The slots that passed without a phase were missed.
        if let Some(&last) = path.hits.last() {
            path.slots += ((starts[first] - starts[last]) / period).round().max(1.0) as u64 - 1;
        }
        path.breaks.push(path.hits.len());
        let (mut at, mut slot, mut empty) = (starts[first], path.slot_of.last().map_or(0, |slot| slot + 1), 0);
        path.hits.push(first);
        path.slot_of.push(slot);
        path.slots += 1;
        let (begun, begun_slot) = (at, slot);
        from = first + 1;
        while empty < LOST_AFTER && from < starts.len() {
            slot += 1;
            let expected = at + period;
            match nearest(starts, from, expected).filter(|&it| (starts[it] - expected).abs() <= tolerance) {
                Some(hit) => {
                    path.slots += 1;
                    path.hits.push(hit);
                    path.slot_of.push(slot);
                    (at, empty, from) = (starts[hit], 0, hit + 1);
                    // The longer it is known, the better: an error grows with every slot that is not seen.
                    if slot - begun_slot >= 8 {
                        period = (at - begun) / (slot - begun_slot) as f64;
                    }
                }
                None => {
                    let seen = watch.sees(expected);
                    path.slots += u64::from(seen);
                    path.misses += u64::from(seen);
                    empty += u32::from(seen);
                    at = expected;
                    from = from.max(starts.partition_point(|&start| start < expected - tolerance));
                }
            }
        }
        // The empty slots at a break were counted, and are counted again to the next begin.
        path.slots -= u64::from(empty).min(path.slots);
        from = from.max(path.hits.last().map_or(0, |hit| hit + 1));
    }
    path.period = path.fitted(starts)?;
    Some(path)
}

/// The first gap from here that at least two of the next three slots confirm.
fn begin(starts: &[f64], from: usize, pace: Pace) -> Option<usize> {
    let confirmed = |first: &usize| {
        let at = |slots: f64| {
            let expected = starts[*first] + slots * pace.period;
            nearest(starts, first + 1, expected).is_some_and(|it| (starts[it] - expected).abs() <= pace.tolerance)
        };
        [1.0, 2.0, 3.0].into_iter().filter(|&slots| at(slots)).count() >= 2
    };
    (from..starts.len()).find(confirmed)
}

/// The start nearest to a moment, from a place on.
fn nearest(starts: &[f64], from: usize, moment: f64) -> Option<usize> {
    let rest = starts.get(from..)?;
    let after = rest.partition_point(|&start| start < moment);
    let near = |place: usize| rest.get(place).map(|start| ((start - moment).abs(), from + place));
    let both = [after.checked_sub(1).and_then(near), near(after)];
    both.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, place)| place)
}

#[cfg(test)]
mod tests;
