//! The programs as the kernel has taken them, and where they are attached.

use std::ffi::CStr;
use std::io;

use super::builder::Registers;
use super::instruction::Instruction;
use super::maps::Maps;
use super::programs::{self, Given, Saved};
use super::request::Request;
use super::search::Whom;
use super::sys::{Attachment, Program, Ran, Runs, run_here};
use super::{events, pages, returned, timed, waits};
use crate::target::Detail;

const FAULT_BEGINS: &CStr = c"page_fault_user";

/// The loaded programs.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(super) called: Program,
    pub(super) at_call: &'static CStr,
    pub(super) created: Program,
    pub(super) helped: Program,
    pub(super) executed: Program,
    pub(super) ended: Program,
    pub(super) ending: Program,
    pub(super) signalled: Program,
    pub(super) requested: Program,
    pub(super) waking: Option<Program>,
    pub(super) switched: Option<Program>,
    pub(super) sampling: Option<Program>,
    pub(super) allocated: Option<Program>,
    pub(super) faults: Option<[Program; 2]>,
    pub(super) went_on: Option<Program>,
    pub(super) enrol: Program,
}

impl Programs {
    pub(super) const END: &CStr = c"sched_process_exit";

    /// Loads them. Fails if this process may not, or the kernel does not accept one that is needed.
    pub(super) fn load(maps: &Maps, whom: Whom, detail: Detail) -> io::Result<Programs> {
        let load = |name, code: fn(&Maps) -> Vec<Instruction>| Program::load(name, &code(maps));
        let with_all = |name, code| (detail == Detail::All).then(|| load(name, code)).transpose();
        let (called, at_call, faults) = match detail {
            Detail::All => (at_return(maps, whom)?, c"sys_exit", at_faults(maps)),
            Detail::Numbers => (Program::load("entered", &returned::entered(maps, whom))?, c"sys_enter", None),
        };
        Ok(Programs {
            called,
            at_call,
            created: Program::load("created", &programs::created(maps, whom))?,
            helped: Program::load("helped", &programs::helped(maps, whom))?,
            executed: Program::load("executed", &programs::executed(maps, detail))?,
            ended: at_end(maps, whom, detail, Given::AtItsEnd)?,
            ending: at_end(maps, whom, detail, Given::AtItsLastSwitch)?,
            signalled: Program::load("signalled", &programs::signalled(maps, whom))?,
            requested: Program::load("requested", &programs::requested(maps, whom, Request::here()))?,
            waking: with_all("waking", programs::waking)?,
            switched: with_all("switched", waits::switched)?,
            sampling: with_all("sampling", timed::sampling)?,
            allocated: with_all("allocated", pages::allocated)?,
            faults,
            went_on: with_all("went_on", timed::went_on)?,
            enrol: Program::load("enrol", &programs::enrol(maps))?,
        })
    }

    /// Samples page faults, until the result is dropped; `None` if this kernel lets no program do so.
    pub(crate) fn attach_faults(&self) -> Option<Vec<Attachment>> {
        let [began, ended] = self.faults.as_ref()?;
        let mut attached = Vec::new();
        for event in events::faults() {
            attached.extend(events::attach(ended, event).ok()?);
        }
        attached.push(began.attach(FAULT_BEGINS).ok()?);
        Some(attached)
    }

    /// Looks at the pages that the kernel gives, until the result is dropped.
    pub(crate) fn attach_pages(&self) -> Option<Attachment> {
        attach_if(self.allocated.as_ref(), c"mm_page_alloc")
    }

    /// Notes switches, what the kernel does for a task that was given a CPU, and wake-ups, until the result is dropped.
    pub(crate) fn attach_switches(&self) -> Vec<Attachment> {
        let tracepoints = [c"sched_switch", c"rseq_update", c"sched_waking"];
        self.at_switches().into_iter().zip(tracepoints).filter_map(|(program, at)| attach_if(program, at)).collect()
    }

    /// What the programs of [`Programs::attach_switches`] took while the kernel kept statistics; nothing for one that is not there.
    pub(crate) fn ran_at_switches(&self) -> io::Result<[Ran; 3]> {
        let [switched, went_on, waking] =
            self.at_switches().map(|program| program.map_or(Ok(Ran::default()), Program::ran));
        Ok([switched?, went_on?, waking?])
    }

    fn at_switches(&self) -> [Option<&Program>; 3] {
        [&self.switched, &self.went_on, &self.waking].map(Option::as_ref)
    }

    /// How often the program at each call ran while the kernel kept statistics, and how long.
    pub(crate) fn ran(&self) -> io::Result<Ran> {
        self.called.ran()
    }

    /// Counts calls alone, until the result is dropped. Fails if the kernel lacks the tracepoint.
    pub(crate) fn attach_calls(&self) -> io::Result<Attachment> {
        at(&self.called, self.at_call)
    }

    /// Samples calls that are counted, until the result is dropped; `None` if none are sampled.
    pub(crate) fn attach_sampling(&self) -> Option<Attachment> {
        attach_if(self.sampling.as_ref(), c"sys_enter")
    }

    /// Watches the calling task from now on. Fails if the kernel cannot run a program on demand.
    pub(crate) fn enrol(&self) -> io::Result<()> {
        run_here(self.enrol.descriptor())
    }
}

/// The program at each call that returned: one that reads the saved registers itself, if this kernel takes it.
fn at_return(maps: &Maps, whom: Whom) -> io::Result<Program> {
    let typed = maps.types.and_then(|types| types.at_return).and_then(|typed| {
        let program = returned::returned(maps, whom, Registers::ByType);
        Program::load_for("returned", &program, Runs::Typed(typed)).ok()
    });
    let by_helper = || Program::load("returned", &returned::returned(maps, whom, Registers::ByHelper));
    typed.map_or_else(by_helper, Ok)
}

/// The program at the end of a task: one that finds the saved registers itself, if this kernel takes it.
fn at_end(maps: &Maps, whom: Whom, detail: Detail, given: Given) -> io::Result<Program> {
    let name = if given == Given::AtItsEnd { "ended" } else { "ending" };
    let load = |saved| Program::load(name, &programs::ended(maps, (whom, detail), given, saved));
    load(Saved::ByHelper).or_else(|_| load(Saved::InRecord))
}

/// The programs at the begin of a page fault and at its end, if this kernel takes them.
fn at_faults(maps: &Maps) -> Option<[Program; 2]> {
    let began = Program::load("fault", &timed::fault_began(maps)).ok()?;
    // Not every architecture has the tracepoint, to which the program is attached last, after the events of each CPU.
    drop(began.attach(FAULT_BEGINS).ok()?);
    Some([began, Program::load_for("faulted", &timed::fault_ended(maps), Runs::Events).ok()?])
}

/// Attaches a program to a tracepoint.
pub(super) fn at(program: &Program, tracepoint: &CStr) -> io::Result<Attachment> {
    let refused = |error: io::Error| {
        io::Error::new(error.kind(), format!("the tracepoint {}: {error}", tracepoint.to_string_lossy()))
    };
    program.attach(tracepoint).map_err(refused)
}

/// Attaches a program to a tracepoint, if there are both.
pub(super) fn attach_if(program: Option<&Program>, tracepoint: &CStr) -> Option<Attachment> {
    program.and_then(|program| program.attach(tracepoint).ok())
}
