//! The paper's experiments on this machine: scripted users with less and more memory (its section 2), and with a second CPU (its
//! section 3). Sixteen and 24 MiB stand for 256 and 384 K words.
//!
//! The figures become costs of the run, so that a kept run answers too. A page fault stands as 1 ms, and a share of the CPUs' time as
//! milliseconds of each second, as the paper's do.

use record::units::counted;
use record::{Bytes, Cost, Figures, Point, Run, Value};

use super::runs::DATA;
use crate::derived::{Part, cost, net};
use crate::load::{
    Configuration, Finished, Forecasts, Judged, Measured, PageDevice, between_faults, idle_interval, mean_of, response,
};
use crate::model::Figure;
use crate::statistics::Interval;
use crate::study::definition::UserExperiment;
use crate::study::missing::why_missing;
use crate::study::table::{Cell, TableAnswer};

/// Users, and how many of them may be eligible. Multics divided its memory between the eligible, so that 28 users hardly had more
/// pages in it than three; Linux keeps the pages of those who think. Four users that think a tenth as long keep three eligible as
/// the paper's 28 did, with as much memory for each.
const USERS: u32 = 4;
const ELIGIBLE: u32 = 3;
const THINK: f64 = 0.1;
const LITTLE: u64 = 16 << 20;
const MUCH: u64 = 24 << 20;
const SECOND: f64 = 1e9;
const MS: f64 = 1e6;
/// How near a prediction is said to be, in shares of the CPUs' time.
const NEAR: f64 = 0.025;

/// What is run here.
pub(super) static EXPERIMENT: UserExperiment =
    UserExperiment { plan: "fortran", think: THINK, time_s: 18.0, settle_s: 3.0, configurations, names, costs };

/// The three places of the experiment: less memory, more memory, more memory and a second CPU.
const PLACES: [(u64, u32); 3] = [(LITTLE, 1), (MUCH, 1), (MUCH, 2)];

const CPU: Part = cost("users.fortran.cpu");
const FAULTS: Part = cost("users.fortran.faults");
const RESPONSE: Part = cost("users.fortran.response");
const IDLE: [Part; 3] = [cost("users.fortran.idle.1"), cost("users.fortran.idle.2"), cost("users.fortran.idle.3")];
const BETWEEN: [Part; 3] =
    [cost("users.fortran.between.1"), cost("users.fortran.between.2"), cost("users.fortran.between.3")];
const EXPLAINED: Part = cost("users.fortran.explained");
const MISS: Part = cost("users.fortran.miss");
const NEARBY: Part = cost("users.fortran.near");

fn configurations() -> Vec<Configuration> {
    let one = |(memory, cpus): (u64, u32)| Configuration {
        users: USERS,
        memory: Some(memory),
        cpus,
        eligible: Some(ELIGIBLE),
        device: PageDevice::Swap,
        ..Configuration::default()
    };
    PLACES.into_iter().map(one).collect()
}

/// Where a figure of a place stands in a run.
fn point(place: (u64, u32), by: &str) -> Point {
    let (memory, cpus) = place;
    Point::default()
        .with("memory", Value::Bytes(memory))
        .with("cpus", Value::Number(cpus.into()))
        .with("by", Value::Word(by.into()))
}

/// All costs of the experiment.
fn names() -> Vec<(&'static str, Point)> {
    let figures = [CPU, FAULTS, RESPONSE].into_iter().chain(IDLE);
    let mut names = Vec::new();
    for place in PLACES {
        let measured = figures.clone().chain(BETWEEN);
        names.extend(measured.map(|part| (part.term.operation, point(place, "measured"))));
    }
    for place in PLACES {
        names.extend(figures.clone().map(|part| (part.term.operation, point(place, "model"))));
    }
    names.extend([EXPLAINED, MISS, NEARBY].map(|part| (part.term.operation, Point::default())));
    names
}

/// The figures of the experiment as costs. A configuration that was not measured has none.
fn costs(forecasts: &Forecasts, all: &[Measured]) -> Vec<Cost> {
    let mut costs = Vec::new();
    let mut judged = Vec::new();
    for (place, configuration) in PLACES.into_iter().zip(configurations()) {
        if let Some(measurement) = all.iter().find(|measurement| measurement.configuration == configuration) {
            let found = measured(measurement, forecasts);
            costs.extend(found.iter().map(|(part, figure)| made(part, point(place, "measured"), *figure)));
            judged.push((place, found));
        }
        let forecast = forecasts.before.iter().find(|forecast| forecast.configuration == configuration);
        if let Some(Ok(predicted)) = forecast.map(|forecast| &forecast.predicted) {
            let interval = |figure: &dyn Fn(&Judged) -> f64| Interval {
                value: figure(&predicted.value),
                low: figure(&predicted.low),
                high: figure(&predicted.high),
            };
            let mut figures = vec![
                (CPU, interval(&|predicted| predicted.cpu_s * SECOND)),
                (FAULTS, interval(&|predicted| predicted.faults * MS)),
                (RESPONSE, interval(&|predicted| predicted.response_s * SECOND)),
            ];
            figures.extend((0..3).map(|kind| (IDLE[kind], interval(&|predicted| predicted.idle[kind] * SECOND))));
            costs.extend(figures.iter().map(|(part, figure)| made(part, point(place, "model"), *figure)));
        }
    }
    costs.extend(whole(&costs, forecasts));
    costs
}

/// What was measured of one place, in ns.
fn measured(measurement: &Measured, forecasts: &Forecasts) -> Vec<(Part, Interval)> {
    let mean = |of: fn(&Finished) -> f64, unit: f64| {
        mean_of(measurement, &forecasts.usual, of).map(|figure: Figure| figure.times(unit).interval())
    };
    let mut found = Vec::new();
    found.extend(mean(|finished| finished.user_s + finished.system_s, SECOND).map(|figure| (CPU, figure)));
    found.extend(mean(|finished| finished.major_faults, MS).map(|figure| (FAULTS, figure)));
    // The mix of the script, with the interval of batches: neighbours in a queue are not independent.
    let batches = response(&measurement.finished).mean;
    found.extend(mean(|finished| finished.response_s, SECOND).zip(batches).map(|(mean, batches)| {
        let half = mean.value * batches.half() / batches.value;
        (RESPONSE, Interval::around(mean.value, half))
    }));
    for (depth, part) in (1..).zip(BETWEEN) {
        found.extend(between_faults(measurement, depth).map(|figure| (part, figure.times(SECOND))));
    }
    let kinds: [fn(&crate::load::Idle) -> f64; 3] =
        [|idle| idle.multiprogramming, |idle| idle.non_multiprogramming, |idle| idle.zero];
    found
        .extend(IDLE.into_iter().zip(kinds).map(|(part, kind)| (part, idle_interval(measurement, kind).times(SECOND))));
    found
}

/// The figure of a part at a point.
fn figure_at(costs: &[Cost], part: Part, at: &Point) -> Option<Interval> {
    costs.iter().find(|cost| cost.operation == part.term.operation && cost.at == *at).map(net)
}

/// What follows from several places.
fn whole(costs: &[Cost], forecasts: &Forecasts) -> Vec<Cost> {
    let net_of = |part, place, by| figure_at(costs, part, &point(place, by));
    let (less, more) = (PLACES[0], PLACES[1]);
    let mut found = vec![made(&NEARBY, Point::default(), Interval::exactly(NEAR * SECOND))];
    let device = forecasts.demands.as_ref().and_then(|demands| demands.of_device(PageDevice::Swap));
    let handling = device.map(|device| device.handling_s);
    let faults = net_of(FAULTS, less, "measured").zip(net_of(FAULTS, more, "measured"));
    if let Some((handling, (before, after))) = handling.zip(faults) {
        let half = before.half().hypot(after.half());
        let saved = (before.value - after.value) / MS * handling * SECOND;
        let half = half / MS * handling * SECOND;
        found.push(made(&EXPLAINED, Point::default(), Interval::around(saved, half)));
    }
    if let Some((model, real)) = net_of(IDLE[0], more, "model").zip(net_of(IDLE[0], more, "measured")) {
        let miss = (model.value - real.value).abs();
        let half = model.half().hypot(real.half());
        let miss = Interval { value: miss, low: (miss - half).max(0.0), high: miss + half };
        found.push(made(&MISS, Point::default(), miss));
    }
    found
}

/// The experiment beside the model's prediction of it.
pub(super) fn table(run: &Run) -> TableAnswer {
    let rows = PLACES.into_iter().flat_map(|place| ["measured", "model"].map(|by| row(run, place, by)));
    DATA.table("here", rows).filled("{USERS}", &USERS.to_string()).filled("{ELIGIBLE}", &ELIGIBLE.to_string())
}

fn row(run: &Run, place: (u64, u32), by: &str) -> Vec<Cell> {
    let at = point(place, by);
    let found = |part: Part| {
        let missing = || why_missing(run, &[format!("{}{at}", part.term.operation)]);
        figure_at(&run.costs, part, &at).ok_or_else(missing)
    };
    let cell = |part: Part, shown: fn(Interval) -> Cell| found(part).map_or_else(Cell::Missing, shown);
    let (memory, cpus) = place;
    let mut cells =
        vec![Cell::Text(format!("{}, {}", Bytes(memory), counted(cpus.into(), "CPU"))), Cell::Text(by.into())];
    // The model gives one time between faults, for all depths.
    cells.extend(BETWEEN.map(|part| if by == "model" { Cell::Empty } else { cell(part, Cell::Cost) }));
    cells.push(cell(FAULTS, |figure| Cell::Number(figure.value / MS)));
    cells.extend([CPU, RESPONSE].map(|part| cell(part, Cell::Cost)));
    cells.extend(IDLE.map(|part| cell(part, |figure| Cell::Share(figure.value / SECOND))));
    cells
}

/// A figure in ns as a cost of a run.
fn made(part: &Part, at: Point, figure: Interval) -> Cost {
    let operation = part.term.operation;
    Cost {
        summary: summary(operation).into(),
        group: "scripted users".into(),
        ..Cost::given(operation, at, "interaction", Figures::given(figure.value, figure.low, figure.high))
    }
}

/// One sentence on a figure.
fn summary(operation: &str) -> &'static str {
    match operation.trim_start_matches("users.fortran.") {
        "cpu" => "processor time of an interaction of the plan fortran",
        "faults" => "page faults of an interaction that waited for a page, each as 1 ms",
        "response" => "mean response time",
        "between.1" => "processor time between page faults while one process is eligible",
        "between.2" => "processor time between page faults while two processes are eligible",
        "between.3" => "processor time between page faults while three processes are eligible",
        "idle.1" => "multiprogramming idle, as ms of each second",
        "idle.2" => "idle while fewer are eligible than may be, as ms of each second",
        "idle.3" => "idle while no process is there, as ms of each second",
        "explained" => "page faults that more memory saves, times the handling of one",
        "miss" => "by how much the model misses multiprogramming idle, as ms of each second",
        _ => "2.5 points, as ms of each second",
    }
}
