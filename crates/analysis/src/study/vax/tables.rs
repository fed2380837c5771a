//! The paper's figures beside this machine's: memory by level, terminal output by size and path (its Figure 2-1), the gain of
//! each feature of the terminal, and the shares of a CPU.

use std::sync::LazyLock;

use record::{Bytes, Nanoseconds, Run};

use crate::derived::Part;
use crate::statistics::Interval;
use crate::study::data::StudyData;
use crate::study::definition::Paper;
use crate::study::missing::found;
use crate::study::rsx::rate;
use crate::study::table::{Cell, Curve, Curves, TableAnswer};

/// The memories whose times the paper prints, and what it prints besides, both in its order.
const MEMORIES: [&str; 4] = ["vax.memory.780", "vax.memory.8200", "vax.memory.8600", "vax.memory.8650"];
const SHARES: [&str; 10] = [
    "vax.instruction.alone", "vax.instruction", "vax.running", "vax.running.transfer", "vax.output.9600",
    "vax.input.9600", "vax.output.dmf", "vax.output.lat", "vax.features.off", "vax.features.on",
];

/// The words, tables and sentences of the paper.
pub(super) static DATA: LazyLock<StudyData> = LazyLock::new(|| StudyData::of(include_str!("../vax.toml")));

/// Loads by where the working set is, and interactions by the feature that they lack.
static LOADS: LazyLock<Vec<(&str, Part)>> = LazyLock::new(|| named("loads"));
static SESSIONS: LazyLock<Vec<(&str, Part)>> = LazyLock::new(|| named("sessions"));

/// Writes by path and size.
static WRITES: LazyLock<Vec<(&str, u64, Part)>> = LazyLock::new(|| {
    let write = |path, size| DATA.part(&format!("terminal.write@distance=same,path={path},size={size}"));
    let sizes = |path| [1, 64, 512, 4096].map(|size| (path, size, write(path, size)));
    PATHS.into_iter().flat_map(sizes).collect()
});
const PATHS: [&str; 3] = ["processed", "raw", "pipe"];

fn named(table: &str) -> Vec<(&'static str, Part)> {
    let rows = DATA.tables(table).flat_map(|table| &table.rows);
    rows.map(|row| (row[0].as_str(), DATA.part(&row[1]))).collect()
}

/// Every cost of this machine that the tables use.
pub(super) fn parts() -> Vec<&'static Part> {
    let loads = LOADS.iter().map(|(_, part)| part);
    loads.chain(WRITES.iter().map(|(.., part)| part)).chain(SESSIONS.iter().map(|(_, part)| part)).collect()
}

pub(super) fn tables(paper: &Paper, run: &Run) -> Vec<TableAnswer> {
    vec![memory(paper, run), output(run), features(run), shares(paper)]
}

/// A route that is one cost.
fn figure(part: &Part, run: &Run) -> Result<Interval, String> {
    found(part, run).map(|cost| part.figure(cost))
}

fn memory(paper: &Paper, run: &Run) -> TableAnswer {
    let there = MEMORIES.iter().filter_map(|id| paper.entry(id)).map(|(_, entry)| {
        let rate = entry.us.as_deref().and_then(|us| us.parse::<f64>().ok());
        let rate = rate.map_or(Cell::Unknown, |us| Cell::Rate(Bytes(entry.bytes), Nanoseconds(us * 1e3)));
        let printed = entry.us.as_ref().map(|us| format!("{us} µs"));
        vec![
            Cell::Text(entry.name.clone()),
            printed.map_or(Cell::Empty, Cell::Printed),
            Cell::Empty,
            rate,
            Cell::Doubts(vec![]),
        ]
    });
    let here = LOADS.iter().map(|(name, part)| {
        let cost = figure(part, run);
        vec![
            Cell::Text((*name).into()),
            Cell::Empty,
            Cell::cost(&cost),
            cost.map_or(Cell::Unknown, |cost| Cell::Rate(Bytes(64), Nanoseconds(cost.value))),
            Cell::doubts_of([part.find(run)]),
        ]
    });
    DATA.table("memory", there.chain(here))
}

/// The rate at which one CPU is used up, by size of a write.
fn output(run: &Run) -> TableAnswer {
    let rows = WRITES.iter().map(|(path, size, part)| {
        let cost = figure(part, run);
        vec![
            Cell::Text(format!("{} to {path}", Bytes(*size))),
            Cell::cost(&cost),
            Cell::width(&cost),
            cost.map_or(Cell::Unknown, |cost| Cell::Rate(Bytes(*size), Nanoseconds(cost.value))),
            Cell::doubts_of([part.find(run)]),
        ]
    });
    DATA.table("output", rows)
}

/// Figure 2-1: the same as curves.
pub(super) fn curves(_: &Paper, run: &Run) -> Vec<Curves> {
    let of_path = |path: &'static str| {
        let writes = WRITES.iter().filter(|(of, ..)| *of == path);
        let points = writes.filter_map(|(_, size, part)| Some((*size, rate(*size, figure(part, run).ok()?))));
        Curve { name: path, points: points.collect() }
    };
    let curves: Vec<Curve> = PATHS.map(of_path).into();
    let title = "Figure 2-1: bytes a second at which one CPU is used up, by bytes of a write".into();
    vec![Curves { name: "vax-2-1", title, curves }]
}

fn features(run: &Run) -> TableAnswer {
    let with = figure(&SESSIONS[0].1, run).ok();
    let rows = SESSIONS.iter().map(|(feature, part)| {
        let cost = figure(part, run);
        vec![
            Cell::Text(format!("without {feature}")),
            Cell::cost(&cost),
            Cell::ratio(with, cost.ok()),
            Cell::doubts_of([part.find(run)]),
        ]
    });
    DATA.table("features", rows)
}

/// What the paper says in its text.
fn shares(paper: &Paper) -> TableAnswer {
    let rows = SHARES.iter().filter_map(|id| paper.entry(id)).map(|(_, entry)| {
        let rate = entry.rate.as_ref().map(|rate| format!("{rate} a second"));
        let printed = entry.ms.as_ref().map(|ms| format!("{ms} ms")).or(rate);
        vec![Cell::Text(entry.name.clone()), Cell::Text(entry.per.clone()), printed.map_or(Cell::Empty, Cell::Printed)]
    });
    DATA.table("shares", rows)
}
