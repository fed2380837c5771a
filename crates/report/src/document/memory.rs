//! What a run says of memory: a part of `howslow explain --json`.

use analysis::memory::{Bandwidth, Demand, Level, Limit, Loaded, MemoryHierarchy, Translation, VAX, VAX_RATE};
use analysis::statistics::Interval;
use record::Doubt;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::figure::{RatioFigure, TimeFigure, all, ratio, time};

/// What a run says of memory.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryDocument<'a> {
    /// The levels found.
    pub levels: Vec<MemoryLevel<'a>>,
    /// Where they differ from what the machine declares, in sentences.
    pub disagreements: &'a [String],
    /// What address translation costs.
    pub translation: Vec<MemoryTranslation<'a>>,
    /// Bytes delivered per time.
    pub bandwidth: Vec<MemoryBandwidth<'a>>,
    /// Loads while another CPU loads memory too.
    pub loaded: Vec<MemoryLoaded<'a>>,
    /// What misses a processor can bear; null where the run does not tell.
    pub demand: Option<MemoryDemand<'a>>,
}

/// A level of the memory hierarchy.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryLevel<'a> {
    /// Its name.
    pub level: &'a str,
    /// The smallest working set that shows it, in bytes.
    pub from_bytes: u64,
    /// The largest working set that shows it, in bytes.
    pub to_bytes: u64,
    /// Its size as the machine declares it.
    pub declared_bytes: Option<u64>,
    /// A load from it.
    pub load: TimeFigure,
    /// The same in core cycles.
    pub cycles: f64,
    /// Its doubts.
    pub doubts: &'a [Doubt],
}

/// What address translation costs a load.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryTranslation<'a> {
    /// The cost's id and point.
    pub cost: &'a str,
    /// With base pages.
    pub base_pages: TimeFigure,
    /// With huge pages.
    pub huge_pages: TimeFigure,
    /// With base pages whose table entries share cache lines.
    pub packed: Option<TimeFigure>,
    /// What translation takes of it.
    pub translation: TimeFigure,
    /// Its doubts.
    pub doubts: &'a [Doubt],
}

/// Bytes delivered per time.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryBandwidth<'a> {
    /// The operation's id.
    pub operation: &'a str,
    /// The working set in bytes.
    pub set_bytes: u64,
    /// The level that it lies in.
    pub level: &'a str,
    /// CPUs that read or write together.
    pub cpus: u64,
    /// 10^9 bytes a second.
    pub gigabytes_per_second: RatioFigure,
    /// The rate over that of one CPU.
    pub times_one_cpu: Option<RatioFigure>,
    /// Its doubts.
    pub doubts: &'a [Doubt],
}

/// A load while another CPU loads memory too.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryLoaded<'a> {
    /// What the other CPU does.
    pub other_cpu: &'a str,
    /// The working set in bytes.
    pub set_bytes: u64,
    /// The load.
    pub load: TimeFigure,
    /// The load over one beside an idle CPU.
    pub times_idle: Option<RatioFigure>,
    /// Its doubts.
    pub doubts: &'a [Doubt],
}

/// What misses a processor can bear.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryDemand<'a> {
    /// Bytes that an instruction asks for.
    pub bytes_per_instruction: f64,
    /// Bytes that an access brings.
    pub bytes_per_access: f64,
    /// The level that serves the accesses.
    pub level: &'a str,
    /// The doubts of the costs.
    pub doubts: &'a [Doubt],
    /// One access.
    pub access: TimeFigure,
    /// 10^9 bytes a second, by one CPU.
    pub gigabytes_per_second: RatioFigure,
    /// The same by several CPUs together.
    pub together: Option<MemoryTogether>,
    /// By instructions per cycle.
    pub limits: Vec<MemoryLimit>,
    /// The part of the accesses' time that the paper's VAX hid.
    pub hidden_by_the_vax: f64,
}

/// The rate of several CPUs together.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryTogether {
    /// CPUs.
    pub cpus: u64,
    /// 10^9 bytes a second.
    pub gigabytes_per_second: RatioFigure,
}

/// The miss rate at which memory is the limit.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemoryLimit {
    /// Instructions per core cycle.
    pub instructions_per_cycle: f64,
    /// The same per ns.
    pub instructions_per_ns: f64,
    /// By the bandwidth of one CPU.
    pub by_bandwidth: MissRate,
    /// By the bandwidth of several CPUs together.
    pub by_bandwidth_together: Option<MissRate>,
    /// By the latency, where nothing is hidden.
    pub by_latency: MissRate,
}

/// A miss rate.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MissRate {
    /// The misses per access.
    pub miss_rate: RatioFigure,
    /// False if no miss rate reaches the limit.
    pub reached: bool,
}

impl<'a> From<&'a MemoryHierarchy> for MemoryDocument<'a> {
    fn from(it: &'a MemoryHierarchy) -> MemoryDocument<'a> {
        MemoryDocument {
            levels: all(&it.levels.found),
            disagreements: &it.levels.disagreements,
            translation: all(&it.translation),
            bandwidth: all(&it.bandwidth),
            loaded: all(&it.loaded),
            demand: it.demand.as_ref().map(|demand| MemoryDemand::of(demand, &it.limits)),
        }
    }
}

impl<'a> From<&'a Level> for MemoryLevel<'a> {
    fn from(it: &'a Level) -> MemoryLevel<'a> {
        MemoryLevel {
            level: &it.name,
            from_bytes: it.from,
            to_bytes: it.to,
            declared_bytes: it.declared,
            load: TimeFigure::from(&it.latency),
            cycles: it.cycles,
            doubts: &it.doubts,
        }
    }
}

impl<'a> From<&'a Translation> for MemoryTranslation<'a> {
    fn from(it: &'a Translation) -> MemoryTranslation<'a> {
        MemoryTranslation {
            cost: &it.name,
            base_pages: TimeFigure::from(&it.base),
            huge_pages: TimeFigure::from(&it.huge),
            packed: time(it.packed.as_ref()),
            translation: TimeFigure::from(&it.share),
            doubts: &it.doubts,
        }
    }
}

impl<'a> From<&'a Bandwidth> for MemoryBandwidth<'a> {
    fn from(it: &'a Bandwidth) -> MemoryBandwidth<'a> {
        MemoryBandwidth {
            operation: &it.operation,
            set_bytes: it.set,
            level: &it.level,
            cpus: it.cpus,
            gigabytes_per_second: RatioFigure::from(&it.rate),
            times_one_cpu: ratio(it.scaling.as_ref()),
            doubts: &it.doubts,
        }
    }
}

impl<'a> From<&'a Loaded> for MemoryLoaded<'a> {
    fn from(it: &'a Loaded) -> MemoryLoaded<'a> {
        MemoryLoaded {
            other_cpu: &it.load,
            set_bytes: it.set,
            load: TimeFigure::from(&it.latency),
            times_idle: ratio(it.slowdown.as_ref()),
            doubts: &it.doubts,
        }
    }
}

impl<'a> MemoryDemand<'a> {
    fn of(demand: &'a Demand, limits: &[Limit]) -> MemoryDemand<'a> {
        MemoryDemand {
            bytes_per_instruction: demand.bytes,
            bytes_per_access: demand.line,
            level: &demand.level,
            doubts: &demand.doubts,
            access: TimeFigure::from(&demand.latency),
            gigabytes_per_second: RatioFigure::from(&demand.maximum),
            together: demand
                .together
                .as_ref()
                .map(|(cpus, rate)| MemoryTogether { cpus: *cpus, gigabytes_per_second: RatioFigure::from(rate) }),
            limits: limits.iter().map(MemoryLimit::from).collect(),
            hidden_by_the_vax: VAX.hidden(VAX_RATE.0, VAX_RATE.1, 0.5),
        }
    }
}

impl From<&Limit> for MemoryLimit {
    fn from(limit: &Limit) -> MemoryLimit {
        MemoryLimit {
            instructions_per_cycle: limit.per_cycle,
            instructions_per_ns: limit.rate,
            by_bandwidth: MissRate::from(&limit.by_bandwidth),
            by_bandwidth_together: limit.by_bandwidth_together.as_ref().map(MissRate::from),
            by_latency: MissRate::from(&limit.by_latency),
        }
    }
}

impl From<&Interval> for MissRate {
    fn from(miss: &Interval) -> MissRate {
        MissRate { miss_rate: RatioFigure::from(miss), reached: miss.value <= 1.0 }
    }
}
