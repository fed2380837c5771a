//! Measures a plan: the survey, the search for quiet moments, the stop rule, the budget.

use std::time::Instant;

use operation::{Clock, Item};
use record::Term;

use crate::accounts::Accounts;
use crate::entry::{ItemProgress, Purpose};
use crate::error::MeasureError;
use crate::launcher::Pool;
use crate::plan::{Measurement, Plan, Progress};
use crate::quiet::Quietness;
use crate::result;
use crate::schedule::Schedule;
use crate::scratch::Scratch;
use crate::signals::{Ended, Signals};
use crate::speed::Checker;

/// Measures. This function forks: call it while the process has one thread.
///
/// # Errors
/// If nothing can be measured at all. Problems of a single operation are in the result.
pub fn measure(plan: Plan<'_>, on_progress: &mut dyn FnMut(Progress)) -> Result<Measurement, MeasureError> {
    let started = Instant::now();
    let checker = Checker::calibrate(Clock::calibrate());
    let accounts = Accounts::open();
    let entries = entries(&plan)?;
    let items: Vec<Item> = entries.iter().map(|entry| entry.item.clone()).collect();
    let scratch = Scratch::make(plan.scratch_root)?;
    let launchers = Pool::start(&items, checker, scratch.path(), plan.program)?;
    let signals = Signals::watch();
    let quietness = Quietness::open(checker, plan.settings.cpu, plan.width, plan.settings.tolerance)?;
    let mut schedule = Schedule {
        entries,
        launchers,
        quietness,
        clock: checker.clock,
        settings: &plan.settings,
        started,
        on_progress,
        signals: &signals,
        check: plan.check,
        crosses: plan.crosses,
        tailed: plan.tailed,
        paired: plan.paired,
    };
    let ended = schedule.work();
    schedule.judge();
    let more = schedule.more();
    let Schedule { entries, launchers, quietness, .. } = schedule;
    let told = launchers.told();
    drop(launchers);
    drop(scratch);
    let interrupted = match ended {
        Ok(()) => None,
        Err(Ended::Signal(signal)) => Some(signal),
        Err(Ended::Broken(error)) => return Err(error),
    };
    let mut measurement = result::assemble(entries, &quietness, checker.clock, plan.settings.precision, accounts);
    (measurement.noise.more, measurement.noise.launchers, measurement.interrupted) = (more, Some(told), interrupted);
    Ok(measurement)
}

/// The items, the operations that their terms name, and twins of a few items for the A/A band.
fn entries(plan: &Plan<'_>) -> Result<Vec<ItemProgress>, MeasureError> {
    let mut entries: Vec<ItemProgress> =
        plan.items.iter().map(|item| ItemProgress::new(item.operation, item.point.clone(), Purpose::Asked)).collect();
    let mut index = 0;
    while index < entries.len() {
        let ItemProgress { item, .. } = &entries[index];
        let terms: Vec<Term> = item.operation.terms.iter().map(|term| term.resolve(&item.point)).collect();
        let id = item.operation.id;
        for term in terms {
            if entries.iter().any(|entry| entry.is(&term)) {
                continue;
            }
            let operation = (plan.find)(&term.operation)
                .ok_or_else(|| MeasureError::Term { operation: id.into(), term: term.operation.clone() })?;
            entries.push(ItemProgress::new(operation, term.at.clone(), Purpose::Term));
        }
        index += 1;
    }
    // Beside work on purpose no batch is undisturbed.
    entries.iter_mut().for_each(|entry| entry.has_load = !plan.settings.beside.is_empty());
    entries.extend(twins(&entries[..plan.items.len()]));
    Ok(entries)
}

/// Second measurements of a few items spread over the list. More of them cost time, fewer say little. Items that wait
/// for another CPU or a device, or use memory shared with other tenants, are excluded: their scatter is no property of
/// howslow.
fn twins(asked: &[ItemProgress]) -> Vec<ItemProgress> {
    const MOST: usize = 10;
    const LEAST: usize = 5;
    let own: Vec<usize> =
        (0..asked.len()).filter(|&index| asked[index].wants_quiet() && asked[index].follows_clock()).collect();
    if own.len() < LEAST {
        return Vec::new();
    }
    let twins = own.len().min(MOST);
    let step = own.len() / twins;
    let chosen = own.iter().skip(step / 2).step_by(step).take(twins);
    chosen
        .map(|&of| ItemProgress::new(asked[of].item.operation, asked[of].item.point.clone(), Purpose::Twin(of)))
        .collect()
}
