//! `howslow load --json`.

pub(crate) mod forecast;
pub(crate) mod size;

use analysis::load::{
    Busy, Cliff, CliffPoint, Configuration, Depth, Experiment, FaultCost, Forecast, Forecasts, Idle, Measured, Paging,
    Response, Sums, cliffs, per_interaction, row,
};
use record::Machine;
use serde::Serialize;

use self::forecast::LoadForecast;
use super::figure::finite;

/// An experiment with scripted users.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoadMeasured<'a> {
    /// The configuration.
    pub configuration: &'a Configuration,
    /// The time measured.
    pub elapsed_s: f64,
    /// Interactions per second that did their work.
    pub throughput: f64,
    /// Interactions that had arrived and not ended when the time measured began.
    pub unfinished_before: usize,
    /// How long the oldest of those that had not ended at its end had taken; null for none.
    pub oldest_unfinished_s: Option<f64>,
    /// True if interactions arrive faster than they end, so that wait and response grow with the time measured.
    pub grows: bool,
    /// All interactions together.
    pub all: LoadResponse<'a>,
    /// Each interaction of the script.
    pub interactions: Vec<LoadResponse<'a>>,
    /// By the number of eligible processes, from none up.
    pub depths: Vec<LoadDepth>,
    /// Shares of the processors' time in which something ran.
    #[serde(flatten)]
    pub busy: Busy,
    /// howslow itself, as a share of one CPU.
    pub cpu_driver: f64,
    /// Shares in which nothing ran.
    #[serde(flatten)]
    pub idle: Idle,
    /// What the page device moved.
    #[serde(flatten)]
    pub paging: Paging,
    /// Share of the time in which the page device was busy; null if the kernel does not tell.
    pub device_busy: Option<f64>,
    /// Time in which some tasks waited for memory; null if the kernel does not tell.
    pub pressure_some_s: Option<f64>,
    /// Time in which all did.
    pub pressure_full_s: Option<f64>,
    /// Processes killed because memory ran out.
    pub killed_for_memory: u64,
    /// What a page fault costs.
    #[serde(flatten)]
    pub fault: FaultCost,
    /// Processor time by independent accounts.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Response times of a kind of interaction, in seconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoadResponse<'a> {
    /// Its name.
    pub name: &'a str,
    /// Means and percentiles.
    #[serde(flatten)]
    pub response: Response,
}

/// What happened while this number of processes was eligible.
#[derive(Debug, Serialize, JsonSchema)]
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
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoadCliff {
    /// What the configurations have in common.
    pub common: String,
    /// The largest memory first.
    pub points: Vec<CliffPoint>,
    /// The least memory, in bytes, with nine tenths of the best throughput, below which less is had; null if that is all there
    /// is, where `falls` is a number, and if the least that was measured has them, or nothing was done.
    pub holds: Option<f64>,
    /// The next smaller one.
    pub falls: Option<f64>,
    /// What the memory is missing for.
    pub cause: Option<&'static str>,
}

impl<'a> LoadDocument<'a> {
    pub fn of(experiment: &'a Experiment, forecasts: Option<&Forecasts>, machine: &'a Machine) -> LoadDocument<'a> {
        let predictions = |of: fn(&Forecasts) -> &[Forecast]| -> Vec<LoadForecast> {
            let with = |forecasts| {
                of(forecasts).iter().map(|one| LoadForecast::with(one, &experiment.measured, &forecasts.usual))
            };
            forecasts.map(|forecasts| with(forecasts).collect()).unwrap_or_default()
        };
        let measured = experiment.measured.iter();
        LoadDocument {
            machine,
            plan: &experiment.plan,
            limited_by: experiment.limited_by.as_deref(),
            configurations: measured.map(|one| LoadMeasured::of(one, &experiment.interactions)).collect(),
            cliffs: cliffs(&experiment.measured).iter().map(LoadCliff::from).collect(),
            predicted_before: predictions(|forecasts| &forecasts.before),
            predicted_by_half: predictions(|forecasts| &forecasts.half),
            model: forecasts.and_then(|of| serde_json::to_value(of.for_model(&experiment.measured)?).ok()),
            notes: &experiment.notes,
        }
    }
}

impl<'a> LoadMeasured<'a> {
    fn of(measured: &'a Measured, names: &'a [String]) -> LoadMeasured<'a> {
        let row = row(measured);
        let each = per_interaction(measured, names.len());
        LoadMeasured {
            configuration: &measured.configuration,
            elapsed_s: measured.elapsed_s,
            throughput: row.throughput,
            unfinished_before: measured.unfinished_before,
            oldest_unfinished_s: measured.unfinished.iter().map(|one| one.age_s).reduce(f64::max),
            grows: measured.grows(),
            all: LoadResponse { name: "all", response: row.response },
            interactions: names.iter().zip(each).map(|(name, response)| LoadResponse { name, response }).collect(),
            depths: measured.depths.iter().map(LoadDepth::from).collect(),
            busy: row.busy,
            cpu_driver: measured.cpu.driver_s / measured.elapsed_s.max(f64::MIN_POSITIVE),
            idle: row.idle,
            paging: measured.paging,
            device_busy: row.device,
            pressure_some_s: measured.pressure.map(|pressure| pressure.some_s),
            pressure_full_s: measured.pressure.map(|pressure| pressure.full_s),
            killed_for_memory: measured.killed_for_memory,
            fault: measured.fault,
            sums: measured.sums,
        }
    }
}

impl From<&Depth> for LoadDepth {
    fn from(depth: &Depth) -> LoadDepth {
        LoadDepth {
            elapsed_s: depth.elapsed_s,
            busy_s: depth.busy_s,
            major_faults: depth.major_faults,
            between_faults_s: depth.between_faults_s(),
        }
    }
}

impl From<&Cliff> for LoadCliff {
    fn from(cliff: &Cliff) -> LoadCliff {
        LoadCliff {
            common: Configuration { repetition: 1, ..cliff.common.clone() }.described(),
            points: cliff.points.clone(),
            holds: cliff.knee.and_then(|knee| finite(knee.holds.memory)),
            falls: cliff.knee.and_then(|knee| finite(knee.falls.memory)),
            cause: cliff.knee.map(|knee| knee.cause()),
        }
    }
}
