//! Calls on the address space: mapping, protecting and dropping memory.

use std::rc::Rc;

use libc::{MAP_ANONYMOUS, MAP_PRIVATE, MAP_SHARED, PROT_READ, PROT_WRITE};
use measure::{Failure, Operation, Setting, repeat};
use record::Estimate;

use super::raw::{CALL, FILES, PAIR, STOCK, call, consuming, file_of, for_each, numbered, owned, producing, tried};
use crate::syscall::exactly;

/// A page of most machines.
const PAGE: usize = 4096;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "call.brk",
        summary: "move the end of the heap by a page, there or back",
        calls: &["brk"],
        prepare: |_| {
            let end = call!(brk, 0)?;
            tried(
                repeat(move || {
                    exactly(end + PAGE, call!(brk, end + PAGE)?)?;
                    exactly(end, call!(brk, end)?)
                })
                .each(2),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.mmap",
        summary: "map a page of anonymous memory",
        calls: &["mmap"],
        prepare: |_| tried(producing(|| Area::new(1))),
        ..CALL
    },
    Operation {
        id: "call.munmap",
        summary: "unmap a page of anonymous memory that was not touched",
        calls: &["munmap"],
        prepare: |_| tried(consuming(|| Area::new(1), Area::unmap)),
        ..CALL
    },
    Operation {
        id: "pair.map.touch",
        summary: "map a page of anonymous memory, write one byte of it, and unmap it",
        calls: &["mmap", "munmap"],
        prepare: |_| {
            tried(repeat(|| {
                let area = Area::new(1)?;
                area.touch(0);
                area.unmap()
            }))
        },
        ..PAIR
    },
    Operation {
        id: "call.mprotect",
        summary: "forbid or allow writing to a page that is there",
        calls: &["mprotect"],
        prepare: |_| {
            let area = Area::touched(1)?;
            tried(
                repeat(move || {
                    exactly(0, call!(mprotect, area.page(0), PAGE, PROT_READ)?)?;
                    exactly(0, call!(mprotect, area.page(0), PAGE, PROT_READ | PROT_WRITE)?)
                })
                .each(2),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.mremap",
        summary: "lengthen or shorten a mapping by a page, in place",
        calls: &["mremap"],
        prepare: |_| {
            let area = Area::new(2)?;
            tried(
                repeat(move || {
                    exactly(area.page(0), call!(mremap, area.page(0), 2 * PAGE, PAGE, 0)?)?;
                    exactly(area.page(0), call!(mremap, area.page(0), PAGE, 2 * PAGE, 0)?)
                })
                .each(2),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.msync",
        summary: "wait until the device has a page of a mapped file that was just written",
        calls: &["msync"],
        quoted: Estimate::Typical,
        patience: 60.0,
        prepare: |setting| {
            let area = Rc::new(Area::of_file(setting, 1)?);
            let written = Rc::clone(&area);
            tried(repeat(move || exactly(0, call!(msync, area.page(0), PAGE, libc::MS_SYNC)?)).at_most(1).before(
                move |_| {
                    written.touch(0);
                    Ok(())
                },
            ))
        },
        ..CALL
    },
    Operation {
        id: "call.madvise",
        summary: "give back a page of anonymous memory that was written",
        calls: &["madvise"],
        prepare: |_| {
            let area = Rc::new(Area::new(STOCK as usize)?);
            let written = Rc::clone(&area);
            tried(
                numbered(move |turn| exactly(0, call!(madvise, area.page(turn), PAGE, libc::MADV_DONTNEED)?))
                    .at_most(STOCK)
                    .before(touching(written)),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.process_madvise",
        summary: "say by a pidfd that a page of a process will not be needed soon",
        calls: &["process_madvise"],
        prepare: |_| {
            let area = Rc::new(Area::touched(STOCK as usize)?);
            let written = Rc::clone(&area);
            let process = owned(call!(pidfd_open, std::process::id(), 0)?);
            tried(
                numbered(move |turn| {
                    let range = [area.page(turn), PAGE];
                    exactly(PAGE, call!(process_madvise, &process, &range, 1, libc::MADV_COLD, 0)?)
                })
                .at_most(STOCK)
                .before(touching(written)),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.mincore",
        summary: "ask whether a page is in memory",
        calls: &["mincore"],
        prepare: |_| {
            let area = Area::touched(1)?;
            let mut there = [0_u8];
            tried(repeat(move || {
                exactly(0, call!(mincore, area.page(0), PAGE, &mut there)?)?;
                exactly(1, usize::from(there[0] & 1))
            }))
        },
        ..CALL
    },
    Operation {
        id: "call.remap_file_pages",
        summary: "let a page of a mapping show another page of its file",
        calls: &["remap_file_pages"],
        prepare: |setting| {
            let area = Area::of_file(setting, 2)?;
            tried(
                repeat(move || {
                    exactly(0, call!(remap_file_pages, area.page(0), PAGE, 0, 1, 0)?)?;
                    exactly(0, call!(remap_file_pages, area.page(0), PAGE, 0, 0, 0)?)
                })
                .each(2),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.mseal",
        summary: "forbid for good that a page's mapping is changed",
        calls: &["mseal"],
        prepare: |_| {
            // What is sealed stays until the process ends, so there are only so many.
            let area = Area::new((FILES * STOCK) as usize)?;
            let mut next = 0;
            let seal = move || {
                next += 1;
                exactly(0, call!(mseal, area.page(next - 1), PAGE, 0)?)
            };
            tried(repeat(seal).at_most(FILES).batches(FILES as u32))
        },
        ..CALL
    },
    Operation {
        id: "call.map_shadow_stack",
        summary: "map a page that only calls and returns write",
        calls: &["map_shadow_stack"],
        prepare: |_| {
            let make = || Ok(Area { start: call!(map_shadow_stack, 0, PAGE, 0)?, length: PAGE });
            tried(producing(make))
        },
        ..CALL
    },
    Operation {
        id: "call.membarrier",
        summary: "make all threads of the process see its writes in order",
        calls: &["membarrier"],
        prepare: |_| {
            exactly(0, call!(membarrier, libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)?)?;
            tried(repeat(|| exactly(0, call!(membarrier, libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.userfaultfd",
        summary: "make a descriptor that page faults are read from",
        calls: &["userfaultfd"],
        prepare: |_| {
            const USER_MODE_ONLY: i32 = 1;
            let make = || Ok(owned(call!(userfaultfd, libc::O_CLOEXEC | USER_MODE_ONLY)?));
            tried(producing(make))
        },
        ..CALL
    },
];

/// Memory of this process's own, whose pages are named by their number.
pub(super) struct Area {
    start: usize,
    length: usize,
}

impl Area {
    /// So many pages, untouched.
    #[inline(always)]
    pub(super) fn new(pages: usize) -> Result<Area, Failure> {
        let (access, kind) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
        Ok(Area { start: call!(mmap, 0, pages * PAGE, access, kind, -1, 0)?, length: pages * PAGE })
    }

    /// So many pages, all there.
    pub(super) fn touched(pages: usize) -> Result<Area, Failure> {
        let area = Area::new(pages)?;
        (0..pages).for_each(|page| area.touch(page));
        Ok(area)
    }

    /// A scratch file of so many pages, mapped to be shared.
    fn of_file(setting: &Setting, pages: usize) -> Result<Area, Failure> {
        let (file, length) = (file_of(setting, pages * PAGE)?, pages * PAGE);
        let start = call!(mmap, 0, length, PROT_READ | PROT_WRITE, MAP_SHARED, &file, 0)?;
        Ok(Area { start, length })
    }

    #[inline(always)]
    pub(super) fn page(&self, number: usize) -> usize {
        self.start + number * PAGE
    }

    /// Writes a byte of a page.
    #[inline(always)]
    pub(super) fn touch(&self, page: usize) {
        let place = std::ptr::with_exposed_provenance_mut::<u8>(self.page(page));
        // SAFETY: the page is this area's own, is mapped for writing, and nothing else points to it.
        unsafe { place.write_volatile(1) };
    }

    #[inline(always)]
    fn unmap(self) -> Result<(), Failure> {
        let (start, length) = (self.start, self.length);
        std::mem::forget(self);
        exactly(0, call!(munmap, start, length)?)
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        let _ = call!(munmap, self.start, self.length);
    }
}

/// What comes before a batch whose iterations find their page written.
fn touching(area: Rc<Area>) -> impl FnMut(u64) -> Result<(), Failure> + 'static {
    for_each(move |turn| {
        area.touch(turn);
        Ok(())
    })
}
