//! Where the prices of a bill come from: a run, and what it lacks from older runs of this machine or measured on the spot.

use std::collections::VecDeque;

use operation::Item;
use record::units::counted;
use record::{Cost, Machine, Point, Run};
use store::Store;

use crate::cli::MeasureArgs;
use crate::output::{Misuse, Outcome, say};
use crate::resolve;
use crate::session::{self, Wanted};

/// Older runs that are read if the newest one lacks prices.
const OLDER: usize = 16;
/// Seconds that measuring may take, without the set-up of its operations.
const BUDGET: f64 = 30.0;
/// What a bill needs no better, as a share.
const PRECISION: f64 = 0.05;

/// A run, which costs of others complete.
pub(crate) struct Kept {
    /// What is known so far.
    pub run: Option<Run>,
    /// The ids of older runs that have not been read.
    older: VecDeque<String>,
    /// The runs that something was taken from, with how many costs.
    pub taken: Vec<(String, usize)>,
}

impl Kept {
    /// The run that is named, else the newest that is kept, if there is one.
    ///
    /// # Errors
    /// If the named run cannot be read.
    pub(super) fn open(on: Option<&str>) -> anyhow::Result<Kept> {
        let (run, older) = match on {
            Some(name) => (Some(resolve::run(name)?), VecDeque::new()),
            None => newest(),
        };
        Ok(Kept { run, older, taken: Vec::new() })
    }

    /// Checks that measuring here can complete the run of this name.
    ///
    /// # Errors
    /// If it is one of another machine.
    pub(crate) fn check_measurable(&self, name: &str) -> Result<(), Misuse> {
        match &self.run {
            Some(run) if !is_here(&run.machine) => Err(Misuse(format!(
                "--measure measures this machine, and {} is a run of another one; omit one of them",
                record::printable(name)
            ))),
            _ => Ok(()),
        }
    }

    /// True if the run has this cost.
    pub(super) fn has(&self, operation: &str, point: &Point) -> bool {
        self.run.iter().flat_map(|run| &run.costs).any(|cost| cost.operation == operation && cost.at == *point)
    }

    /// This run alone.
    pub(crate) fn of(run: Run) -> Kept {
        Kept { run: Some(run), older: VecDeque::new(), taken: Vec::new() }
    }

    /// True if there are older runs to read.
    pub(super) fn has_older(&self) -> bool {
        !self.older.is_empty()
    }

    /// Reads the next older run, if there is one, and takes from it what is not known.
    pub(super) fn read_older(&mut self) {
        let Some(id) = self.older.pop_front() else { return };
        if let (Ok(run), Some(known)) = (resolve::run(&id), &self.run)
            && run.machine.cpu.signature == known.machine.cpu.signature
            && run.settings.beside.is_empty()
        {
            self.take(run);
        }
    }

    /// Measures these items, and keeps the run like any other. Returns the signal that cut it short.
    ///
    /// # Errors
    /// If nothing can be measured.
    pub(crate) fn measure(&mut self, items: Vec<Item>) -> anyhow::Result<Option<i32>> {
        say(&format!("measuring {}, for at most a minute", counted(items.len() as u64, "price")));
        let patterns = items.iter().map(|item| format!("{}{}", item.operation.id, item.point)).collect();
        let args = MeasureArgs { precision: PRECISION, ..MeasureArgs::default() };
        let wanted = Wanted { items, patterns, full: false, paired: 0, budget_s: BUDGET };
        let (run, ending) = session::finish(session::measure(wanted, &args)?, &args);
        match &self.run {
            None => self.run = Some(run),
            Some(_) => self.take(run),
        }
        Ok(match ending.outcome()? {
            Outcome::Interrupted(signal) => Some(signal),
            _ => None,
        })
    }

    /// Takes the costs that are not known.
    fn take(&mut self, from: Run) {
        let Some(run) = &mut self.run else { return };
        let is_new = |cost: &Cost| {
            let current = catalogue::find(&cost.operation).is_some_and(|it| it.version == cost.version);
            current && !run.costs.iter().any(|known| known.operation == cost.operation && known.at == cost.at)
        };
        let new: Vec<Cost> = from.costs.into_iter().filter(is_new).collect();
        if !new.is_empty() {
            self.taken.push((from.id, new.len()));
            run.costs.extend(new);
        }
    }
}

/// The newest kept run, and the ids of older ones of its kernel and processor.
fn newest() -> (Option<Run>, VecDeque<String>) {
    let mut heads = Store::of_user().and_then(|store| store.list()).unwrap_or_default();
    // What was imported from another tool has no prices of this machine, and names neither its program nor a processor.
    heads.retain(|head| !head.build.is_empty() || !head.model.is_empty());
    // Runs of this kernel and processor come first, the newest of them first: another kernel has other prices.
    let here = system::machine::describe();
    heads.sort_by_key(|head| head.kernel != here.kernel.release || head.model != here.cpu.model);
    let Some(first) = heads.first() else { return (None, VecDeque::new()) };
    let same = heads.iter().skip(1).filter(|it| it.kernel == first.kernel && it.model == first.model);
    let older = same.take(OLDER).map(|head| head.id.clone()).collect();
    (resolve::run(&first.id).ok(), older)
}

/// True for the machine that this program runs on, with this kernel.
fn is_here(machine: &Machine) -> bool {
    let here = system::machine::describe();
    here.cpu.signature == machine.cpu.signature && here.kernel.release == machine.kernel.release
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with a cost of each of these operations, in the version that it was measured in.
    fn run(id: &str, costs: &[(&str, u32)]) -> Run {
        let book = resolve::run("pdp-11-24").expect("a book");
        let cost = |(operation, version): &(&str, u32)| Cost {
            operation: (*operation).into(),
            version: *version,
            summary: id.into(),
            ..book.costs[0].clone()
        };
        Run { id: id.into(), costs: costs.iter().map(cost).collect(), ..book.clone() }
    }

    #[test]
    fn what_is_known_stays_and_older_work_is_left_out() {
        let first = run("new", &[("syscall.getppid", 1)]);
        let mut kept = Kept { run: Some(first), older: VecDeque::new(), taken: Vec::new() };
        kept.take(run("old", &[("syscall.getppid", 1), ("syscall.fstat", 1), ("call.mkdir", 1), ("no.such", 1)]));
        let known = kept.run.expect("a run");
        let shown: Vec<_> = known.costs.iter().map(|cost| (cost.operation.as_str(), cost.summary.as_str())).collect();
        assert_eq!(shown, [("syscall.getppid", "new"), ("syscall.fstat", "old")], "call.mkdir has version 2");
        assert_eq!(kept.taken, [("old".to_string(), 1)]);
    }
}
