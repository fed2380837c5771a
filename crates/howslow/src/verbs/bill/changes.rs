//! `howslow bill A.json B.json`: what changed between two bills for a unit of work, and a gate on it.

use std::path::Path;

use analysis::bill::{BilledFigure, WorkUnit, WrittenBill, changed_figures, changes as changes_of};
use observe::Source;
use record::{Repetition, printable};
use report::{BillChanges, BillGate};

use super::args::{BillArgs, BillGrowth};
use super::place::style;
use crate::output::{self, Misuse, Outcome};

/// Longer documents are no bills.
const MOST_BYTES: u64 = 64 << 20;

/// Compares the bills of these files.
pub(super) fn changes(files: [&Path; 2], args: &BillArgs) -> anyhow::Result<Outcome> {
    let (one, other) = (read(files[0])?, read(files[1])?);
    let (text, outcome) = compared([&one, &other], false, args)?;
    output::print(&text)?;
    Ok(outcome)
}

/// What changed, as text, and how a gate ended. `paired` if the repetitions of both were alternated.
pub(super) fn compared(bills: [&WrittenBill; 2], paired: bool, args: &BillArgs) -> anyhow::Result<(String, Outcome)> {
    let repetitions = bills.map(repetitions);
    let unit = work_unit(args);
    let names = bills.map(|bill| bill.seen.what.as_str());
    let units = units(&unit, &repetitions, names)?;
    let figures = changed_figures(&repetitions[0], &repetitions[1], &unit, paired);
    let gate = gate(&args.fail_on, args.at_least).map(|gate| gate.judged(&figures));
    let ended = gate.as_ref().map(|gate| Outcome::of_gate(!gate.failed.is_empty(), gate.unjudged.is_empty()));
    let last = |side: usize| repetitions[side].last().map_or(1.0, |repetition| unit.of(side, repetition));
    let lines = [0, 1].map(|side| bills[side].lines(last(side), bills[1 - side]));
    let rows = changes_of([&lines[0], &lines[1]]);
    let view = BillChanges {
        bills: names,
        unit: unit_name(args),
        units,
        repetitions: [0, 1].map(|side| repetitions[side].len()),
        figures: &figures,
        rows: &rows,
        gate,
    };
    let text = match () {
        () if args.json => output::document_text(&view)?,
        () if args.markdown => report::bill_changes_markdown(&view),
        () => {
            let style = style(args);
            style.fitted(&report::bill_changes(&view, style))
        }
    };
    Ok((text, ended.unwrap_or(Outcome::Done)))
}

/// The runs of a bill. eBPF sees all waits, so where it saw none, nothing waited.
fn repetitions(bill: &WrittenBill) -> Vec<Repetition> {
    let sees_waits = bill.seen.source == Source::Bpf.word() && !bill.seen.numbers_alone;
    let mut all = bill.seen.all_repetitions();
    all.iter_mut().for_each(|one| one.waited_ns = one.waited_ns.or(sees_waits.then_some(0.0)));
    all
}

/// The gate on these growths; `None` if there are none.
pub(crate) fn gate(growths: &[BillGrowth], at_least: Option<f64>) -> Option<BillGate> {
    let figures = growths.iter().flat_map(|growth| growth.figures()).copied().collect();
    (!growths.is_empty()).then(|| BillGate { figures, at_least: at_least.unwrap_or(0.0) })
}

impl BillGrowth {
    /// The figures that it means.
    pub(crate) fn figures(self) -> &'static [BilledFigure] {
        match self {
            BillGrowth::Calls => &[BilledFigure::Calls],
            BillGrowth::Time => &[BilledFigure::Elapsed, BilledFigure::Cpu],
            BillGrowth::Waiting => &[BilledFigure::Waiting],
            BillGrowth::Faults => &[BilledFigure::Faults],
            BillGrowth::Switches => &[BilledFigure::Switches],
        }
    }
}

pub(super) fn work_unit(args: &BillArgs) -> WorkUnit {
    match (&args.per, args.units.as_slice()) {
        (Some(call), _) => WorkUnit::Call(call.clone()),
        (None, [both]) => WorkUnit::Given([*both; 2]),
        (None, [before, after]) => WorkUnit::Given([*before, *after]),
        _ => WorkUnit::Whole,
    }
}

/// What one is called.
pub(super) fn unit_name(args: &BillArgs) -> &str {
    args.per.as_deref().unwrap_or(if args.units.is_empty() { "command" } else { "unit" })
}

/// The mean units of each side.
fn units(unit: &WorkUnit, repetitions: &[Vec<Repetition>; 2], names: [&str; 2]) -> Result<[f64; 2], Misuse> {
    let mut units = [0.0; 2];
    for (side, all) in repetitions.iter().enumerate() {
        let each: Vec<f64> = all.iter().map(|repetition| unit.of(side, repetition)).collect();
        if let (WorkUnit::Call(call), true) = (unit, each.contains(&0.0)) {
            let made: Vec<&str> = all[0].calls.keys().take(6).map(String::as_str).collect();
            let shown = printable(&made.join(", "));
            let why = match made.is_empty() {
                true => "counted no calls; say --units N".into(),
                false => format!("has no such call, only {shown} and others; name one of them, or say --units N"),
            };
            return Err(Misuse(format!("--per {}: the bill of {} {why}", printable(call), names[side])));
        }
        units[side] = each.iter().sum::<f64>() / each.len().max(1) as f64;
    }
    Ok(units)
}

pub(super) fn read(path: &Path) -> Result<WrittenBill, Misuse> {
    let shown = output::shown(path);
    let unread = |error| Misuse(format!("cannot read the bill {shown}: {error}"));
    let text = record::read_input(path, MOST_BYTES).map_err(unread)?;
    let remedy = format!("`howslow bill -o {shown} -- COMMAND` writes one");
    WrittenBill::read(&text).map_err(|error| Misuse(format!("{shown} is no bill: {error}; {remedy}")))
}
