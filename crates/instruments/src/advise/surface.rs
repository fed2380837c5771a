//! Which windows a sweep measures, and how long each of its passes is, so that all of it fits into the budget.

use std::time::Duration;

use analysis::prefetch::{Inputs, Window, axis};
use record::Bytes;

use crate::advise::limits::{LONGEST, SMALLEST};
use crate::advise::passes::Passes;

/// A pass this long fits a surface of twofold steps; where the budget has no room for it, steps are fourfold.
const ROOMY: u64 = 32 << 20;
/// What comparing again takes, in passes: nine turns of three, of which the paper's may take the limit of two.
pub(crate) const COMPARING: f64 = 40.0;
/// A window that waits for every page takes the limit, twice the time of a usual pass; not all do.
const SLOWER: f64 = 1.5;
/// A pass lasts at least this many times as long as the device was kept busy before it. In a pass of a few slices of a
/// tenth of a second, the slices would show.
const BEYOND_DRAIN: u32 = 4;

/// The surface, and how much of the file a pass reads.
pub(crate) struct Surface {
    pub distances: Vec<u64>,
    pub quantities: Vec<u64>,
    /// Those of the step's square, which are measured first.
    coarse: (Vec<u64>, Vec<u64>),
    /// Of either arithmetic.
    computed: [Window; 2],
    pub length: u64,
    pub pass_time: Duration,
    /// What was left out, in sentences.
    pub notes: Vec<String>,
}

impl Surface {
    /// For these inputs, a device that reads at about `rough` bytes a second, and `plain` methods without a window.
    pub fn of(inputs: &Inputs, rough: f64, passes: &Passes<'_>, plain: usize) -> Surface {
        let longest = passes.target.length.min(LONGEST);
        let room = Room { left: passes.left(), drain: passes.program.drain, rough, longest, plain };
        let fits = |surface: &Surface| surface.pass_time >= room.drain * BEYOND_DRAIN;
        let mut steps = [2, 4, 16].into_iter().map(|step| (step, room.surface(inputs, step)));
        let roomy = |step: u64, surface: &Surface| step > 2 || surface.length >= ROOMY.min(longest);
        let found = steps.find(|(step, surface)| *step == 16 || (fits(surface) && roomy(*step, surface)));
        let (step, mut surface) = found.unwrap_or_else(|| (16, room.surface(inputs, 16)));
        surface.pass_time = surface.pass_time.max(room.drain * BEYOND_DRAIN);
        surface.length = room.length(surface.pass_time, inputs.page);
        let pass = Bytes(surface.length);
        if let Some(most) = inputs.most
            && inputs.by_the_paper().quantity > most
        {
            let kernel = Bytes(most);
            surface.notes.push(format!(
                "Of quantities beyond the {kernel} that the kernel takes only the paper's own was tried: it drops the rest of any."
            ));
        }
        if inputs.by_the_paper().distance.saturating_mul(step) > surface.length {
            surface
                .notes
                .push(format!("Distances beyond a pass ({pass}) were left out: within one they are all the same."));
        }
        if step > 2 {
            let times = if step == 4 { "fourfold" } else { "sixteenfold" };
            surface.notes.push(format!("Steps are {times} to fit the budget; a larger --budget makes them finer."));
        }
        surface
    }

    pub fn windows(&self) -> Vec<Window> {
        let row = |&distance: &u64| self.quantities.iter().map(move |&quantity| Window { distance, quantity });
        self.distances.iter().flat_map(row).collect()
    }

    /// Whether a surface of the step's square has it too.
    pub fn is_coarse(&self, window: Window) -> bool {
        self.coarse.0.contains(&window.distance) && self.coarse.1.contains(&window.quantity)
    }

    /// Whether an arithmetic gives this one, as near as the surface has it.
    pub fn is_computed(&self, window: Window) -> bool {
        let near = |one: u64, other: u64| one.max(other) as f64 <= 1.2 * one.min(other) as f64;
        let furthest = self.distances.last().copied().unwrap_or(u64::MAX);
        self.computed.iter().any(|computed| {
            near(computed.distance.min(furthest), window.distance) && near(computed.quantity, window.quantity)
        })
    }

    /// What the second look at the better windows takes, in passes.
    pub fn finer(windows: usize) -> f64 {
        (2.0 * windows.div_ceil(4) as f64) * 1.1 + 4.0
    }
}

/// What a surface must fit into.
struct Room {
    left: Duration,
    drain: Duration,
    rough: f64,
    longest: u64,
    plain: usize,
}

impl Room {
    fn surface(&self, inputs: &Inputs, step: u64) -> Surface {
        // Distances beyond a pass are all the same, and how long a pass may be depends on how many there are.
        let mut bound = self.longest;
        let mut surface = self.bounded(inputs, step, bound);
        for _ in 0..2 {
            bound = surface.length;
            surface = self.bounded(inputs, step, bound);
        }
        surface
    }

    fn bounded(&self, inputs: &Inputs, step: u64, bound: u64) -> Surface {
        let (paper, better) = (inputs.by_the_paper(), inputs.by_saturation());
        let bound = (bound / inputs.page * inputs.page).max(inputs.page);
        let axes = |step: u64| {
            let distances = axis(paper.distance.min(bound), step, &[better.distance.min(bound)], (inputs.page, bound));
            // Requests beyond a pass are all the same too.
            let most = inputs.most.unwrap_or(bound) / inputs.page * inputs.page;
            let mut quantities = axis(paper.quantity.min(most), step, &[better.quantity], (inputs.page, most));
            if paper.quantity > most {
                quantities.push(paper.quantity);
            }
            (distances, quantities)
        };
        let (distances, quantities) = axes(step);
        let windows = distances.len() * quantities.len();
        let passes = (windows + self.plain) as f64 * SLOWER + Surface::finer(windows) + COMPARING;
        let pass_time = (self.left.mul_f64(0.95 / passes)).saturating_sub(self.drain);
        let length = self.length(pass_time, inputs.page);
        Surface {
            distances,
            quantities,
            coarse: axes(step * step),
            computed: [paper, better],
            length,
            pass_time,
            notes: Vec::new(),
        }
    }

    /// Setting up a pass takes as long as the shortest of passes.
    fn length(&self, pass_time: Duration, page: u64) -> u64 {
        let length = (self.rough * 0.8 * pass_time.as_secs_f64()) as u64;
        length.next_multiple_of(page).clamp(SMALLEST, self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk of 5 ms and 32 MiB/s under a program of 5 GB/s; the kernel takes 2560 KiB.
    fn slow() -> Inputs {
        let sizes = (14..=22).map(|power| 1_u64 << power);
        let in_order = sizes.map(|size| (size, 5e6 + size as f64 * 1e9 / 33.5e6)).collect();
        Inputs { latency_ns: 5e6, consumption: 5e9, in_order, most: Some(2560 << 10), page: 4096 }
    }

    fn room(seconds: u64, drain: Duration) -> Room {
        Room { left: Duration::from_secs(seconds), drain, rough: 33.5e6, longest: 96 << 20, plain: 5 }
    }

    #[test]
    fn all_of_it_fits_into_the_budget() {
        for (seconds, step) in [(20, 16), (50, 4), (500, 2)] {
            let room = room(seconds, Duration::ZERO);
            let surface = room.surface(&slow(), step);
            let windows = surface.windows().len();
            let passes = (windows + room.plain) as f64 * SLOWER + Surface::finer(windows) + COMPARING;
            assert!(surface.pass_time.as_secs_f64() * passes <= seconds as f64, "{windows} windows in {seconds} s");
            assert!(surface.length as f64 <= 33.5e6 * surface.pass_time.as_secs_f64() + SMALLEST as f64);
            assert!(surface.windows().iter().any(|&window| surface.is_computed(window)));
        }
    }

    #[test]
    fn what_would_all_be_the_same_is_measured_once() {
        let inputs = slow();
        let surface = room(50, Duration::ZERO).surface(&inputs, 4);
        let beyond = surface.quantities.iter().filter(|&&quantity| Some(quantity) > inputs.most);
        assert_eq!(beyond.copied().collect::<Vec<_>>(), [inputs.by_the_paper().quantity]);
        assert!(surface.distances.iter().all(|&distance| distance <= 2 * surface.length), "{:?}", surface.distances);
    }

    #[test]
    fn coarse_points_are_some_of_all() {
        let surface = room(500, Duration::ZERO).surface(&slow(), 2);
        let coarse = surface.windows().into_iter().filter(|&window| surface.is_coarse(window)).count();
        assert!(coarse >= 4 && coarse < surface.windows().len() / 2, "{coarse} of {}", surface.windows().len());
    }

    #[test]
    fn keeping_the_device_busy_counts_too() {
        let (idle, busy) = (room(50, Duration::ZERO), room(50, Duration::from_millis(200)));
        assert!(busy.surface(&slow(), 4).pass_time < idle.surface(&slow(), 4).pass_time);
    }
}
