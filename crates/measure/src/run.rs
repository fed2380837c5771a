//! Measures a plan: the survey, the search for quiet moments, the stop rule, the budget; and makes the run of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Instant;

use jiff::Timestamp;
use operation::{Clock, Item};
use record::{Cost, Noise, Run, SCHEMA, Settings, Skip, Term};

use crate::accounts::Accounts;
use crate::entry::{ItemProgress, Purpose};
use crate::error::MeasureError;
use crate::launcher::Pool;
use crate::plan::{Measurement, Plan, Progress};
use crate::quiet::Quietness;
use crate::replay::{self, NOT_RECORDED, Rounds};
use crate::result;
use crate::schedule::Schedule;
use crate::scratch::Scratch;
use crate::signals::{Ended, Signals};
use crate::speed::Checker;

/// Measures, or replays a recorded run. This function forks: call it while the process has one thread.
///
/// # Errors
/// If nothing can be measured at all. Problems of a single operation are in the result.
pub fn measure(plan: Plan<'_>, on_progress: &mut dyn FnMut(Progress)) -> Result<Measurement, MeasureError> {
    let (began, started) = (Timestamp::now(), Instant::now());
    let checker = match plan.recorded {
        Some(Run { noise, .. }) => Checker::recorded(Clock::recorded(noise.clock_ns, noise.clock_step_ns)),
        None => Checker::calibrate(Clock::calibrate()),
    };
    let accounts = Accounts::now();
    let mut entries = entries(&plan)?;
    let items: Vec<Item> = entries.iter().map(|entry| entry.item.clone()).collect();
    let signals = Signals::watch();
    let scratch = Scratch::make(plan.scratch_root)?;
    let rounds = match plan.recorded {
        Some(run) => Rounds::recorded(run, &items),
        None => Rounds::Taken(Pool::start(&items, checker, scratch.path(), plan.program)?),
    };
    for (_, entry) in entries.iter_mut().enumerate().filter(|(number, _)| !rounds.has_more(*number)) {
        entry.skip = Some((NOT_RECORDED.into(), String::new()));
    }
    let Settings { cpu, tolerance, precision, .. } = plan.settings;
    let quietness = match plan.recorded {
        Some(run) => Quietness::recorded(checker, run.noise.best_width_cycles, tolerance),
        None => Quietness::open(checker, cpu, plan.width, tolerance)?,
    };
    let mut schedule = Schedule {
        entries,
        rounds,
        quietness,
        clock: checker.clock,
        settings: &plan.settings,
        started,
        on_progress,
        signals: &signals,
        check: plan.check,
        crosses: plan.registry.crosses,
        tailed: plan.tailed,
        paired: if plan.recorded.is_some() { 0 } else { plan.paired },
    };
    let ended = schedule.work();
    schedule.judge();
    let more = schedule.more();
    let Schedule { entries, rounds, quietness, .. } = schedule;
    let launchers = rounds.launchers();
    drop(rounds);
    drop(scratch);
    let interrupted = match ended {
        Ok(()) => signals.end(),
        Err(Ended::Signal(signal)) => Some(signal),
        Err(Ended::Broken(error)) => return Err(error),
    };
    let (costs, skipped, noise) = result::assemble(entries, &quietness, checker.clock, precision);
    let mut noise = Noise { more, launchers, ..noise };
    if let Some(accounts) = accounts {
        accounts.close(&mut noise);
    }
    let run = finished(plan, began, costs, skipped, noise);
    Ok(Measurement { run, width: quietness.alone(), interrupted })
}

/// The run: its costs under their headings, in the order of the registry.
fn finished(plan: Plan<'_>, began: Timestamp, mut costs: Vec<Cost>, skipped: Vec<Skip>, noise: Noise) -> Run {
    costs.iter_mut().for_each(|cost| cost.group = (plan.registry.heading)(&cost.operation).into());
    // Baselines are measured after the wanted operations.
    costs.sort_by_cached_key(|cost| (plan.registry.position)(&cost.operation));
    let mut run = Run {
        schema: SCHEMA.into(),
        id: run_id(began),
        started: format!("{began:.3}"),
        finished: format!("{:.3}", Timestamp::now()),
        howslow: env!("CARGO_PKG_VERSION").into(),
        build: plan.program.map(fingerprint).unwrap_or_default(),
        machine: plan.machine,
        settings: plan.settings,
        noise,
        costs,
        skipped,
        ..Run::default()
    };
    if let Some(recorded) = plan.recorded {
        replay::complete(&mut run, recorded);
    }
    run.note_units();
    run
}

/// A fingerprint of a program's file: its length and CRC-32; empty if the file cannot be read.
fn fingerprint(program: &Path) -> String {
    let read = || -> io::Result<String> {
        let (mut file, mut buffer, mut length, mut sum) =
            (File::open(program)?, [0; 64 << 10], 0, crc32fast::Hasher::new());
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(format!("{length:08x}{:08x}", sum.finalize())),
                count => {
                    sum.update(&buffer[..count]);
                    length += count as u32;
                }
            }
        }
    };
    read().unwrap_or_default()
}

/// The id of a run: its start time and four random letters.
pub fn run_id(started: Timestamp) -> String {
    let letters: String = (0..4).map(|_| fastrand::lowercase()).collect();
    format!("{}-{letters}", started.strftime("%Y%m%d-%H%M%S"))
}

/// The items, the operations that their terms name, and twins of a few items for the A/A band.
fn entries(plan: &Plan<'_>) -> Result<Vec<ItemProgress>, MeasureError> {
    let mut entries: Vec<ItemProgress> = plan
        .items
        .iter()
        .map(|item| ItemProgress::new(item.operation, item.point.clone(), Purpose::Requested))
        .collect();
    let mut index = 0;
    while index < entries.len() {
        let ItemProgress { item, .. } = &entries[index];
        let terms: Vec<Term> = item.operation.terms.iter().map(|term| term.resolve(&item.point)).collect();
        let id = item.operation.id;
        for term in terms {
            if entries.iter().any(|entry| entry.is(&term)) {
                continue;
            }
            let operation = (plan.registry.find)(&term.operation)
                .ok_or_else(|| MeasureError::Term { operation: id.into(), term: term.operation.clone() })?;
            entries.push(ItemProgress::new(operation, term.at.clone(), Purpose::Term));
        }
        index += 1;
    }
    // Beside work on purpose no batch is undisturbed.
    entries.iter_mut().for_each(|entry| entry.has_load = !plan.settings.beside.is_empty());
    if plan.recorded.is_none() {
        entries.extend(twins(&entries[..plan.items.len()]));
    }
    Ok(entries)
}

/// Second measurements of a few items spread over the list. More of them cost time, fewer say little. Items that wait
/// for another CPU or a device, or use memory shared with other tenants, are excluded: their scatter is no property of
/// howslow.
fn twins(requested: &[ItemProgress]) -> Vec<ItemProgress> {
    const MOST: usize = 10;
    const LEAST: usize = 5;
    let own: Vec<usize> = (0..requested.len())
        .filter(|&index| requested[index].wants_quiet() && requested[index].follows_clock())
        .collect();
    if own.len() < LEAST {
        return Vec::new();
    }
    let twins = own.len().min(MOST);
    let step = own.len() / twins;
    let twin = |&first: &usize| {
        let Item { operation, point } = requested[first].item.clone();
        ItemProgress::new(operation, point, Purpose::Twin(first))
    };
    own.iter().skip(step / 2).step_by(step).take(twins).map(twin).collect()
}
