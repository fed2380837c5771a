//! Runs that can be expected to agree: of one build, kernel, boot and machine, alone on it. They learn from each other, and together
//! they are one figure.

use analysis::again;
use record::{Machine, Run};
use store::{Filter, Head, RunKind, Store, StoreError};

use crate::output::{Misuse, print_note};

/// More runs than this narrow no figure, and take long to read.
pub(crate) const MOST: usize = 30;

/// The runs that agree with one, that one first.
pub(crate) struct Kin(Vec<Run>);

impl Kin {
    /// Those of the store that agree with this run.
    /// Fails if the store cannot be read, or nothing can be known to agree with this run.
    pub(crate) fn of(run: Run, store: &Store) -> anyhow::Result<Kin> {
        if run.build.is_empty() || !run.settings.beside.is_empty() {
            let why = if run.build.is_empty() { "it does not say its build" } else { "other work ran beside it" };
            return Err(Misuse(format!("{}: {why}, so no other run is known to agree with it", run.id)).into());
        }
        let may_agree = |head: &Head| head.build == run.build && head.kernel == run.machine.kernel.release;
        let heads = store.runs(&Filter::default())?.into_iter().filter(|head| may_agree(head) && head.id != run.id);
        let heads: Vec<Head> = heads.collect();
        let mut runs = vec![run];
        for head in heads {
            let Some(other) = readable(store, &head)? else { continue };
            if agree(&runs[0], &other) {
                runs.push(other);
            }
            if runs.len() == MOST {
                break;
            }
        }
        Ok(Kin(runs))
    }

    /// Those among some runs that agree with the one at this place; it alone, if nothing is known to.
    pub(crate) fn among(runs: &[Run], place: usize) -> Kin {
        let own = &runs[place];
        let others = runs.iter().enumerate().filter(|(other, run)| *other != place && agree(own, run));
        Kin([own.clone()].into_iter().chain(others.map(|(_, run)| run.clone())).collect())
    }

    /// How many they are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// How many of them have this cost.
    pub(crate) fn with(&self, cost: &str) -> usize {
        self.0.iter().filter(|run| run.costs.iter().any(|own| own.name() == cost)).count()
    }

    /// All of them as one run: the first, with the rounds of all.
    pub(crate) fn together(&self) -> Option<Run> {
        let mut all = again::pooled(&self.0)?;
        all.settings.label = Some(format!("all-{}-of-{}", self.count(), self.0[0].id));
        all.finished = self.0.iter().map(|run| run.finished.clone()).max().unwrap_or_default();
        Some(all)
    }
}

/// The run of a head. `None`, after a note, if its document is damaged: the others are read all the same.
/// Fails if the store cannot be read.
pub(crate) fn readable(store: &Store, head: &Head) -> Result<Option<Run>, StoreError> {
    match store.read(head) {
        Err(error @ (StoreError::Read { .. } | StoreError::Database { .. })) => {
            print_note(&format!("left out: {error}"));
            Ok(None)
        }
        read => read.map(Some),
    }
}

fn agree(one: &Run, other: &Run) -> bool {
    let machine = |run: &Run| (run.machine.cpu.signature.clone(), run.machine.host.clone(), run.settings.cpu);
    !one.build.is_empty()
        && kind(one) == kind(other)
        && machine(one) == machine(other)
        && [one, other].iter().all(|run| run.settings.beside.is_empty())
}

/// What a run must share with others to learn from them.
pub(crate) fn kind(run: &Run) -> RunKind {
    let kernel = &run.machine.kernel;
    let mitigations = kernel.mitigations.iter().map(|(name, state)| format!(" {name}={state}"));
    let boot = kernel.command_line.iter().cloned().chain(mitigations).collect();
    RunKind { build: run.build.clone(), kernel: format!("{} {}", kernel.release, kernel.version), boot }
}

/// The key under which speed checks and figures are remembered: the processor and the host, because several machines may share a home
/// folder, and the kind of core if one that is not the strongest was selected.
pub(crate) fn machine_name(machine: &Machine, cpu: Option<u32>) -> String {
    let name = format!("{} {}", machine.cpu.signature, machine.host.as_deref().unwrap_or_default());
    let weaker = cpu.map_or(0, |cpu| system::machine::Topology::here().kind_of(cpu));
    if weaker == 0 { name } else { format!("{name} kind {weaker}") }
}
