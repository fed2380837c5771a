//! What prices processes and threads, faults and switches. What the prices of processes contain already is not counted again.

use record::{Observation, Term, Usage, Value};

use super::super::interval::Unit;
use super::super::waiting::WaitedFor;
use super::list::{Price, PriceList};
use super::memory::{Faults, Memory};
use super::rules::{EMPTIED, OPENS, REMOVES, RENAMES, REPLACED};

/// Faults of a program that does nothing but load the C library: half of them find pages of its files in memory, a quarter
/// copy such pages to write to them, a quarter write to new memory (`perf trace -F all` of /bin/true, glibc 2.36).
const PROGRAM_FAULTS: u64 = 48;
/// Faults of a copied process that ends without executing a program: it copies what it writes to (httpd of busybox).
const CHILD_FAULTS: u64 = 32;

/// What prices the pages that a copied process has, and the memory of the one whose copy is known, in bytes.
pub(super) const RESIDENT: &str = "process.fork.resident";
const KNOWN: u64 = 1 << 30;

/// How many processes and threads began.
#[derive(Default)]
pub(super) struct Tasks {
    executed: u64,
    copied: u64,
    threads: u64,
    /// Sleeps until a device had brought a block.
    transfers: u64,
    /// The memory of their own that copied processes had, in bytes.
    copied_bytes: u64,
    memory: Memory,
}

impl Unit {
    pub(super) fn row(self) -> &'static str {
        match self {
            Unit::MinorFault | Unit::Switch | Unit::Thread | Unit::Transfer => self.word(),
            Unit::Exec | Unit::Fork => "processes",
        }
    }

    pub(super) fn family(self) -> &'static str {
        match self {
            Unit::MinorFault => "memory",
            Unit::Switch => "switches",
            Unit::Exec | Unit::Fork | Unit::Thread => "processes",
            Unit::Transfer => "devices",
        }
    }
}

/// How often the tasks slept for a device, but in calls whose prices hold such sleeps. Locks of the kernel are waited for in the same way,
/// and rarely.
fn transfers(list: &PriceList, seen: &Observation) -> u64 {
    let waits = seen.together.waits.iter().filter(|waits| match WaitedFor::of(waits) {
        WaitedFor::Page => true,
        WaitedFor::Device => waits.call.as_deref().is_none_or(|call| {
            let is_held = call.contains("sync")
                || (REMOVES.contains(&call) && list.removal_sleeps())
                || (RENAMES.contains(&call) && list.sleeps(REPLACED, &[]) == Some(true))
                || (OPENS.contains(&call) && seen.together.truncating > 0 && list.sleeps(EMPTIED, &[]) == Some(true));
            !is_held
        }),
        _ => false,
    });
    waits.map(|waits| waits.count).sum()
}

/// What prices one of these.
pub(super) fn one(list: &PriceList, unit: Unit) -> Vec<Term> {
    let (mut tasks, mut usage) = (Tasks::default(), Usage::default());
    match unit {
        Unit::MinorFault => usage.minor_faults = Some(1),
        Unit::Switch => usage.voluntary_switches = Some(1),
        Unit::Exec => tasks.executed = 1,
        Unit::Fork => tasks.copied = 1,
        Unit::Thread => tasks.threads = 1,
        Unit::Transfer => tasks.transfers = 1,
    }
    tasks.terms(list, &usage).into_iter().map(|(_, term)| term).collect()
}

impl Tasks {
    pub(super) fn of(list: &PriceList, seen: &Observation) -> Tasks {
        let all = seen.together.execs;
        let created = seen.processes.iter().filter(|process| process.parent.is_some());
        // A stretch of time lists the children that were there before it as well.
        let created = created.map(|process| process.processes).sum::<u64>().min(seen.together.forks);
        let threads = seen.together.forks.saturating_sub(created);
        // A process that nobody created here, such as the command itself, executes programs without being a copy.
        let own = seen.processes.iter().filter(|process| process.parent.is_none());
        let own: u64 = own.map(|process| process.requests.execs).sum();
        let copied = created.saturating_sub(all.saturating_sub(own));
        let copied_bytes = seen.together.copied_pages * seen.together.page.0;
        let transfers = transfers(list, seen);
        Tasks { executed: all, copied, threads, transfers, copied_bytes, memory: Memory::of(seen) }
    }

    /// What prices them, and the faults and switches of all.
    pub(super) fn terms(&self, list: &PriceList, usage: &Usage) -> Vec<(Unit, Term)> {
        // A copy is priced without the pages that it shares, which come after; the pages that it writes to are faults.
        let each = [
            (Unit::Exec, "process.exec", self.executed),
            (Unit::Fork, "process.vfork", self.copied),
            (Unit::Transfer, "file.read.direct", self.transfers),
            (Unit::Thread, "thread.clone3", self.threads),
        ];
        let contained = |part: fn(&Price) -> f64| -> f64 {
            let price = |id: &str| list.at(id, &[], 1.0).first().and_then(|term| list.price(id, &term.at));
            each.iter().map(|(_, id, times)| *times as f64 * price(id).as_ref().map_or(0.0, part)).sum()
        };
        let mut terms: Vec<(Unit, Term)> = Vec::new();
        for (unit, id, times) in each {
            terms.extend(list.at(id, &[], times as f64).into_iter().map(|term| (unit, term)));
        }
        let resident = [("resident", Value::Number(KNOWN))];
        let shared = list.at(RESIDENT, &resident, self.copied_bytes as f64 / KNOWN as f64);
        terms.extend(shared.into_iter().map(|term| (Unit::Fork, term)));
        let faults = usage.minor_faults.unwrap_or(0) as f64 - contained(|price| price.minor_faults);
        let [faults, ends] = self.memory.terms(list, faults.max(0.0), |left| self.likely(left));
        terms.extend(faults.into_iter().map(|term| (Unit::MinorFault, term)));
        terms.extend(ends.into_iter().map(|term| (Unit::Exec, term)));
        let switches = usage.voluntary_switches.unwrap_or(0) + usage.involuntary_switches.unwrap_or(0);
        let switches = (switches as f64 - contained(|price| price.switches)).max(0.0);
        let nothing = [("set", Value::Number(0))];
        terms.extend(list.at("switch.process", &nothing, switches).into_iter().map(|term| (Unit::Switch, term)));
        terms
    }

    /// Faults by what they most likely were: those of programs that begin, of children that were copied, of new memory.
    fn likely(&self, left: f64) -> Faults {
        let programs = left.min((self.executed * PROGRAM_FAULTS) as f64);
        let children = (left - programs).min((self.copied * CHILD_FAULTS) as f64);
        let new = left - programs - children;
        Faults { new: new + programs / 4.0, copied: children + programs / 4.0, read: programs / 2.0 }
    }
}
