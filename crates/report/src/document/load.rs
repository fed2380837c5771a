//! `howslow load --json`.

mod configuration;
pub(crate) mod forecast;
pub(crate) mod size;

use analysis::load::{
    Cliff, CliffPoint, Configuration, Depth, Experiment, Forecast, Forecasts, Measured, Response, SHARES, cliffs,
    per_interaction, response, row,
};
use analysis::statistics::Interval;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use record::Machine;

use self::configuration::LoadConfiguration;
use self::forecast::LoadForecast;
use super::figure::finite;

/// An experiment with scripted users.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadDocument<'a> {
    /// This machine.
    pub machine: &'a Machine,
    /// The plan's name.
    pub plan: &'a str,
    /// How limits were set; null if there were none.
    pub limited_by: Option<&'a str>,
    /// What was measured, in the order in which it ran.
    pub configurations: Vec<LoadMeasured<'a>>,
    /// Where throughput breaks off as memory shrinks, for each set of configurations that differ in memory alone.
    pub cliffs: Vec<LoadCliff>,
    /// Predictions made from one user alone before the configurations ran, in their order; empty unless asked for.
    pub predicted_before: Vec<LoadForecast>,
    /// Predictions of every second configuration, made from the others; empty unless asked for.
    pub predicted_by_half: Vec<LoadForecast>,
    /// The measured demands as `howslow model` reads them; null unless predictions were asked for.
    pub model: Option<serde_json::Value>,
    /// What could not be had here, in whole sentences.
    pub notes: &'a [String],
}

/// What was counted in one configuration.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadMeasured<'a> {
    /// The configuration.
    pub configuration: LoadConfiguration,
    /// The time measured.
    pub elapsed_s: f64,
    /// Interactions per second that did their work.
    pub throughput: f64,
    /// All interactions together.
    pub all: LoadResponse<'a>,
    /// Each interaction of the script.
    pub interactions: Vec<LoadResponse<'a>>,
    /// By the number of eligible processes, from none up.
    pub depths: Vec<LoadDepth>,
    /// Shares of the processors' time: users' programs.
    pub cpu_user: f64,
    /// The kernel for them, without page faults.
    pub cpu_system: f64,
    /// Page faults: their number times what one costs.
    pub cpu_faults: f64,
    /// Everything else that ran.
    pub cpu_other: f64,
    /// howslow itself, as a share of one CPU.
    pub cpu_driver: f64,
    /// Multiprogramming idle: all processes that may be eligible are, and wait.
    pub idle_multiprogramming: f64,
    /// Fewer are eligible, and all of them wait.
    pub idle_non_multiprogramming: f64,
    /// No process is there.
    pub idle_zero: f64,
    /// Pages from swap.
    pub pages_in: f64,
    /// Pages to swap.
    pub pages_out: f64,
    /// Pages of files that had to be read again.
    pub file_refaults: f64,
    /// Pages from swap that had left shortly before.
    pub anonymous_refaults: f64,
    /// Share of the time in which the page device was busy; null if the kernel does not tell.
    pub device_busy: Option<f64>,
    /// Time in which some tasks waited for memory; null if the kernel does not tell.
    pub pressure_some_s: Option<f64>,
    /// Time in which all did.
    pub pressure_full_s: Option<f64>,
    /// Processes killed because memory ran out.
    pub killed_for_memory: u64,
    /// What a page fault that reads costs in processor time; 0 without a page device.
    pub major_fault_s: f64,
    /// What the first touch of a page costs.
    pub minor_fault_s: f64,
    /// Processor time by the reports of all interactions, begin and end included.
    pub reported_cpu_s: f64,
    /// The same by wait4.
    pub waited_cpu_s: f64,
    /// The same by the control group; null if there is none.
    pub group_cpu_s: Option<f64>,
}

/// Response times of a kind of interaction, in seconds.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadResponse<'a> {
    /// Its name.
    pub name: &'a str,
    /// Interactions that ended.
    pub count: usize,
    /// Those that failed, were killed or hung.
    pub failed: usize,
    /// The mean; null for none.
    pub mean_s: Option<LoadFigure>,
    /// Percentiles.
    pub percentiles: Vec<LoadPercentile>,
    /// Mean wait for eligibility.
    pub wait_s: f64,
    /// Mean processor time in user mode.
    pub user_s: f64,
    /// Mean processor time in the kernel.
    pub system_s: f64,
    /// Mean number of page faults without a read.
    pub minor_faults: f64,
    /// Mean number of page faults that waited for a page.
    pub major_faults: f64,
}

/// A figure with its 95 % interval, without ends where too few values support one.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadFigure {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// A percentile of the response times.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadPercentile {
    /// From 0 to 1.
    pub share: f64,
    /// In seconds; null for no interaction.
    pub response_s: Option<LoadFigure>,
}

/// What happened while this number of processes was eligible.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadDepth {
    /// For how long.
    pub elapsed_s: f64,
    /// Processor time that the users took.
    pub busy_s: f64,
    /// Page faults that waited for a page.
    pub major_faults: f64,
    /// Mean processor time between two of them; null for none.
    pub between_faults_s: Option<f64>,
}

/// Throughput and response as memory shrinks.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadCliff {
    /// What the configurations have in common.
    pub common: String,
    /// The largest memory first.
    pub points: Vec<LoadCliffPoint>,
    /// The least memory, in bytes, with nine tenths of the best throughput; null if all have it, or if it is all there is.
    pub holds: Option<f64>,
    /// The next smaller one.
    pub falls: Option<f64>,
    /// What the memory is missing for.
    pub cause: Option<&'static str>,
}

/// One amount of memory.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadCliffPoint {
    /// In bytes; null for all there is.
    pub memory: Option<f64>,
    /// Interactions per second.
    pub throughput: f64,
    /// Mean response in seconds; null for none.
    pub response_s: Option<f64>,
    /// Pages per second from swap.
    pub swapped_in_per_s: f64,
    /// Pages of files per second that were read again.
    pub refaulted_per_s: f64,
    /// The share that failed.
    pub failed: f64,
}

impl<'a> LoadDocument<'a> {
    /// The document of an experiment.
    pub fn of(it: &'a Experiment, forecasts: Option<&Forecasts>, machine: &'a Machine) -> LoadDocument<'a> {
        let told = |of: fn(&Forecasts) -> &[Forecast]| -> Vec<LoadForecast> {
            let with =
                |forecasts| of(forecasts).iter().map(|one| LoadForecast::with(one, &it.measured, &forecasts.usual));
            forecasts.map(|forecasts| with(forecasts).collect()).unwrap_or_default()
        };
        LoadDocument {
            machine,
            plan: &it.plan,
            limited_by: it.limited_by.as_deref(),
            configurations: it.measured.iter().map(|measured| LoadMeasured::of(measured, &it.interactions)).collect(),
            cliffs: cliffs(&it.measured).iter().map(LoadCliff::from).collect(),
            predicted_before: told(|it| &it.before),
            predicted_by_half: told(|it| &it.half),
            model: forecasts.and_then(|of| serde_json::to_value(of.for_model(&it.measured)?).ok()),
            notes: &it.notes,
        }
    }
}

impl<'a> LoadMeasured<'a> {
    fn of(it: &Measured, names: &'a [String]) -> LoadMeasured<'a> {
        let row = row(it);
        let each = per_interaction(it, names.len());
        LoadMeasured {
            configuration: LoadConfiguration::from(&it.configuration),
            elapsed_s: it.elapsed_s,
            throughput: row.throughput,
            all: LoadResponse::of("all", &response(&it.finished)),
            interactions: names.iter().zip(&each).map(|(name, response)| LoadResponse::of(name, response)).collect(),
            depths: it.depths.iter().map(LoadDepth::from).collect(),
            cpu_user: row.busy.user,
            cpu_system: row.busy.system,
            cpu_faults: row.busy.faults,
            cpu_other: row.busy.other,
            cpu_driver: it.cpu.driver_s / it.elapsed_s.max(f64::MIN_POSITIVE),
            idle_multiprogramming: row.idle.multiprogramming,
            idle_non_multiprogramming: row.idle.non_multiprogramming,
            idle_zero: row.idle.zero,
            pages_in: it.paging.pages_in,
            pages_out: it.paging.pages_out,
            file_refaults: it.paging.file_refaults,
            anonymous_refaults: it.paging.anonymous_refaults,
            device_busy: row.device,
            pressure_some_s: it.pressure.map(|it| it.some_s),
            pressure_full_s: it.pressure.map(|it| it.full_s),
            killed_for_memory: it.killed_for_memory,
            major_fault_s: it.fault.major_s,
            minor_fault_s: it.fault.minor_s,
            reported_cpu_s: it.sums.reported_s,
            waited_cpu_s: it.sums.waited_s,
            group_cpu_s: it.sums.group_s,
        }
    }
}

impl<'a> LoadResponse<'a> {
    fn of(name: &'a str, it: &Response) -> LoadResponse<'a> {
        let percentile =
            |(share, figure): (&f64, &Option<Interval>)| LoadPercentile { share: *share, response_s: figure.map(told) };
        LoadResponse {
            name,
            count: it.count,
            failed: it.failed,
            mean_s: it.mean.map(told),
            percentiles: SHARES.iter().zip(&it.percentiles).map(percentile).collect(),
            wait_s: it.wait_s,
            user_s: it.user_s,
            system_s: it.system_s,
            minor_faults: it.minor_faults,
            major_faults: it.major_faults,
        }
    }
}

fn told(it: Interval) -> LoadFigure {
    let known = it.high.is_finite();
    LoadFigure { value: it.value, low: known.then_some(it.low), high: finite(it.high) }
}

impl From<&Depth> for LoadDepth {
    fn from(it: &Depth) -> LoadDepth {
        LoadDepth {
            elapsed_s: it.elapsed_s,
            busy_s: it.busy_s,
            major_faults: it.major_faults,
            between_faults_s: (it.major_faults > 0.0).then(|| it.busy_s / it.major_faults),
        }
    }
}

impl From<&Cliff> for LoadCliff {
    fn from(it: &Cliff) -> LoadCliff {
        LoadCliff {
            common: Configuration { repetition: 1, ..it.common.clone() }.told(),
            points: it.points.iter().map(LoadCliffPoint::from).collect(),
            holds: it.knee.and_then(|knee| finite(knee.holds.memory)),
            falls: it.knee.and_then(|knee| finite(knee.falls.memory)),
            cause: it.knee.map(|knee| knee.cause()),
        }
    }
}

impl From<&CliffPoint> for LoadCliffPoint {
    fn from(it: &CliffPoint) -> LoadCliffPoint {
        LoadCliffPoint {
            memory: finite(it.memory),
            throughput: it.throughput,
            response_s: it.response_s,
            swapped_in_per_s: it.swapped_in_per_s,
            refaulted_per_s: it.refaulted_per_s,
            failed: it.failed,
        }
    }
}
