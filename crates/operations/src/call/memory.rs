//! Calls on the address space: mapping, protecting, locking and dropping memory.

use std::rc::Rc;

use libc::{MAP_ANONYMOUS, MAP_PRIVATE, MAP_SHARED, PROT_READ, PROT_WRITE};
use measure::{Failure, Operation, Setting, repeat};
use record::Estimate;

use super::raw::{CALL, FILES, PAIR, STOCK, call, consuming, file_of, for_each, numbered, owned, producing, tried};
use crate::syscall::exactly;

/// A page of most machines.
const PAGE: usize = 4096;

/// Protection keys taken in one batch; processors have 15.
const KEYS: u64 = 8;

/// Pages locked in one batch: within the limit that systems have had for longest, 64 KiB.
const LOCKED: u64 = 16;

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
                    .before(for_each(move |turn| {
                        written.touch(turn);
                        Ok(())
                    })),
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
                .before(for_each(move |turn| {
                    written.touch(turn);
                    Ok(())
                })),
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
        id: "call.mlock",
        summary: "lock a page that is there into memory",
        calls: &["mlock"],
        prepare: |_| locking(|page| call!(mlock, page, PAGE), |page| call!(munlock, page, PAGE)),
        ..CALL
    },
    Operation {
        id: "call.mlock2",
        summary: "lock a page into memory once it is touched",
        calls: &["mlock2"],
        prepare: |_| locking(|page| call!(mlock2, page, PAGE, libc::MLOCK_ONFAULT), |page| call!(munlock, page, PAGE)),
        ..CALL
    },
    Operation {
        id: "call.munlock",
        summary: "unlock a page that is locked into memory",
        calls: &["munlock"],
        prepare: |_| {
            let area = Rc::new(Area::touched(LOCKED as usize)?);
            enough(call!(mlock, area.page(0), LOCKED as usize * PAGE))?;
            let locked = Rc::clone(&area);
            tried(
                numbered(move |turn| exactly(0, call!(munlock, area.page(turn), PAGE)?))
                    .at_most(LOCKED)
                    .before(for_each(move |turn| exactly(0, call!(mlock, locked.page(turn), PAGE)?))),
            )
        },
        ..CALL
    },
    Operation {
        id: "pair.lock.memory",
        summary: "lock a page into memory, and unlock it",
        calls: &["mlock", "munlock"],
        prepare: |_| {
            let area = Area::touched(1)?;
            enough(call!(mlock, area.page(0), PAGE))?;
            tried(repeat(move || {
                exactly(0, call!(mlock, area.page(0), PAGE)?)?;
                exactly(0, call!(munlock, area.page(0), PAGE)?)
            }))
        },
        ..PAIR
    },
    Operation {
        id: "call.mlockall",
        summary: "lock all of a process's memory that is there, and unlock it",
        calls: &["mlockall", "munlockall"],
        prepare: |_| {
            let what = libc::MCL_CURRENT | libc::MCL_ONFAULT;
            enough(call!(mlockall, what))?;
            tried(repeat(move || {
                exactly(0, call!(mlockall, what)?)?;
                exactly(0, call!(munlockall)?)
            }))
        },
        ..PAIR
    },
    Operation {
        id: "call.pkey_alloc",
        summary: "take a protection key",
        calls: &["pkey_alloc"],
        prepare: |_| {
            drop(Key::new().map_err(without_keys)?);
            tried(producing(Key::new).at_most(KEYS))
        },
        ..CALL
    },
    Operation {
        id: "call.pkey_free",
        summary: "give up a protection key",
        calls: &["pkey_free"],
        prepare: |_| {
            drop(Key::new().map_err(without_keys)?);
            tried(consuming(Key::new, Key::free).at_most(KEYS))
        },
        ..CALL
    },
    Operation {
        id: "call.pkey_mprotect",
        summary: "put a page under a protection key, or under none",
        calls: &["pkey_mprotect"],
        prepare: |_| {
            let (key, area) = (Key::new().map_err(without_keys)?, Area::touched(1)?);
            let both = PROT_READ | PROT_WRITE;
            tried(
                repeat(move || {
                    exactly(0, call!(pkey_mprotect, area.page(0), PAGE, both, key.number())?)?;
                    exactly(0, call!(pkey_mprotect, area.page(0), PAGE, both, 0)?)
                })
                .each(2),
            )
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

/// A protection key, given up when dropped.
struct Key(usize);

impl Key {
    fn number(&self) -> usize {
        self.0
    }

    #[inline(always)]
    fn new() -> Result<Key, Failure> {
        Ok(Key(call!(pkey_alloc, 0, 0)?))
    }

    #[inline(always)]
    fn free(self) -> Result<(), Failure> {
        let key = self.0;
        std::mem::forget(self);
        exactly(0, call!(pkey_free, key)?)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let _ = call!(pkey_free, self.0);
    }
}

/// What the kernel answers where the processor has no keys.
fn without_keys(failure: Failure) -> Failure {
    match failure {
        Failure::Errno { errno: libc::ENOSPC | libc::EINVAL } => {
            Failure::skip("this processor has no protection keys", "")
        }
        other => other,
    }
}

/// A first lock, whose refusal is a skip.
fn enough(locked: Result<usize, Failure>) -> Result<(), Failure> {
    match locked {
        Err(Failure::Errno { errno: libc::ENOMEM | libc::EAGAIN | libc::EPERM }) => {
            Err(Failure::skip("too little memory may be locked", "ulimit -l unlimited"))
        }
        other => exactly(0, other?),
    }
}

/// A loop that locks another page in each iteration; they are unlocked after the batch.
fn locking(
    lock: impl Fn(usize) -> Result<usize, Failure> + 'static,
    unlock: impl Fn(usize) -> Result<usize, Failure> + 'static,
) -> Result<measure::Loop, Failure> {
    let area = Rc::new(Area::touched(LOCKED as usize)?);
    enough(call!(mlock, area.page(0), LOCKED as usize * PAGE))?;
    exactly(0, call!(munlock, area.page(0), LOCKED as usize * PAGE)?)?;
    let unlocked = Rc::clone(&area);
    tried(
        numbered(move |turn| exactly(0, lock(area.page(turn))?))
            .at_most(LOCKED)
            .verify(for_each(move |turn| exactly(0, unlock(unlocked.page(turn))?))),
    )
}
