//! One period followed through a recording: which gaps lie in its slots, and whether that is more than chance.

use crate::noise::gap::{Gap, SpinWindow};
use crate::statistics::median;

/// A series has at least this many gaps, and at least this share of its slots has one.
pub(super) const FEWEST: usize = 5;
pub(super) const FILLED: f64 = 0.6;
/// How late or early a gap may be, as a part of the period, before anything is known of its jitter.
pub(super) const LOOSE: f64 = 0.08;

/// What the task could see: nothing outside of its windows, and nothing else during a gap.
pub(super) struct Watch<'a> {
    pub gaps: &'a [Gap],
    pub windows: &'a [SpinWindow],
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
pub(super) struct Pace {
    pub period: f64,
    pub tolerance: f64,
}

impl Pace {
    /// What gaps that are typically so much early or late are distinguished from others by, all in ns.
    pub(super) fn of(period: f64, jitter: f64) -> Pace {
        Pace { period, tolerance: (6.0 * jitter).clamp((0.001 * period).max(1e3), LOOSE * period) }
    }
}

/// The gaps that lie in the slots of a period.
#[derive(Default)]
pub(super) struct Path {
    pub period: f64,
    /// Their places in the list of starts.
    pub hits: Vec<usize>,
    /// The number of each one's slot; after a break it goes on with the next one, and the break is not measured.
    pub slot_of: Vec<u64>,
    /// The stretches between breaks, as numbers of hits.
    pub breaks: Vec<usize>,
    /// Slots that were seen.
    pub slots: u64,
}

impl Path {
    /// Takes a gap into a slot.
    fn hit(&mut self, hit: usize, slot: u64) {
        self.hits.push(hit);
        self.slot_of.push(slot);
        self.slots += 1;
    }

    /// Two series together fill many slots of a shorter period; its empty slots distinguish it from a real one.
    pub(super) fn score(&self) -> f64 {
        2.0 * self.hits.len() as f64 - self.slots.max(self.hits.len() as u64) as f64
    }

    /// The median distance of neighbours from the period, neighbours being one period apart or nearly so.
    pub(super) fn jitter(&self, starts: &[f64]) -> f64 {
        let off = self.hits.windows(2).filter_map(|pair| {
            let distance = starts[pair[1]] - starts[pair[0]];
            let slots = (distance / self.period).round().max(1.0);
            (slots <= 3.0).then(|| (distance - slots * self.period).abs())
        });
        median(off).unwrap_or(0.0)
    }

    /// True if there are enough gaps, in most slots, and far more than gaps at random moments would fill: by the relative
    /// entropy of the two shares (Chernoff's bound of the binomial tail). The first three are where they are because they
    /// were looked for there, and many periods are tried. Gaps that keep a distance from each other, as interrupts that a card
    /// holds back, fill a slot as often as one comes on average; without such a distance, several fill one.
    pub(super) fn is_series(&self, rate: f64, tolerance: f64) -> bool {
        const CHOSEN: f64 = 3.0;
        const UNLIKELY: f64 = 13.0;
        let slots = self.slots as f64;
        let by_chance = (rate * 2.0 * tolerance).min(1.0);
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
pub(super) fn follow(starts: &[f64], watch: &Watch<'_>, pace: Pace) -> Option<Path> {
    /// After this many empty slots in a row the phase is lost.
    const LOST_AFTER: u32 = 6;
    let Pace { mut period, tolerance } = pace;
    let mut path = Path::default();
    let mut from = 0;
    while let Some(first) = begin(starts, from, Pace { period, tolerance }) {
        // The slots that passed without a phase were missed.
        if let Some(&last) = path.hits.last() {
            path.slots += ((starts[first] - starts[last]) / period).round().max(1.0) as u64 - 1;
        }
        path.breaks.push(path.hits.len());
        let (mut at, mut slot, mut empty) = (starts[first], path.slot_of.last().map_or(0, |slot| slot + 1), 0);
        path.hit(first, slot);
        let (begun, begun_slot) = (at, slot);
        from = first + 1;
        while empty < LOST_AFTER && from < starts.len() {
            slot += 1;
            let expected = at + period;
            match nearest(starts, from, expected).filter(|&hit| (starts[hit] - expected).abs() <= tolerance) {
                Some(hit) => {
                    path.hit(hit, slot);
                    (at, empty, from) = (starts[hit], 0, hit + 1);
                    // The longer it is known, the better: an error grows with every slot that is not seen.
                    if slot - begun_slot >= 8 {
                        period = (at - begun) / (slot - begun_slot) as f64;
                    }
                }
                None => {
                    let seen = watch.sees(expected);
                    path.slots += u64::from(seen);
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
            nearest(starts, first + 1, expected).is_some_and(|hit| (starts[hit] - expected).abs() <= pace.tolerance)
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
