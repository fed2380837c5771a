//! One cost held against the same cost of one reference.

use record::{Cache, Cost, Doubt, Run, part_of_cache};

use crate::derived::net;
use crate::statistics::{Interval, ratio};

/// A ratio whose ends lie further apart than this factor says nothing more exact than that.
const PRECISE: f64 = 2.0;

/// So many times its reach from the ratio lies the end that must speak for an odd cost: chance takes one of many costs that far.
const FAR: f64 = 1.75;

/// The share of a figure that stands for nothing.
const NOTHING: f64 = 1e-6;

/// A cost beside the same one of a reference.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    pub reference: &'a Run,
    pub cost: &'a Cost,
    /// How many times the reference's cost this one is: in cycles if both follow the clock, else in time.
    pub times: Interval,
}

/// On which side of the references a cost lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Slower,
    Faster,
}

/// Why a cost cannot be held against a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotHeld {
    /// The reference does not have it, or quotes it by another figure.
    NoMatch,
    /// The reference has it in another version, which does other work.
    OtherVersion,
    /// The intervals, or a doubt, leave the ratio open.
    Open,
}

/// Holds a cost of a run against the same cost of a reference.
///
/// # Errors
/// The reason why there is no ratio.
pub fn hold<'a>(cost: &Cost, reference: &'a Run) -> Result<Held<'a>, NotHeld> {
    let same = |other: &&Cost| other.operation == cost.operation && other.at == cost.at;
    let other = reference.costs.iter().find(same).ok_or(NotHeld::NoMatch)?;
    if other.version != cost.version {
        return Err(NotHeld::OtherVersion);
    }
    if other.headline != cost.headline || other.cpus != cost.cpus || !is_same_set(cost, reference) {
        return Err(NotHeld::NoMatch);
    }
    if !is_reliable(cost) || !is_sound(other) {
        return Err(NotHeld::Open);
    }
    let in_cycles = cost.is_in_cycles() && other.is_in_cycles() && cost.cycles > 0.0 && other.cycles > 0.0;
    let unit = |cost: &Cost| if in_cycles { cost.cycles / cost.quoted().0 } else { 1.0 };
    let interval = |cost: &Cost| net(cost).times(unit(cost));
    // A cost that may be nothing is at most so many times the other.
    let own = interval(cost);
    let own = Interval { low: own.low.max(own.value * NOTHING), ..own };
    let times = ratio(own, interval(other)).filter(|times| times.low > 0.0 && times.high.is_finite());
    let times = times.ok_or(NotHeld::Open)?;
    Ok(Held { reference, cost: other, times })
}

/// False for a cost of a set that is a part of a cache, which is larger or smaller in the reference.
fn is_same_set(cost: &Cost, reference: &Run) -> bool {
    let word = cost.at.0.values().find_map(|value| part_of_cache(value.word()?));
    let Some(((share, level), bytes)) = word.zip(cost.tallies.get("set bytes")) else { return true };
    let is_it = |cache: &&Cache| cache.level == level && cache.kind != "instruction";
    let other = reference.machine.cpu.caches.iter().find(is_it).map(|cache| cache.size.0 as f64 * share);
    other.is_none_or(|other| (other / bytes).ln().abs() < 0.1)
}

impl Held<'_> {
    /// The ratio's end that is nearer to 1, as far from the ratio as chance brings one of many.
    pub(super) fn near_end(&self, direction: Direction) -> f64 {
        let Interval { value, low, high } = self.times;
        let end = if direction == Direction::Slower { low } else { high };
        value * (end / value).powf(FAR)
    }

    /// The ratio with as many digits as its interval carries: `1.84`, `1.8`, `7`; `None` if it is not known to better than a
    /// factor of two.
    pub fn text(&self) -> Option<String> {
        (self.times.high < PRECISE * self.times.low).then(|| rounded(self.times))
    }
}

/// A ratio with as many decimals as its interval carries: the last digit is no finer than a fifth of half the interval.
pub(super) fn rounded(times: Interval) -> String {
    let by_interval = (5.0 / times.half().max(1e-9)).log10().floor();
    let by_size = 2.0 - times.value.abs().max(1e-9).log10().floor();
    let decimals = by_interval.min(by_size).clamp(0.0, 2.0) as usize;
    format!("{:.decimals$}", times.value)
}

/// True if nothing but its interval limits what a cost says, and it is more than nothing.
pub(super) fn is_sound(cost: &Cost) -> bool {
    is_reliable(cost) && cost.net_ns.low.0 > 0.0
}

/// True if nothing but its interval limits what a cost says.
fn is_reliable(cost: &Cost) -> bool {
    let quoted = cost.quoted().0;
    let inside = cost.net_ns.low.0 <= quoted && quoted <= cost.net_ns.high.0;
    cost.has_interval() && inside && !cost.doubts.iter().any(|doubt| spoils(own(doubt)))
}

/// True if a cost was hardly undisturbed. Its interval says so, but it is no figure for others to hold theirs against.
pub(super) fn is_by_luck(cost: &Cost) -> bool {
    let luck = |doubt: &Doubt| {
        matches!(
            doubt,
            Doubt::NeverQuiet
                | Doubt::FewQuiet { .. }
                | Doubt::FewRounds { .. }
                | Doubt::FromDisturbed { .. }
                | Doubt::Interrupted { .. }
        )
    };
    cost.doubts.iter().any(|doubt| luck(own(doubt)))
}

/// The doubt itself, of whichever cost it is inherited.
fn own(doubt: &Doubt) -> &Doubt {
    if let Doubt::Inherited { doubt, .. } = doubt { own(doubt) } else { doubt }
}

/// Doubts about what the figure is of. Others, such as few rounds, widen the interval, or are notes.
fn spoils(doubt: &Doubt) -> bool {
    matches!(
        doubt,
        Doubt::NegativeNet
            | Doubt::NonLinear { .. }
            | Doubt::NotCold { .. }
            | Doubt::CoarseClock { .. }
            | Doubt::Implausible { .. }
    )
}
