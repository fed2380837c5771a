//! The difference between two runs when nothing has changed. A change must exceed it.

use record::{Band, Cost, Run};

use super::options::CompareOptions;

/// The band covers costs that need nothing but their own core. Costs that depend on another CPU, a device or other
/// tenants' memory scatter more from run to run: 4 to 10 % (docs/METHOD.md, "What is less steady than the rest").
pub const ELSEWHERE: f64 = 0.10;

/// Operations that take the same number of cycles at any clock. They show how far apart two runs count cycles.
const CLOCKWORK: [&str; 2] = ["instruction.add.latency", "loop.empty"];

/// The difference between two runs when nothing has changed, as shares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Joint {
    /// The larger of both runs' A/A bands; `None` if neither has one.
    pub band: Option<f64>,
    /// Whether the bands are what twins differ by beyond their own intervals; in older runs they are all of it.
    pub beyond: bool,
    /// How far apart both runs count cycles: on one model of processor an add takes as many in either.
    pub clock: Option<f64>,
    /// The threshold that the user asked for.
    pub threshold: f64,
    /// How far the interval of a ratio may reach from 1 if the two costs are to count as the same.
    pub margin: f64,
}

impl Joint {
    pub(super) fn of(base: &Run, other: &Run, how: &CompareOptions) -> Joint {
        let bands = || [base, other].into_iter().filter_map(|run| run.noise.band.as_ref());
        let band = bands().map(Band::least).filter(|band| band.is_finite()).reduce(f64::max);
        let beyond = bands().all(|band| band.beyond.is_some());
        Joint { band, beyond, clock: clocks_apart(base, other), threshold: how.threshold, margin: how.margin }
    }

    /// The smallest difference that counts for a cost that needs nothing but its core. The clock moves all costs
    /// together, the band each one.
    pub fn least(&self) -> f64 {
        (self.band.unwrap_or(0.0) + self.clock.unwrap_or(0.0)).max(self.threshold)
    }
}

/// True if a cost was measured and depends on more than the core it ran on.
pub(super) fn needs_more_than_its_core(cost: &Cost) -> bool {
    !super::figure::is_published(cost) && (cost.cpus > 1 || !cost.follows_clock)
}

fn clocks_apart(base: &Run, other: &Run) -> Option<f64> {
    let model = &base.machine.cpu.signature;
    if model.is_empty() || *model != other.machine.cpu.signature {
        return None;
    }
    let cycles = |run: &Run, id: &str| run.cost(id, &[]).map(|cost| cost.cycles).filter(|cycles| *cycles > 0.0);
    let apart = |id: &str| Some((cycles(other, id)? / cycles(base, id)?).ln().abs().exp_m1());
    CLOCKWORK.into_iter().find_map(apart).filter(|apart| apart.is_finite())
}
