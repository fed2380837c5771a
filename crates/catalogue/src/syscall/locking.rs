//! Calls that lock memory in RAM, and that protect it by keys.

use libc::{PROT_READ, PROT_WRITE};
use operation::{Failure, Loop, Operation, repeat};
use rustix::process::{Resource, getrlimit};

use super::{CALL, PAIR};
use crate::kit::{Area, PAGE, back_and_forth, call, consuming, emptied, exactly, producing, refilled, tried};

/// Protection keys allocated in one batch: x86-64 has 15, aarch64 has 7.
const KEYS: u64 = 6;

/// The most pages locked in one batch. Each is a separate mapping, so that none is split or merged.
const LOCKED: u64 = 256;

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.mlock", "lock a page that is present into memory, a separate mapping")
        .version(2)
        .prepare(|_| locking(lock)),
    CALL.named("call.mlock2", "lock a page into memory once it is touched, a separate mapping")
        .version(2)
        .prepare(|_| locking(|area, page| exactly(0, call::mlock2(area.page(page), libc::MLOCK_ONFAULT)?))),
    CALL.named("call.munlock", "unlock a page that is locked into memory, a separate mapping").version(2).prepare(
        |_| {
            let pages = at_once();
            let area = Area::separate_touched(pages as usize)?;
            enough(call::mlock(area.page(0)))?;
            refilled(pages, area, lock, unlock)
        },
    ),
    PAIR.named("pair.lock.memory", "lock a page into memory, and unlock it, a separate mapping")
        .version(2)
        .calls(&["mlock", "munlock"])
        .prepare(|_| {
            let area = Area::touched(1)?;
            enough(call::mlock(area.page(0)))?;
            tried(repeat(move || {
                exactly(0, call::mlock(area.page(0))?)?;
                exactly(0, call::munlock(area.page(0))?)
            }))
        }),
    PAIR.named("call.mlockall", "lock all present memory of a process, and unlock it")
        .calls(&["mlockall", "munlockall"])
        .prepare(|_| {
            let what = libc::MCL_CURRENT | libc::MCL_ONFAULT;
            enough(call::mlockall(what))?;
            tried(repeat(move || {
                exactly(0, call::mlockall(what)?)?;
                exactly(0, call::munlockall()?)
            }))
        }),
    CALL.named("call.pkey_alloc", "allocate a protection key").prepare(|_| {
        drop(Key::new().map_err(without_keys)?);
        tried(producing(Key::new).at_most(KEYS))
    }),
    CALL.named("call.pkey_free", "free a protection key").prepare(|_| {
        drop(Key::new().map_err(without_keys)?);
        tried(consuming(Key::new, Key::free).at_most(KEYS))
    }),
    CALL.named("call.pkey_mprotect", "assign a protection key to a page, or none, a separate mapping")
        .version(2)
        .prepare(|_| {
            let (key, area) = (Key::new().map_err(without_keys)?, Area::touched(1)?);
            let both = PROT_READ | PROT_WRITE;
            back_and_forth(move || {
                exactly(0, call::pkey_mprotect(area.page(0), both, key.0)?)?;
                exactly(0, call::pkey_mprotect(area.page(0), both, 0)?)
            })
        }),
];

/// A protection key, freed when dropped.
struct Key(usize);

impl Key {
    #[inline(always)]
    fn new() -> Result<Key, Failure> {
        Ok(Key(call::pkey_alloc(0, 0)?))
    }

    #[inline(always)]
    fn free(self) -> Result<(), Failure> {
        let key = self.0;
        std::mem::forget(self);
        exactly(0, call::pkey_free(key)?)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let _ = call::pkey_free(self.0);
    }
}

/// The kernel's error on a processor without keys.
fn without_keys(failure: Failure) -> Failure {
    failure.skip_on(&[libc::ENOSPC, libc::EINVAL], "this processor has no protection keys", "")
}

/// The number of pages that this process may lock at the same time, less a reserve. Root may lock more than the limit says, but not
/// in a container.
fn at_once() -> u64 {
    const OTHERS: u64 = 4;
    let limit = getrlimit(Resource::Memlock).current;
    (limit.unwrap_or(u64::MAX) / PAGE as u64).saturating_sub(OTHERS).clamp(1, LOCKED)
}

/// A first lock. Its refusal is a skip.
fn enough(locked: Result<usize, Failure>) -> Result<(), Failure> {
    match locked {
        Err(Failure::Errno { errno: libc::ENOMEM | libc::EAGAIN | libc::EPERM }) => {
            Err(Failure::skip("the limit on locked memory is too low", "ulimit -l unlimited"))
        }
        other => exactly(0, other?),
    }
}

#[inline(always)]
fn lock(area: &Area, page: usize) -> Result<(), Failure> {
    exactly(0, call::mlock(area.page(page))?)
}

#[inline(always)]
fn unlock(area: &Area, page: usize) -> Result<(), Failure> {
    exactly(0, call::munlock(area.page(page))?)
}

/// A loop that locks another page in each iteration. They are unlocked after the batch.
fn locking(lock: impl Fn(&Area, usize) -> Result<(), Failure> + 'static) -> Result<Loop, Failure> {
    let pages = at_once();
    let area = Area::separate_touched(pages as usize)?;
    enough(call::mlock(area.page(0)))?;
    unlock(&area, 0)?;
    emptied(pages, area, lock, unlock)
}
