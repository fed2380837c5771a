//! A processor's demand on memory, after the notes *The VAX CPU* (RAXCO, 1986, section II): instruction rate x bytes
//! per instruction x miss rate, compared with what memory can deliver.

use record::{Doubt, Run};
use serde::Serialize;

use super::bandwidth::Bandwidth;
use super::levels::Levels;
use crate::form::{As, Form, TimeFigure};
use crate::statistics::Interval;
use crate::sums::join;

/// What memory can deliver to one CPU, and what an instruction needs from it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Demand {
    /// Bytes that an instruction needs: its own and those it refers to. The miss rate is the share of them that no
    /// cache has.
    #[serde(rename = "bytes_per_instruction")]
    pub bytes: f64,
    /// Bytes delivered by one access to memory.
    #[serde(rename = "bytes_per_access")]
    pub line: f64,
    /// The time of one access.
    #[serde(rename = "access", with = "As::<TimeFigure>")]
    pub latency: Interval,
    /// The highest rate for one CPU, in bytes per ns, which are GB/s.
    #[serde(rename = "gigabytes_per_second")]
    pub maximum: Interval,
    /// The rate of several CPUs together.
    pub together: Option<SharedRate>,
    /// The level that delivers.
    pub level: String,
    /// The doubts of the costs behind these values.
    pub doubts: Vec<Doubt>,
    /// The miss rates above which memory limits the speed, by instructions per cycle; empty if the clock is not known.
    pub limits: Vec<Limit>,
    /// The part of the accesses' time that the paper's VAX hid.
    pub hidden_by_the_vax: f64,
}

/// The rate of several CPUs together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SharedRate {
    /// Their number.
    pub cpus: u64,
    /// Bytes per ns, which are GB/s.
    #[serde(rename = "gigabytes_per_second")]
    pub rate: Interval,
}

/// The miss rates above which memory limits the speed of a processor with this rate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Limit {
    /// Instructions per cycle without misses.
    #[serde(rename = "instructions_per_cycle")]
    pub per_cycle: f64,
    /// The same per ns.
    #[serde(rename = "instructions_per_ns")]
    pub rate: f64,
    /// The miss rate at which the demand equals the highest rate of memory; above 1 if it never does.
    #[serde(with = "As::<MissRate>")]
    pub by_bandwidth: Interval,
    /// The same with several CPUs.
    #[serde(with = "As::<Option<MissRate>>")]
    pub by_bandwidth_together: Option<Interval>,
    /// The miss rate at which waiting takes as long as computing, if each miss is waited for.
    #[serde(with = "As::<MissRate>")]
    pub by_latency: Interval,
}

/// A miss rate.
#[derive(Serialize, JsonSchema)]
struct MissRate {
    /// The misses per access.
    miss_rate: Interval,
    /// False if no miss rate reaches the limit.
    reached: bool,
}

impl Form<Interval> for MissRate {
    fn of(miss: &Interval) -> MissRate {
        MissRate { miss_rate: *miss, reached: miss.value <= 1.0 }
    }
}

/// The paper's machine: 11 bytes an instruction, accesses of 64 bits that take 1.2 µs, at most 6.7 MB/s.
pub const VAX: Demand = Demand {
    bytes: 11.0,
    line: 8.0,
    latency: Interval::exactly(1200.0),
    maximum: Interval::exactly(6.7e-3),
    together: None,
    level: String::new(),
    doubts: Vec::new(),
    limits: Vec::new(),
    hidden_by_the_vax: 0.0,
};

/// Its instructions per ns: 1.2 million a second if memory does not slow it, and its real rate at a miss rate of a
/// half.
pub const VAX_RATE: (f64, f64) = (1.2e-3, 0.75e-3);

/// The numbers of instructions per cycle for which limits are shown: dependent ones, usual programs, the best of a few
/// machines.
const PER_CYCLE: [f64; 3] = [1.0, 2.0, 4.0];

impl Demand {
    /// The values of the run's largest working sets, and the paper's bytes per instruction. `None` if the run lacks
    /// them.
    pub(super) fn of(run: &Run, levels: &Levels, bandwidth: &[Bandwidth]) -> Option<Demand> {
        let last = levels.curve.last()?;
        let passes = |operation: &'static str| bandwidth.iter().filter(move |pass| pass.operation == operation);
        let read = passes("memory.read").max_by_key(|pass| pass.set)?;
        let most = passes("memory.read.cpus").filter(|pass| pass.cpus > 1).max_by_key(|pass| (pass.set, pass.cpus));
        // A pass within the caches shows nothing of memory.
        if read.set * 4 < last.set {
            return None;
        }
        let mut doubts = last.doubts.clone();
        for pass in [Some(read), most].into_iter().flatten() {
            join(&mut doubts, pass.doubts.iter().cloned());
        }
        let line = run.machine.cpu.caches.iter().filter_map(|cache| cache.line).max().unwrap_or(64);
        let mut demand = Demand {
            bytes: VAX.bytes,
            line: f64::from(line.max(1)),
            latency: last.latency,
            maximum: read.rate,
            together: most.map(|shared| SharedRate { cpus: shared.cpus, rate: shared.rate }),
            level: levels.name_of(last.set),
            doubts,
            limits: Vec::new(),
            hidden_by_the_vax: VAX.hidden(VAX_RATE.0, VAX_RATE.1, 0.5),
        };
        demand.limits = limits(run, &demand);
        Some(demand)
    }

    /// Bytes per ns that this many instructions per ns need from memory.
    pub fn needed(&self, rate: f64, miss: f64) -> f64 {
        rate * self.bytes * miss
    }

    /// Accesses to memory per instruction.
    pub fn misses(&self, miss: f64) -> f64 {
        self.bytes * miss / self.line
    }

    /// Instructions per ns of a processor that would do `rate` without misses, if it hides the share `hidden` of each
    /// access's time by computing. Never more than memory delivers.
    pub fn speed(&self, rate: f64, miss: f64, hidden: f64) -> f64 {
        let each = 1.0 / rate + (1.0 - hidden) * self.misses(miss) * self.latency.value;
        let delivered = self.bytes * miss / self.maximum.value;
        1.0 / each.max(delivered)
    }

    /// The hidden share of the accesses' time, if a processor really does `real` instructions per ns.
    pub fn hidden(&self, rate: f64, real: f64, miss: f64) -> f64 {
        1.0 - (1.0 / real - 1.0 / rate) / (self.misses(miss) * self.latency.value)
    }

    fn limit(&self, per_cycle: f64, rate: f64) -> Limit {
        let reached = |delivered: Interval, rate: f64| delivered.map(|delivered| delivered / self.needed(rate, 1.0));
        let together = self.together.as_ref();
        let at_once = self.line / (self.bytes * rate);
        Limit {
            per_cycle,
            rate,
            by_bandwidth: reached(self.maximum, rate),
            by_bandwidth_together: together.map(|shared| reached(shared.rate, rate * shared.cpus as f64)),
            by_latency: self.latency.under(at_once),
        }
    }
}

/// The limits at the run's best clock; empty if that is not known.
fn limits(run: &Run, demand: &Demand) -> Vec<Limit> {
    let cycle = run.noise.cycle_ns;
    if !cycle.is_finite() || cycle <= 0.0 {
        return Vec::new();
    }
    PER_CYCLE.iter().map(|&per_cycle| demand.limit(per_cycle, per_cycle / cycle)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_own_arithmetic_comes_out() {
        let (full, real) = VAX_RATE;
        // "The demand on memory is 6.6 million bytes per second" of 6.7: the controller is saturated.
        assert!((VAX.needed(full, 0.5) * 1e3 - 6.6).abs() < 1e-9);
        assert!((VAX.needed(full, 0.5) / VAX.maximum.value - 0.985).abs() < 1e-3);
        // Its two figures of the memory agree: 64 bits every 1.2 µs.
        assert!((VAX.line / VAX.latency.value - VAX.maximum.value).abs() < 0.05e-3);
        // "The machine will run considerably slower than 1.2 MIPS, generally about .75": between waiting for each access
        // (.60) and hiding all of them (1.2); 39 % of the waiting is hidden.
        assert!((VAX.speed(full, 0.5, 0.0) * 1e3 - 0.603).abs() < 1e-3);
        assert!((VAX.speed(full, 0.5, 1.0) * 1e3 - 1.2).abs() < 1e-9);
        let hidden = VAX.hidden(full, real, 0.5);
        assert!((hidden - 0.394).abs() < 1e-3, "{hidden}");
        assert!((VAX.speed(full, 0.5, hidden) - real).abs() < 1e-12);
    }

    #[test]
    fn a_limit_is_where_both_sides_are_equal() {
        let demand = Demand { together: Some(SharedRate { cpus: 2, rate: Interval::exactly(10e-3) }), ..VAX };
        let limit = demand.limit(1.0, 1.2e-3);
        assert!((demand.needed(limit.rate, limit.by_bandwidth.value) - demand.maximum.value).abs() < 1e-12);
        let together = limit.by_bandwidth_together.expect("two CPUs").value;
        assert!((2.0 * demand.needed(limit.rate, together) - 10e-3).abs() < 1e-12);
        assert!((demand.speed(limit.rate, limit.by_latency.value, 0.0) - limit.rate / 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_more_misses_the_slower_and_never_faster_than_memory_delivers() {
        let rates = [0.0, 0.01, 0.1, 0.5, 1.0].map(|miss| VAX.speed(1.2e-3, miss, 0.0));
        assert!(rates.windows(2).all(|pair| pair[1] < pair[0]) && (rates[0] - 1.2e-3).abs() < 1e-12);
        assert!((VAX.needed(VAX.speed(9.0, 1.0, 1.0), 1.0) - VAX.maximum.value).abs() < 1e-12);
    }
}
