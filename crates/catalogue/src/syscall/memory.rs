//! Calls on the address space: mapping, protecting and dropping memory.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use libc::{PROT_READ, PROT_WRITE};
use operation::{Failure, Loop, Operation, Setting, cpus, numbers, repeat};
use record::{Doubt, Estimate};

use super::elsewhere::{Elsewhere, TaskRunning, running_elsewhere};
use super::{CALL, PAIR};
use crate::file::residence;
use crate::kit::{
    Anywhere, Area, FILES, Null, PAGE, STOCK, Slots, back_and_forth, call, emptied, exactly, file_of, handles, invoke,
    numbered, owned, producing, refilled, tried,
};

/// Pages sealed in one batch. The area has enough pages for a whole round, including its warm-up.
const SEALED: u64 = 128;

/// Pages mapped in one batch.
const MAPPED: u64 = 256;

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.brk", "move the end of the heap by a page, there or back").prepare(|_| {
        let [end, renewed] = handles(Cell::new(call::brk(Null)?));
        let moves = back_and_forth(move || {
            let end = end.get();
            // SAFETY: the heap grows by a page that nothing uses.
            exactly(end + PAGE, unsafe { invoke!(brk, end + PAGE) }?)?;
            // SAFETY: the heap loses this page again.
            exactly(end, unsafe { invoke!(brk, end) }?)
        });
        // The allocator may have moved the end since the last batch.
        Ok(moves?.before(move |_| {
            renewed.set(call::brk(Null)?);
            Ok(())
        }))
    }),
    CALL.named("call.mmap", "map a page of anonymous memory between guard pages, where it is a separate mapping")
        .version(2)
        .prepare(|_| emptied(MAPPED, Slots::new(MAPPED as usize)?, Slots::map, Slots::unmap)),
    CALL.id("call.mmap.merging")
        .summary("map a page of anonymous memory beside the last one, so that the kernel merges both mappings")
        .calls(&["mmap"])
        .prepare(|_| tried(producing(Anywhere::map).at_most(MAPPED))),
    CALL.named("call.munmap", "unmap an untouched page of anonymous memory between guard pages: a whole mapping")
        .version(2)
        .prepare(|_| refilled(MAPPED, Slots::new(MAPPED as usize)?, Slots::map, Slots::unmap)),
    CALL.id("call.munmap.splitting")
        .summary("unmap a page in the middle of an untouched mapping, which becomes two mappings")
        .calls(&["munmap"])
        .prepare(|_| {
            let [places, filled] = handles(Slots::new(MAPPED as usize + 2)?);
            tried(numbered(move |turn| places.unmap(turn + 1)).at_most(MAPPED).before(move |_| filled.map_all()))
        }),
    PAIR.id("pair.map.touch")
        .summary("map a page of anonymous memory between guard pages, write one byte of it, and unmap it")
        .version(2)
        .calls(&["mmap", "munmap"])
        .prepare(|_| {
            let places = Slots::new(1)?;
            tried(repeat(move || {
                places.map(0)?;
                // SAFETY: it was just mapped.
                unsafe { places.touch(0) };
                places.unmap(0)
            }))
        }),
    CALL.id("call.mprotect")
        .summary("forbid or allow writing to a page that is present, a separate mapping between guard pages")
        .version(2)
        .prepare(|_| {
            let area = Area::touched(1)?;
            back_and_forth(move || {
                exactly(0, call::mprotect(area.page(0), PROT_READ)?)?;
                exactly(0, call::mprotect(area.page(0), PROT_READ | PROT_WRITE)?)
            })
        }),
    CALL.named("call.mremap", "lengthen or shorten a mapping by a page, in place, between guard pages")
        .version(2)
        .prepare(|_| lengthening(Area::new(2)?)),
    CALL.id("call.mremap.merging")
        .summary("lengthen or shorten a mapping by a page, in place, which merges or splits two mappings")
        .calls(&["mremap"])
        .prepare(|_| lengthening(Area::new(3)?)),
    CALL.named("call.msync", "wait until a page of a mapped file that was just written is on the device")
        .version(2)
        .quoted(Estimate::Typical)
        .waits(|_| true)
        .patience(60.0)
        .prepare(|setting| {
            let file = file_of(setting, PAGE)?;
            residence::on_a_device(&file)?;
            let [area, written] = handles(Area::of_file(&file, 1)?);
            tried(repeat(move || exactly(0, call::msync(area.page(0), libc::MS_SYNC)?)).at_most(1).before(move |_| {
                written.touch(0);
                Ok(())
            }))
        }),
    CALL.named("call.madvise", "drop a page of anonymous memory that was written").prepare(|_| {
        refilled(STOCK, Area::new(STOCK as usize)?, written, |area, turn| {
            exactly(0, call::madvise(area.page(turn), libc::MADV_DONTNEED)?)
        })
    }),
    CALL.named(
        "call.process_madvise",
        "advise through a pidfd that a page of a process, which is inactive, will not be needed soon",
    )
    .prepare(|_| {
        let process = owned(call::pidfd_open(std::process::id(), 0)?);
        refilled(STOCK, Area::touched(STOCK as usize)?, written, move |area, turn| {
            let range = [area.page(turn).address(), PAGE];
            // SAFETY: the page is the area's, and the advice changes no content.
            exactly(PAGE, unsafe { invoke!(process_madvise, &process, &range, 1, libc::MADV_COLD, 0) }?)
        })
    }),
    CALL.named("call.mincore", "ask whether a page is in memory").prepare(|_| {
        let area = Area::touched(1)?;
        let mut there = [0_u8];
        tried(repeat(move || {
            exactly(0, call::mincore(area.page(0), &mut there)?)?;
            exactly(1, usize::from(there[0] & 1))
        }))
    }),
    CALL.named("call.remap_file_pages", "remap a mapping of one page between guard pages to another page of its file")
        .version(2)
        .prepare(|setting| {
            let area = Area::of_file(&file_of(setting, 2 * PAGE)?, 1)?;
            back_and_forth(move || {
                exactly(0, call::remap_file_pages(area.page(0), 0, 1, 0)?)?;
                exactly(0, call::remap_file_pages(area.page(0), 0, 0, 0)?)
            })
        }),
    CALL.named("call.mseal", "seal a page's mapping against changes, between guard pages").version(2).prepare(|_| {
        // Sealed pages stay until the process ends, so their number is limited.
        let area = Area::separate((FILES * STOCK) as usize)?;
        let mut next = 0;
        let seal = move || {
            next += 1;
            exactly(0, call::mseal(area.page(next - 1), 0)?)
        };
        tried(repeat(seal).at_most(SEALED).batches(FILES as u32))
    }),
    CALL.named("call.map_shadow_stack", "map a shadow stack page, which only calls and returns write").prepare(|_| {
        let make = || Ok(Anywhere(call::map_shadow_stack(Null, PAGE, 0)?));
        tried(producing(make))
    }),
    CALL.named(
        "call.membarrier",
        "order memory accesses for all tasks that share this memory: each other CPU that runs one is interrupted",
    )
    .version(2)
    .axes(&[cpus("cpus", numbers![2, 1, 4])])
    .prepare(|setting| {
        let others = running_elsewhere(setting, setting.number("cpus")? as usize - 1, TaskRunning::InBatches)?;
        exactly(0, call::membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)?)?;
        let barriers = repeat(|| exactly(0, call::membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)?));
        beside(setting, others, barriers)
    }),
    CALL.named("call.userfaultfd", "create a descriptor from which page faults are read").prepare(|_| {
        const USER_MODE_ONLY: i32 = 1;
        let make = || Ok(owned(call::userfaultfd(libc::O_CLOEXEC | USER_MODE_ONLY)?));
        tried(producing(make)).map_err(|failure| {
            failure.skip_on(&[libc::EINVAL], "this kernel has no page faults of user mode alone", "Linux 5.11")
        })
    }),
];

/// The same loop, with batches taken while these tasks run on other CPUs. If other processes used their CPUs for more than
/// a tenth of most batches, the cost has a doubt that says so.
fn beside(setting: &Setting, tasks: Vec<Elsewhere>, looped: Loop) -> Result<Loop, Failure> {
    let (tasks, doubts) = (Rc::new(tasks), setting.doubts());
    let began = Rc::new(Cell::new((Instant::now(), 0)));
    let (starting, since) = (Rc::clone(&tasks), Rc::clone(&began));
    let (mut batches, mut disturbed) = (0_u32, 0_u32);
    tried(
        looped
            .before(move |_| {
                starting.iter().try_for_each(Elsewhere::start)?;
                since.set((Instant::now(), together(&starting)?));
                Ok(())
            })
            .verify(move |_| {
                let (start, before) = began.get();
                let wanted = start.elapsed().as_nanos() as u64 * tasks.len() as u64;
                let ran = together(&tasks)? - before;
                tasks.iter().try_for_each(Elsewhere::pause)?;
                batches += 1;
                disturbed += u32::from(ran < wanted / 10 * 9);
                if disturbed > batches / 2 && batches == 8 {
                    doubts.raise(Doubt::Interrupted { share: f64::from(disturbed) / f64::from(batches) });
                }
                Ok(())
            }),
    )
}

/// The processor time of these tasks in ns.
fn together(tasks: &[Elsewhere]) -> Result<u64, Failure> {
    tasks.iter().map(Elsewhere::time).sum()
}

/// A loop that takes the second page from the mapping at an area's beginning, and gives it back. Both calls count.
fn lengthening(area: Area) -> Result<Loop, Failure> {
    back_and_forth(move || {
        let start = area.page(0).address();
        // SAFETY: both pages are the area's, and nothing refers to the second.
        exactly(start, unsafe { invoke!(mremap, start, 2 * PAGE, PAGE, 0) }?)?;
        // SAFETY: the guard pages leave the second page free, or it is the area's own.
        exactly(start, unsafe { invoke!(mremap, start, PAGE, 2 * PAGE, 0) }?)
    })
}

/// Writes a page that an iteration needs written.
fn written(area: &Area, page: usize) -> Result<(), Failure> {
    area.touch(page);
    Ok(())
}
