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
pub(crate) use row::{ModelRow, RESPONSE_95, ROWS, interval};
use row::{range, told};

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
    let seconds = |seconds: f64| told(Unit::Nanoseconds, seconds);
    let mut parts = vec![
        format!("{} users thinking {}", system.users, seconds(system.think_s.value)),
        system.eligible.map_or("all eligible".into(), |limit| format!("at most {limit} eligible")),
        counted(system.cpus.into(), "CPU"),
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
    parts.extend(crowding(system));
    parts.join(", ")
}

/// What each further eligible interaction adds to a fault; `None` for nothing.
fn crowding(system: &System) -> Option<String> {
    let shares = [(system.handling_crowding.value, "handling"), (system.page_device.crowding.value, "waiting")];
    let more: Vec<String> = shares
        .into_iter()
        .filter(|(share, _)| *share > 0.0)
        .map(|(share, what)| format!("{} more {what}", percent(share)))
        .collect();
    (!more.is_empty()).then(|| format!("for each further eligible {}", more.join(" and ")))
}

/// The page, with charts of this width.
pub fn model(it: &ModelAnswer, width: usize, style: Style) -> String {
    let mut page = style.bold(&style.paragraph("", &head(&it.system))) + "\n\n";
    page += &table(it).render(style);
    if let Err(why) = &it.simulated {
        page += &(style.dim(&style.paragraph("  ", &format!("no simulation: {why}"))) + "\n");
    }
    if let Some(fit) = &it.fit {
        page += &format!("\n{}", fitted::fitted(fit, style));
    }
    page += &format!("\n{}\n", style.bold("answers"));
    page += &style.paragraphs("  ", answers(it));
    if !it.worth.is_empty() {
        page += &format!("\n{}", worth(it).render(style));
    }
    for chart in model_charts(it).iter().filter(|(name, _)| name.starts_with("model-response")) {
        page += &format!("\n{}", chart.1.text(width));
    }
    page += &style.asides("  ", NOTES);
    page
}

const NOTES: [&str; 3] = [
    "idle, multiprogramming: as many as may be are eligible, and wait; not multiprogramming: fewer are eligible; nobody there: all users think",
    "bound: no system of these demands does better, whatever the order of events (asymptotic bounds)",
    "intervals of the solution come from those of the parameters, those of the simulation from its randomness alone",
];

/// Bounds, solution, simulation and measurement.
fn table(it: &ModelAnswer) -> Grid {
    let mut grid = Grid::new("<>>>>>>>", [vec![1], vec![6], vec![4]]);
    let solution = method(it.prediction.value.method);
    let mut heads = vec!["", "bound", solution, "interval", "by server", "simulated", "interval"];
    heads.extend(it.measured.is_some().then_some("measured"));
    grid.heading(heads);
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
        grid.row(cells);
    }
    grid
}

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
    let gains = it.bottleneck.gains.iter().filter(|(_, gain)| *gain >= 0.005);
    let all: Vec<String> =
        gains.map(|(which, gain)| format!("of {} {}", resource(*which), percent(gain / 100.0))).collect();
    answers.push(match it.bottleneck.resource {
        None => {
            "No resource limits the response: 1 % more of any shortens it by less than a twentieth of a percent.".into()
        }
        Some(which) => format!(
            "What limits the response is the {}. How much 1 % more shortens it: {}.",
            resource(which),
            all.join(", ")
        ),
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

fn worth(it: &ModelAnswer) -> Grid {
    let bounded = it.worth.iter().any(|worth| worth.users.is_some());
    let mut grid = Grid::new("<>>>>>", [vec![4], vec![2]]);
    let mut heads = vec!["what it is worth", "interactions", "interval", "mean response", "interval"];
    heads.extend(bounded.then_some("users within the mean"));
    grid.heading(heads);
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
        grid.row(cells);
    }
    grid
}
