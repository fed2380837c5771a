//! TLB shoot-down: calls that take a page, or the right to write it, from all CPUs that run tasks of this memory. The kernel
//! interrupts each of them and waits (`flush_tlb_mm_range`), unless the processor can inform them by itself.

use operation::{Failure, Loop, Operation, Setting, Tally};

use crate::kit::{Area, BASE, CPUS, ENTRY, Part, STOCK, Seats, Slots, Work, beside, call, exactly};

pub(crate) const OPERATIONS: &[Operation] = &[
    SHOOTDOWN
        .id("contention.shootdown.munmap")
        .summary("unmap a page that is there, while threads of this memory run on the other CPUs")
        .prepare(|setting| shot_down(setting, PageCall::Unmap(Slots::new(STOCK as usize)?))),
    SHOOTDOWN
        .id("contention.shootdown.mprotect")
        .summary("forbid writing to a page that was written, while threads of this memory run on the other CPUs")
        .prepare(|setting| shot_down(setting, PageCall::Protect(Area::separate_touched(STOCK as usize)?))),
    SHOOTDOWN
        .id("contention.shootdown.madvise")
        .summary("give a page back that is there (MADV_DONTNEED), while threads of this memory run on the other CPUs")
        .prepare(|setting| shot_down(setting, PageCall::Forget(Area::separate_touched(STOCK as usize)?))),
];

const SHOOTDOWN: Operation = BASE.axes(&[CPUS]).monotonic_in(&["cpus"]).explained_by(ENTRY);

/// What is called for a page, and the pages.
enum PageCall {
    Unmap(Slots),
    Protect(Area),
    Forget(Area),
}

impl PageCall {
    /// Has a page there, written and writable.
    fn renew(&self, page: usize) -> Result<(), Failure> {
        match self {
            PageCall::Unmap(places) => {
                places.map(page)?;
                // SAFETY: it was just mapped.
                unsafe { places.touch(page) };
            }
            PageCall::Protect(area) => {
                exactly(0, call::mprotect(area.page(page), libc::PROT_READ | libc::PROT_WRITE)?)?;
                area.touch(page);
            }
            PageCall::Forget(area) => area.touch(page),
        }
        Ok(())
    }

    #[inline(always)]
    fn perform(&self, page: usize) -> Result<(), Failure> {
        match self {
            PageCall::Unmap(places) => places.unmap(page),
            PageCall::Protect(area) => exactly(0, call::mprotect(area.page(page), libc::PROT_READ)?),
            PageCall::Forget(area) => exactly(0, call::madvise(area.page(page), libc::MADV_DONTNEED)?),
        }
    }
}

/// Calls on one page after another.
struct Calls {
    call: PageCall,
    done: Result<(), Failure>,
    interrupts: Tally,
    /// The CPUs that are interrupted.
    cpus: Vec<u32>,
    batches: u64,
    before: Option<u64>,
}

impl Work for Calls {
    fn ready(&mut self, times: u64) -> Result<(), Failure> {
        (0..times as usize).try_for_each(|page| self.call.renew(page))?;
        self.batches += 1;
        // Few, since the kernel's list is long on a large machine, and apart, since all of the first ones may lie where another task
        // has the other CPU.
        self.before = self.batches.is_power_of_two().then(|| interrupts(&self.cpus)).flatten();
        Ok(())
    }

    fn work(&mut self, times: u64) {
        self.done = (0..times as usize).try_for_each(|page| self.call.perform(page));
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        if let Some((before, after)) = self.before.take().zip(interrupts(&self.cpus)) {
            self.interrupts.passes(times, after - before);
        }
        std::mem::replace(&mut self.done, Ok(()))
    }
}

/// Interrupts to forget translations that these CPUs have had; `None` where the kernel does not count them.
fn interrupts(cpus: &[u32]) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/interrupts").ok()?;
    let numbers: Vec<u32> =
        text.lines().next()?.split_whitespace().filter_map(|name| name.strip_prefix("CPU")?.parse().ok()).collect();
    let counts = text.lines().find_map(|line| line.trim_start().strip_prefix("TLB:"))?.split_whitespace();
    let chosen = numbers.iter().zip(counts).filter(|(cpu, _)| cpus.contains(cpu));
    chosen.map(|(_, count)| count.parse::<u64>().ok()).sum()
}

/// A thread that does nothing and is always there.
struct Running;

impl Work for Running {
    fn work(&mut self, times: u64) {
        /// About a microsecond.
        const TURNS: u64 = 1000;
        (0..TURNS * times).for_each(|turn| {
            operation::opaque(turn);
        });
    }
}

fn shot_down(setting: &Setting, call: PageCall) -> Result<Loop, Failure> {
    let seats = Seats::apart(setting, setting.number("cpus")?)?.in_our_memory();
    let calls = Calls {
        call,
        done: Ok(()),
        interrupts: setting.tally("TLB interrupts of other CPUs"),
        cpus: seats.cpus.clone(),
        batches: 0,
        before: None,
    };
    Ok(beside(setting, (&seats, Part::Throughout), |_| Ok(calls), |_| Ok(Running))?.at_most(STOCK))
}
