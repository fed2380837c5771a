//! One address space that several CPUs change at the same time, against one for each: page faults, and mapping and
//! unmapping.

use operation::{Axis, Failure, Loop, Operation, Setting, term, word, words};
use rustix::param::page_size;

use crate::kit::{BASE, CPUS, Mapping, Memory, Repeated, Seat, Seats, Work, base_pages_only, together};
use crate::memory::page::faults::FaultCounter;
use crate::memory::page::frames::RECYCLED;
use crate::memory::page::{DROP, touched_pages};

/// Whose memory the tasks on the other CPUs work in: their own, as processes, or ours, as threads.
const MEMORY: Axis = word("memory", words!["own", "one"]);

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
        .prepare(|setting| in_memory(setting, |_| Ok(remapping()), u64::MAX)),
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
    pages: Mapping,
    faults: FaultCounter,
}

impl Faulting {
    fn new() -> Result<Faulting, Failure> {
        let pages = Mapping::anonymous(touched_pages() as usize * page_size())?;
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

/// A task that maps and unmaps.
fn remapping() -> impl Work {
    let page = page_size();
    Repeated::new(move || {
        let mapping = Mapping::anonymous(page)?;
        mapping.write(0);
        mapping.unmap()
    })
}
