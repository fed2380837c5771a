//! The page of a modelled system: the prediction by bounds, solution, simulation and measurement beside each other, then the answers.

mod charts;
mod fitted;
mod row;

use analysis::model::answer::{ModelAnswer, ResponseOf};
use analysis::model::questions::{Resource, SystemChange, UsersWithin};
use analysis::model::{CpuShares, Method, System};
use analysis::statistics::Interval;
use record::Bytes;
use record::units::{counted, percent, significant};

use crate::chart::Unit;
use crate::grid::Grid;
use crate::text::Style;

pub use charts::model_charts;
pub(crate) use row::{ModelRow, ROWS, interval};
use row::{in_unit, range};

/// The name of a solution.
pub(crate) fn method(method: Method) -> &'static str {
    match method {
        Method::Chain => "exact",
        Method::Hierarchy => "flow-equivalent server",
        Method::Simulation => "simulated",
    }
}

/// The name of a change.
pub(crate) fn change(change: SystemChange) -> String {
    match change {
        SystemChange::Memory(more) => format!("{} more memory", Bytes(more)),
        SystemChange::Cpu => "another CPU".into(),
        SystemChange::Handling => "fault handling in half the CPU time".into(),
        SystemChange::PageDevice => "a page device twice as fast".into(),
        SystemChange::Eligible => "one more eligible".into(),
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
    let seconds = |seconds: f64| in_unit(Unit::Nanoseconds, seconds);
    let mut parts = vec![
        format!("{} thinking {}", counted(system.users.into(), "user"), seconds(system.think_s.value)),
        system.eligible.map_or("all eligible".into(), |limit| format!("at most {limit} eligible")),
        counted(system.cpus.into(), "CPU"),
    ];
    parts.extend(system.memory_bytes.map(|bytes| Bytes(bytes).to_string()));
    let device = &system.page_device;
    if device.service_s.value + device.cpu_s.value > 0.0 {
        let from = if device.name.is_empty() { "" } else { &format!(" from {}", record::printable(&device.name)) };
        let mut costs = Vec::new();
        if device.service_s.value > 0.0 {
            let channels = device.channels.map_or(String::new(), |channels| format!(", {channels} at once"));
            costs.push(format!("{} of waiting{channels}", seconds(device.service_s.value)));
        }
        if device.cpu_s.value > 0.0 {
            costs.push(format!("{} of CPU", seconds(device.cpu_s.value)));
        }
        parts.push(format!("a page{from}: {}", costs.join(" and ")));
    }
    parts.extend(crowding(system));
    parts.join(", ")
}

/// What each further eligible interaction adds to a fault; `None` for nothing.
fn crowding(system: &System) -> Option<String> {
    let shares = [(system.handling_crowding.value, "handling"), (system.page_device.crowding.value, "waiting")];
    let more = shares.into_iter().filter(|(share, _)| *share > 0.0);
    let more: Vec<String> = more.map(|(share, what)| format!("{} more {what}", percent(share))).collect();
    (!more.is_empty()).then(|| format!("for each further eligible {}", more.join(" and ")))
}

/// The page, with charts of this width.
pub fn model(answer: &ModelAnswer, width: usize, style: Style) -> String {
    let mut page = style.headline(&head(&answer.system)) + "\n";
    page += &table(answer).render(style);
    page += &style.asides("  ", answer.simulated.as_ref().err().map(|why| format!("no simulation: {why}")));
    if let Some(fit) = &answer.fit {
        page += &format!("\n{}", fitted::fitted(fit, style));
    }
    page += &style.title("answers");
    page += &style.paragraphs("  ", answers(answer));
    if !answer.worth.is_empty() {
        page += &format!("\n{}", worth(answer).render(style));
    }
    for chart in model_charts(answer).iter().filter(|(name, _)| name.starts_with("model-response")) {
        page += &format!("\n{}", chart.1.text(width));
    }
    page + &style.asides("  ", NOTES)
}

const NOTES: [&str; 3] = [
    "idle, multiprogramming: as many as may be are eligible, and wait; not multiprogramming: fewer are eligible; nobody there: all users think",
    "bound: no system of these demands does better, whatever the order of events (asymptotic bounds)",
    "intervals of the solution come from those of the parameters, those of the simulation from its randomness alone",
];

/// Bounds, solution, simulation and measurement.
fn table(answer: &ModelAnswer) -> Grid {
    let mut grid = Grid::new("<>>>>>>>", [vec![1], vec![6], vec![4]]);
    let solution = method(answer.prediction.value.method);
    let mut heads = vec!["", "bound", solution, "interval", "by server", "simulated", "interval"];
    heads.extend(answer.measured.is_some().then_some("measured"));
    grid.heading(heads);
    for row in &ROWS {
        let text = |value: Option<f64>| value.map_or_else(String::new, |value| in_unit(row.unit, value));
        let figure = |figure: Option<Interval>| {
            [text(figure.map(|of| of.value)), figure.map_or_else(String::new, |of| range(row.unit, &of))]
        };
        let [solved, solved_range] = figure(row.solved(answer));
        let [simulated, simulated_range] = figure(row.simulated(answer));
        let (bound, by_server) = (text(row.bound(answer)), text(row.by_server(answer)));
        let mut cells = vec![row.name.into(), bound, solved, solved_range, by_server, simulated, simulated_range];
        if answer.measured.is_some() {
            cells.push(row.measured(answer).map_or_else(|| "-".into(), |value| in_unit(row.unit, value)));
        }
        grid.row(cells);
    }
    grid
}

fn users(within: &UsersWithin) -> String {
    let more = if within.at_least { "at least " } else { "" };
    let interval = if within.users.low < within.users.high {
        format!(" ({} to {})", within.users.low.floor(), within.users.high.ceil())
    } else {
        String::new()
    };
    format!("{more}{}{interval}", within.users.value)
}

/// The answers in sentences.
pub(crate) fn answers(answer: &ModelAnswer) -> Vec<String> {
    let mut answers = Vec::new();
    for (of, bound_s, within) in &answer.within {
        let bound = in_unit(Unit::Nanoseconds, *bound_s);
        let what = match of {
            ResponseOf::Mean => format!("a mean response within {bound}"),
            ResponseOf::P95 => format!("95 % of their responses within {bound}"),
        };
        answers.push(if within.users.high < 1.0 {
            format!("Not even one user has {what}.")
        } else {
            let have = if within.users.value == 1.0 { "user has" } else { "users have" };
            format!("Up to {} {have} {what}.", users(within))
        });
    }
    let gains = answer.bottleneck.gains.iter().filter(|(_, gain)| *gain >= 0.005);
    let all: Vec<String> =
        gains.map(|(which, gain)| format!("of {} {}", resource(*which), percent(gain / 100.0))).collect();
    answers.push(match answer.bottleneck.resource {
        None => {
            "No resource limits the response: 1 % more of any shortens it by less than a twentieth of a percent.".into()
        }
        Some(which) => {
            let (which, all) = (resource(which), all.join(", "));
            format!("What limits the response is the {which}. How much 1 % more shortens it: {all}.")
        }
    });
    let knee = significant(answer.bounds.knee.max(1.0));
    answers.push(format!("From {knee} users on, some must wait for others, whatever the order of events."));
    let cpu: &CpuShares = &answer.prediction.value.cpu;
    let device = &answer.system.page_device;
    if device.service_s.value == 0.0 && answer.prediction.value.faults > 0.0 {
        answers.push(format!(
            "A page costs CPU time and no waiting here: {} of the CPUs go into page faults, and none of the idle time is due to pages.",
            percent(cpu.faults)
        ));
    }
    answers
}

fn worth(answer: &ModelAnswer) -> Grid {
    let bounded = answer.worth.iter().any(|worth| worth.users.is_some());
    let mut grid = Grid::new("<>>>>>", [vec![4], vec![2]]);
    let mut heads = vec!["what it is worth", "interactions", "interval", "mean response", "interval"];
    heads.extend(bounded.then_some("users within the mean"));
    grid.heading(heads);
    for worth in &answer.worth {
        let times = |value: f64| format!("x{}", significant(value));
        let ends = |interval: &Interval| range(Unit::Count, interval);
        let mut cells = vec![
            change(worth.change),
            times(worth.throughput.value),
            ends(&worth.throughput),
            times(worth.response.value),
            ends(&worth.response),
        ];
        cells.extend(worth.users.as_ref().map(users));
        grid.row(cells);
    }
    grid
}
