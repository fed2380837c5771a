//! The paper's tables, and what the model makes of them.

use record::Run;

use super::computed::{FITTED, decrease, full, page_wait, predicted};
use super::here;
use super::runs::{DATA, DEPTHS, DETAILED, PAIRS, PaperRun, RUNS, between, cost, fact, interactions};
use crate::model::{FaultCurve, PageSource, System, predict};
use crate::study::definition::Paper;
use crate::study::table::{Cell, TableAnswer};

const SECOND: f64 = 1e9;

pub(super) fn tables(paper: &Paper, run: &Run) -> Vec<TableAnswer> {
    vec![interactions_table(paper), memory(paper), idle(paper), handling(paper), whole(paper), here::table(run)]
}

/// A run's name as the paper prints it.
fn name(run: &str) -> Cell {
    Cell::Text(run.to_uppercase())
}

/// A number that the paper prints without a point.
fn whole_number(number: f64) -> Cell {
    Cell::Printed(format!("{number}"))
}

/// Mean think time of the script in s: what remains of its real time.
fn think_s(paper: &Paper, run: &str) -> Option<f64> {
    let real = cost(paper, run, "real")?.value / SECOND / interactions(paper);
    Some(real - cost(paper, run, "response")?.value / SECOND)
}

/// A share that may not be known.
fn share(value: Option<f64>) -> Cell {
    value.map_or(Cell::Unknown, Cell::Share)
}

fn interactions_table(paper: &Paper) -> TableAnswer {
    let each = interactions(paper);
    let row = |run: &PaperRun| {
        let printed = |text: &str| Cell::Printed(text.into());
        let cpu = cost(paper, run.name, "cpu").map(|cpu| cpu.value / SECOND / each);
        let response = paper.entry(&format!("core.{}.response", run.name)).and_then(|(_, entry)| entry.s.clone());
        vec![
            name(run.name),
            Cell::Text(run.system.into()),
            Cell::Text(run.cpus.to_string()),
            Cell::Text(run.core.to_string()),
            printed(run.printed.2),
            printed(run.printed.0),
            Cell::number(cpu),
            printed(run.printed.1),
            Cell::Number(fact(paper, run.name, "faults") / each),
            Cell::printed(response.as_ref()),
            Cell::number(think_s(paper, run.name)),
        ]
    };
    DATA.table("interactions", RUNS.iter().map(row))
}

fn memory(paper: &Paper) -> TableAnswer {
    let row = |run: &&str| {
        let number = |what: &str| whole_number(fact(paper, run, what));
        let depths = DEPTHS.map(|depth| {
            let entry = paper.entry(&format!("core.{run}.between.{depth}"));
            Cell::printed(entry.and_then(|(_, entry)| entry.ms.as_ref()))
        });
        let kinds = ["idle multiprogramming", "idle non-multiprogramming", "idle zero", "idle total"];
        let sum: f64 = kinds[..3].iter().map(|kind| fact(paper, run, kind)).sum();
        let mut cells = vec![name(run)];
        cells.extend(depths);
        cells.extend(["drum", "disk"].map(number));
        cells.extend(kinds.map(number));
        cells.push(whole_number(sum));
        cells
    };
    DATA.table("memory", DETAILED.iter().map(row))
}

/// Multiprogramming idle from the times between page faults.
fn idle(paper: &Paper) -> TableAnswer {
    let wait = page_wait(paper).map_or(f64::NAN, |wait| wait.value);
    let row = |run: &&str| {
        let measured = fact(paper, run, "idle multiprogramming") / 100.0;
        let predicted = predicted(paper, run, wait);
        vec![
            name(run),
            Cell::Share(full(paper, run)),
            Cell::Share(measured),
            share(predicted),
            match predicted {
                Some(predicted) if *run != FITTED => Cell::Number((predicted - measured) * 100.0),
                _ => Cell::Empty,
            },
            Cell::Text(if *run == FITTED { "fitted".into() } else { "predicted".into() }),
        ]
    };
    let fitted = FITTED.to_uppercase();
    DATA.table("idle", DETAILED.iter().map(row)).filled("{wait}", &format!("{wait:.1}")).filled("{run}", &fitted)
}

/// The decrease of processor time, as far as page faults explain it.
fn handling(paper: &Paper) -> TableAnswer {
    let row = |(less, more, system, printed): &(&str, &str, &str, &str)| {
        let before = cost(paper, less, "cpu").map(|cpu| cpu.value / 1e6 / interactions(paper));
        let found = decrease(paper, less, more, system);
        let number = |of: fn((f64, f64, f64)) -> f64| found.map_or(Cell::Unknown, |found| Cell::Number(of(found)));
        let handling = paper.entry(&format!("core.handling.{system}"));
        vec![
            Cell::Text((*system).into()),
            Cell::Printed((*printed).into()),
            share(found.zip(before).map(|((_, saved, _), before)| saved / before)),
            number(|found| found.1),
            number(|found| found.2),
            Cell::printed(handling.and_then(|(_, entry)| entry.ms.as_ref())),
            number(|found| found.0),
            share(found.map(|(explained, saved, _)| explained / saved)),
            number(|found| found.1 / found.2),
        ]
    };
    DATA.table("handling", PAIRS.iter().map(row))
}

/// The whole model, if every user were the script.
fn whole(paper: &Paper) -> TableAnswer {
    let row = |run: &&str| {
        let idle = fact(paper, run, "idle total") / 100.0;
        let found = scripted(paper, run);
        vec![
            name(run),
            whole_number(fact(paper, run, "users")),
            Cell::Share(1.0 - idle),
            share(found.as_ref().map(|found| 1.0 - found.cpu.idle())),
            Cell::number(cost(paper, run, "response").map(|response| response.value / SECOND)),
            Cell::number(found.as_ref().map(|found| found.response_s)),
        ]
    };
    DATA.table("whole", DETAILED.iter().map(row))
}

fn scripted(paper: &Paper, run: &str) -> Option<crate::model::SteadyState> {
    let system = PAIRS.iter().find(|(less, more, ..)| *less == run || *more == run)?.2;
    let handling_s = paper.cost(&format!("core.handling.{system}"))?.value / SECOND;
    let each = interactions(paper);
    let cpu_s = cost(paper, run, "cpu")?.value / SECOND / each;
    let work_s = cpu_s - fact(paper, run, "faults") / each * handling_s;
    let between = between(paper, run)?.map(|interval| (interval.value / 1e3).into());
    let system = System {
        users: fact(paper, run, "users") as u32,
        think_s: think_s(paper, run)?.into(),
        eligible: Some(3),
        user_s: work_s.into(),
        handling_s: handling_s.into(),
        faults: FaultCurve::ByDepth(between.to_vec()),
        page_device: PageSource { service_s: (page_wait(paper)?.value / 1e3).into(), ..PageSource::default() },
        ..System::default()
    };
    predict(&system).ok()
}
