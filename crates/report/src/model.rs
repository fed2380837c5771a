//! The page of a modelled system: the prediction by bounds, solution, simulation and measurement beside each other, then the answers.

use analysis::model::answer::{ModelAnswer, ResponseOf};
use analysis::model::questions::{Change, Resource, UsersWithin};
use analysis::model::{CpuShares, Measured, Method, Prediction, PredictionInterval, System};
use analysis::statistics::Interval;
use record::units::{percent, significant};
use record::{Bytes, Nanoseconds};

use crate::chart::{Axis, Chart, Series, Unit};
use crate::grid::{Grid, RowKind};
use crate::text::{Style, paragraph};

type Of = fn(&Prediction) -> f64;
type OfMeasured = fn(&Measured) -> Option<f64>;

/// A line of the table.
pub(crate) struct ModelRow {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) of: Of,
    pub(crate) measured: OfMeasured,
}

/// A row; times are seconds in the model and nanoseconds on the page.
const fn row(name: &'static str, unit: Unit, of: Of, measured: OfMeasured) -> ModelRow {
    ModelRow { name, unit, of, measured }
}

pub(crate) const RESPONSE_95: &str = "95 % of the responses within";

/// Every line, in order.
pub(crate) const ROWS: [ModelRow; 16] = [
    row("interactions", Unit::PerSecond, |it| it.throughput, |it| Some(it.throughput?.value)),
    row("mean response", Unit::Nanoseconds, |it| it.response_s, |it| Some(it.response_s?.value)),
    row(
        RESPONSE_95,
        Unit::Nanoseconds,
        |it| it.response_p95_s.unwrap_or(f64::NAN),
        |it| Some(it.response_p95_s?.value),
    ),
    row(
        "waiting for eligibility",
        Unit::Nanoseconds,
        |it| it.eligibility_wait_s,
        |it| Some(it.eligibility_wait_s?.value),
    ),
    row("CPU, user", Unit::Share, |it| it.cpu.user, |it| busy(it, it.user_s.value)),
    row("CPU, system", Unit::Share, |it| it.cpu.system, |it| busy(it, it.system_s.value)),
    row("CPU, page faults", Unit::Share, |it| it.cpu.faults, |it| busy(it, it.handling_s?.value)),
    row("idle, multiprogramming", Unit::Share, |it| it.cpu.multiprogramming_idle, |it| it.multiprogramming_idle),
    row(
        "idle, not multiprogramming",
        Unit::Share,
        |it| it.cpu.non_multiprogramming_idle,
        |it| it.non_multiprogramming_idle,
    ),
    row("idle, nobody there", Unit::Share, |it| it.cpu.zero_idle, |it| it.zero_idle),
    row("faults of an interaction", Unit::Count, |it| it.faults, |it| Some(it.faults.value)),
    row("CPU time between faults", Unit::Nanoseconds, |it| it.between_faults_s, between_faults),
    row("wait for a page", Unit::Nanoseconds, |it| it.page_wait_s, |it| Some(it.page_wait_s?.value)),
    row("page device busy", Unit::Share, |it| it.page_device, |it| Some(it.page_device_utilization?.value)),
    row("eligible on average", Unit::Count, |it| it.eligible, |_| None),
    row("queueing for eligibility", Unit::Count, |it| it.queued, |_| None),
];

/// The share of all CPUs that CPU seconds of an interaction are.
fn busy(it: &Measured, seconds: f64) -> Option<f64> {
    Some(it.throughput?.value * seconds / f64::from(it.configuration.cpus.max(1)))
}

fn between_faults(it: &Measured) -> Option<f64> {
    let cpu = it.user_s.value + it.system_s.value + it.handling_s.map_or(0.0, |handling| handling.value);
    (it.faults.value > 0.0).then(|| cpu / it.faults.value)
}

/// The interval of a figure.
pub(crate) fn interval(it: &PredictionInterval, of: Of) -> Interval {
    Interval { value: of(&it.value), low: of(&it.low), high: of(&it.high) }
}

/// A figure of the model in its unit.
fn told(unit: Unit, value: f64) -> String {
    match unit {
        _ if !value.is_finite() => "-".into(),
        Unit::Nanoseconds if value == 0.0 => "0 s".into(),
        Unit::Nanoseconds => Nanoseconds(value * 1e9).to_string(),
        Unit::Share if value < 5e-5 => "0 %".into(),
        Unit::Share => percent(value),
        Unit::PerSecond => format!("{} /s", significant(value)),
        _ => significant(value),
    }
}

/// `low to high`, or nothing for an exact figure.
fn range(unit: Unit, it: &Interval) -> String {
    let exact = it.high - it.low <= 1e-9 * it.value.abs();
    if exact || !it.low.is_finite() || !it.high.is_finite() {
        return String::new();
    }
    let (low, high) = (told(unit, it.low), told(unit, it.high));
    // A unit stands once where both ends have it.
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, one)), Some((_, other))) if one == other => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// The name of a solution.
pub(crate) fn method(method: Method) -> &'static str {
    match method {
        Method::Chain => "exact",
        Method::Hierarchy => "flow-equivalent server",
        Method::MeanValue => "mean values",
        Method::Simulation => "simulated",
    }
}

/// The name of a change.
pub(crate) fn change(change: Change) -> String {
    match change {
        Change::Memory(more) => format!("{} more memory", Bytes(more)),
        Change::Cpu => "another CPU".into(),
        Change::Handling => "fault handling in half the CPU time".into(),
        Change::PageDevice => "a page device twice as fast".into(),
        Change::Eligible => "one more eligible".into(),
    }
}

/// The name of a resource.
pub(crate) fn resource(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpu => "CPU",
        Resource::PageDevice => "page device",
        Resource::Memory => "memory",
        Resource::Eligible => "eligible limit",
        Resource::Other => "other waiting",
    }
}

/// The system in one or two lines.
fn head(system: &System) -> String {
    let seconds = |seconds: f64| told(Unit::Nanoseconds, seconds);
    let mut parts = vec![
        format!("{} users thinking {}", system.users, seconds(system.think_s.value)),
        system.eligible.map_or("all eligible".into(), |limit| format!("at most {limit} eligible")),
        format!("{} CPU{}", system.cpus, if system.cpus == 1 { "" } else { "s" }),
    ];
    parts.extend(system.memory_bytes.map(|bytes| Bytes(bytes).to_string()));
    let device = &system.page_device;
    if device.service_s.value + device.cpu_s.value > 0.0 {
        let name = if device.name.is_empty() {
            "a page".to_owned()
        } else {
            format!("a page from {}", record::printable(&device.name))
        };
        let mut costs = Vec::new();
        if device.service_s.value > 0.0 {
            let channels = device.channels.map_or(String::new(), |channels| format!(", {channels} at once"));
            costs.push(format!("{} of waiting{channels}", seconds(device.service_s.value)));
        }
        if device.cpu_s.value > 0.0 {
            costs.push(format!("{} of CPU", seconds(device.cpu_s.value)));
        }
        parts.push(format!("{name}: {}", costs.join(" and ")));
    }
    parts.join(", ")
}

/// The page, with charts of this width.
pub fn model(it: &ModelAnswer, width: usize, style: Style) -> String {
    let mut page = style.bold(&paragraph("", &head(&it.system))) + "\n\n";
    page += &table(it).render(style);
    if let Err(why) = &it.simulated {
        page += &(style.dim(&paragraph("  ", &format!("no simulation: {why}"))) + "\n");
    }
    page += &format!("\n{}\n", style.bold("answers"));
    for answer in answers(it) {
        page += &(paragraph("  ", &answer) + "\n");
    }
    if !it.worth.is_empty() {
        page += &format!("\n{}", worth(it).render(style));
    }
    for chart in model_charts(it).iter().filter(|(name, _)| name.starts_with("model-response")) {
        page += &format!("\n{}", chart.1.text(width));
    }
    for note in NOTES {
        page += &(style.dim(&paragraph("  ", note)) + "\n");
    }
    page
}

const NOTES: [&str; 3] = [
    "idle, multiprogramming: as many as may be are eligible, and wait; not multiprogramming: fewer are eligible; nobody there: all users think",
    "bound: no system of these demands does better, whatever the order of events (asymptotic bounds)",
    "intervals of the solution come from those of the parameters, those of the simulation from its randomness alone",
];

/// Bounds, solution, simulation and measurement.
fn table(it: &ModelAnswer) -> Grid {
    let mut grid = Grid::new("<>>>>>>>");
    let solution = method(it.prediction.value.method);
    let mut heads = vec!["", "bound", solution, "interval", "by server", "simulated", "interval"];
    heads.extend(it.measured.is_some().then_some("measured"));
    grid.add(RowKind::Heading, heads.into_iter().map(String::from).collect());
    for row in &ROWS {
        let given = row.name != RESPONSE_95;
        let solved = interval(&it.prediction, row.of);
        let simulated = it.simulated.as_ref().map(|it| interval(&it.prediction, row.of)).ok();
        let bound = match row.name {
            "interactions" => told(row.unit, it.bounds.throughput),
            "mean response" => told(row.unit, it.bounds.response_s),
            _ => String::new(),
        };
        let mut cells = vec![
            row.name.into(),
            bound,
            if given { told(row.unit, solved.value) } else { String::new() },
            range(row.unit, &solved),
            it.hierarchy.as_ref().filter(|_| given).map_or(String::new(), |it| told(row.unit, (row.of)(it))),
            simulated.map_or(String::new(), |it| told(row.unit, it.value)),
            simulated.map_or(String::new(), |it| range(row.unit, &it)),
        ];
        cells.extend(
            it.measured.as_ref().map(|it| (row.measured)(it).map_or("-".into(), |value| told(row.unit, value))),
        );
        grid.add(RowKind::Row, cells);
    }
    grid
}

/// Users within a bound, in words.
fn users(it: &UsersWithin) -> String {
    let more = if it.at_least { "at least " } else { "" };
    let interval = if it.users.low < it.users.high {
        format!(" ({} to {})", it.users.low.floor(), it.users.high.ceil())
    } else {
        String::new()
    };
    format!("{more}{}{interval}", it.users.value)
}

/// The answers in sentences.
pub(crate) fn answers(it: &ModelAnswer) -> Vec<String> {
    let mut answers = Vec::new();
    for (of, bound_s, within) in &it.within {
        let bound = told(Unit::Nanoseconds, *bound_s);
        let what = match of {
            ResponseOf::Mean => format!("a mean response within {bound}"),
            ResponseOf::P95 => format!("95 % of their responses within {bound}"),
        };
        answers.push(if within.users.high < 1.0 {
            format!("Not even one user has {what}.")
        } else {
            format!("Up to {} users have {what}.", users(within))
        });
    }
    let gains = |gain: &(Resource, f64)| format!("{} {}", resource(gain.0), percent(gain.1 / 100.0));
    let all: Vec<String> = it.bottleneck.gains.iter().filter(|(_, gain)| *gain >= 0.005).map(gains).collect();
    let limit = it.bottleneck.resource.map_or_else(
        || "No resource limits the response: 1 % more of any shortens it by less than a twentieth of a percent.".into(),
        |which| format!("What limits the response is the {}: 1 % more shortens it by", resource(which)),
    );
    answers.push(if it.bottleneck.resource.is_some() {
        format!(
            "{limit} {}.",
            all.join(", ").replacen(&format!("{} ", it.bottleneck.resource.map_or("", resource)), "", 1)
        )
    } else {
        limit
    });
    answers.push(format!(
        "From {} users on, some must wait for others, whatever the order of events.",
        significant(it.bounds.knee.max(1.0))
    ));
    let cpu: &CpuShares = &it.prediction.value.cpu;
    let device = &it.system.page_device;
    if device.service_s.value == 0.0 && it.prediction.value.faults > 0.0 {
        answers.push(format!(
            "A page costs CPU time and no waiting here: {} of the CPUs go into page faults, and none of the idle time is due to pages.",
            percent(cpu.faults)
        ));
    }
    answers
}

/// What changes are worth.
fn worth(it: &ModelAnswer) -> Grid {
    let bounded = it.worth.iter().any(|worth| worth.users.is_some());
    let mut grid = Grid::new("<>>>>>");
    let mut heads = vec!["what it is worth", "interactions", "interval", "mean response", "interval"];
    heads.extend(bounded.then_some("users within the mean"));
    grid.add(RowKind::Heading, heads.into_iter().map(String::from).collect());
    for worth in &it.worth {
        let times = |value: f64| format!("x{}", significant(value));
        let ends = |it: &Interval| range(Unit::Count, it);
        let mut cells = vec![
            change(worth.change),
            times(worth.throughput.value),
            ends(&worth.throughput),
            times(worth.response.value),
            ends(&worth.response),
        ];
        cells.extend(worth.users.as_ref().map(users));
        grid.add(RowKind::Row, cells);
    }
    grid
}

/// The curves of a system, each with the name of its file.
pub fn model_charts(it: &ModelAnswer) -> Vec<(String, Chart)> {
    let mut charts = Vec::new();
    let axes = [
        ("users", "users", Axis::linear("users", Unit::Count), &it.by_users),
        ("memory", "memory", Axis::log("memory", Unit::Bytes), &it.by_memory),
    ];
    for (name, by, x, points) in axes {
        if points.len() < 2 {
            continue;
        }
        let curve = |name: &str, of: Of, scale: f64| {
            let drawn = |it: &(f64, PredictionInterval)| (it.0, of(&it.1.value) * scale);
            let series = Series::new(name, points.iter().map(drawn).collect());
            let ends = points.iter().map(|it| (of(&it.1.low) * scale, of(&it.1.high) * scale)).collect::<Vec<_>>();
            let exact = ends.iter().all(|(low, high)| high - low <= 1e-9 * high.abs());
            if exact { series } else { series.with_intervals(ends) }
        };
        let chart = |title: String, y: Axis, series: Vec<Series>| Chart { title, x: x.clone(), y, series };
        charts.push((
            format!("model-response-by-{name}"),
            chart(
                format!("Mean response by {by}"),
                Axis::log("mean response", Unit::Nanoseconds),
                vec![curve("mean response", |it| it.response_s, 1e9)],
            ),
        ));
        charts.push((
            format!("model-throughput-by-{name}"),
            chart(
                format!("Interactions per second by {by}"),
                Axis::linear("interactions", Unit::PerSecond),
                vec![curve("interactions", |it| it.throughput, 1.0)],
            ),
        ));
        let shares: [(&str, Of); 5] = [
            ("work", |it| it.cpu.user + it.cpu.system),
            ("page faults", |it| it.cpu.faults),
            ("multiprogramming idle", |it| it.cpu.multiprogramming_idle),
            ("other idle with someone there", |it| it.cpu.non_multiprogramming_idle),
            ("nobody there", |it| it.cpu.zero_idle),
        ];
        let all = shares.map(|(name, of)| curve(name, of, 1.0));
        charts.push((
            format!("model-cpu-by-{name}"),
            chart(format!("What the CPUs do by {by}"), Axis::linear("share of the CPUs", Unit::Share), all.into()),
        ));
    }
    charts
}
