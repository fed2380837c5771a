//! One address space that several CPUs change at the same time, against one for each: page faults, and mapping and
//! unmapping.

use std::rc::Rc;

use operation::{Axis, Failure, Loop, Operation, Setting, term, word, words};
use rustix::param::page_size;

use super::CPUS;
use crate::kit::{BASE, Mapping, Memory, Seat, Seats, Work, base_pages_only, together};
use crate::memory::page::faults::FaultCounter;
use crate::memory::page::frames::RECYCLED;
use crate::memory::page::touched_pages;

/// Whose memory the tasks on the other CPUs work in: their own, as processes, or ours, as threads.
const MEMORY: Axis = word("memory", words!["own", "one"]);

/// Pages are dropped in pieces smaller than a page table reaches over, or the kernel frees the tables with them.
const DROP: usize = 1 << 20;

pub(crate) const OPERATIONS: &[Operation] = &[
    PARALLEL
        .named(
            "contention.fault",
            "first write to a base page of anonymous memory, on several CPUs at once: in one address space, or in \
            one per CPU",
        )
        .per("fault on every CPU")
        .explained_by(&[term(1.0, "page.fault.anonymous").at(RECYCLED)])
        .prepare(|setting| in_memory(setting, |_| Faulting::new(), touched_pages())),
    PARALLEL
        .named(
            "contention.map",
            "map a page, write to it and unmap it, on several CPUs at once: in one address space, or in one per CPU",
        )
        .per("map, fault and unmap on every CPU")
        .prepare(|setting| in_memory(setting, |_| Ok(Remapping(Ok(()))), u64::MAX)),
];

const PARALLEL: Operation = BASE.axes(&[MEMORY, CPUS]).monotonic_in(&["cpus"]);

/// The work of all in the memory that the point names.
fn in_memory<W: Work>(setting: &Setting, make: fn(Seat) -> Result<W, Failure>, most: u64) -> Result<Loop, Failure> {
    let memory = if setting.word("memory")? == "one" { Memory::Ours } else { Memory::Own };
    let seats = Seats { memory, ..Seats::apart(setting, setting.number("cpus")?)? };
    Ok(together(setting, &seats, make)?.at_most(most))
}

/// A task that touches pages of its own for the first time.
struct Faulting {
    pages: Rc<Mapping>,
    faults: FaultCounter,
}

impl Faulting {
    fn new() -> Result<Faulting, Failure> {
        let pages = Rc::new(Mapping::anonymous(touched_pages() as usize * page_size())?);
        base_pages_only(&pages)?;
        // From here on the page tables are there.
        (0..touched_pages() as usize).for_each(|page| pages.write(page * page_size()));
        Ok(Faulting { pages, faults: FaultCounter::default() })
    }
}

impl Work for Faulting {
    fn ready(&mut self, _: u64) -> Result<(), Failure> {
        self.pages.drop_pages(DROP)?;
        self.faults.start()
    }

    fn work(&mut self, times: u64) {
        let page = page_size();
        (0..times as usize).for_each(|turn| self.pages.write(turn * page));
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        self.faults.check(times)
    }
}

/// A task that maps and unmaps; what it met last.
struct Remapping(Result<(), Failure>);

impl Work for Remapping {
    fn work(&mut self, times: u64) {
        let page = page_size();
        self.0 = (0..times).try_for_each(|_| {
            let mapping = Mapping::anonymous(page)?;
            mapping.write(0);
            mapping.unmap()
        });
    }

    fn check(&mut self, _: u64) -> Result<(), Failure> {
        std::mem::replace(&mut self.0, Ok(()))
    }
}
