//! Semaphores: POSIX in shared memory, and System V. They carry no payload.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::c_short;
use operation::{Failure, Operation, Setting, repeat, term};

use super::{NEAR_OR_FAR, SELF, TRIP, not_answered};
use crate::kit::{Null, Shared, by_c_library, call, exactly, namespaces};

pub(crate) const OPERATIONS: &[Operation] = &[
    // A semaphore on which no task sleeps: no system call is needed.
    SELF.named("semaphore.posix.self", "post a POSIX semaphore and take it, one task")
        .version(by_c_library(2))
        .per("pair")
        .aliases(&["SETF/Local", "WTSE"])
        .moves(|_| 0)
        .prepare(|_| {
            let semaphore = Shared::new(Posix::new())?;
            semaphore.initialize()?;
            Ok(repeat(move || {
                semaphore.post()?;
                semaphore.take()
            }))
        }),
    TRIP.id("semaphore.posix.roundtrip")
        .summary("post a POSIX semaphore in shared memory on which a partner process waits, and wait on another")
        .version(by_c_library(2))
        .axes(&[NEAR_OR_FAR])
        .explained_by(&[term(1.0, "futex.roundtrip").same(&["distance"])])
        .prepare(|setting: &Setting| {
            let board =
                Shared::new(SemaphoreBoard { theirs: Posix::new(), ours: Posix::new(), answers: AtomicU32::new(0) })?;
            board.theirs.initialize()?;
            board.ours.initialize()?;
            let partner = setting.repeating_partner(setting.partner_cpu()?, || {
                board.theirs.take()?;
                board.answers.fetch_add(1, Ordering::Relaxed);
                board.ours.post()
            })?;
            let mut answers = 0_u32;
            Ok(repeat(move || {
                let _alive = &partner;
                answers = answers.wrapping_add(1);
                board.theirs.post()?;
                board.ours.take()?;
                if board.answers.load(Ordering::Relaxed) == answers { Ok(()) } else { not_answered() }
            }))
        }),
    // A System V semaphore on which no task sleeps: still two calls.
    SELF.named("semaphore.systemv.self", "raise a System V semaphore and lower it, one task")
        .version(3)
        .per("pair")
        .aliases(&["SETF/Group", "WTSE"])
        .calls(&["semop", "semop"])
        .moves(|_| 0)
        .prepare(|_| {
            let set = SystemV::new()?;
            Ok(repeat(move || {
                set.change(THEIRS, 1)?;
                set.change(THEIRS, -1)
            }))
        }),
    TRIP.id("semaphore.systemv.roundtrip")
        .summary("raise a System V semaphore on which a partner process waits, and wait on another")
        .version(3)
        .aliases(&["SETF/Group", "WTSE"])
        .axes(&[NEAR_OR_FAR])
        .explained_by(&[term(2.0, "semaphore.systemv.self")])
        .prepare(|setting: &Setting| {
            let set = SystemV::new()?;
            let answered = Shared::new(AtomicU32::new(0))?;
            let partner = setting.repeating_partner(setting.partner_cpu()?, || {
                set.change(THEIRS, -1)?;
                answered.fetch_add(1, Ordering::Relaxed);
                set.change(OURS, 1)
            })?;
            let mut answers = 0_u32;
            Ok(repeat(move || {
                let _alive = &partner;
                answers = answers.wrapping_add(1);
                set.change(THEIRS, 1)?;
                set.change(OURS, -1)?;
                if answered.load(Ordering::Relaxed) == answers { Ok(()) } else { not_answered() }
            }))
        }),
];

struct SemaphoreBoard {
    theirs: Posix,
    ours: Posix,
    answers: AtomicU32,
}

/// The C library's semaphore: an atomic word, and a futex if a task must sleep. It holds nothing to be freed.
struct Posix(UnsafeCell<libc::sem_t>);

// SAFETY: the C library's functions on a semaphore may be called by any number of tasks at a time.
unsafe impl Sync for Posix {}

impl Posix {
    fn new() -> Posix {
        // SAFETY: the type is plain memory, for which every bit pattern is valid.
        Posix(UnsafeCell::new(unsafe { std::mem::zeroed() }))
    }

    /// Initializes it to zero, shared between processes, at its final address.
    fn initialize(&self) -> Result<(), Failure> {
        // SAFETY: the address is valid, and no other task knows it yet.
        if unsafe { libc::sem_init(self.0.get(), 1, 0) } == 0 { Ok(()) } else { Err(Failure::last_os_error()) }
    }

    #[inline]
    fn post(&self) -> Result<(), Failure> {
        // SAFETY: the semaphore was initialized.
        if unsafe { libc::sem_post(self.0.get()) } == 0 { Ok(()) } else { Err(Failure::last_os_error()) }
    }

    #[inline]
    fn take(&self) -> Result<(), Failure> {
        // SAFETY: the semaphore was initialized.
        while unsafe { libc::sem_wait(self.0.get()) } != 0 {
            match Failure::last_os_error() {
                Failure::Errno { errno: libc::EINTR } => {}
                failure => return Err(failure),
            }
        }
        Ok(())
    }
}

const THEIRS: u16 = 0;
const OURS: u16 = 1;

/// A set of two System V semaphores, in its own namespace; removed when dropped.
struct SystemV {
    id: usize,
}

impl SystemV {
    fn new() -> Result<SystemV, Failure> {
        namespaces(libc::CLONE_NEWIPC)?;
        Ok(SystemV { id: call::semget(libc::IPC_PRIVATE, 2, libc::IPC_CREAT | 0o600)? })
    }

    /// Adds to one of them, or waits until it is large enough and takes from it.
    #[inline(always)]
    fn change(&self, which: u16, by: c_short) -> Result<(), Failure> {
        let change = [libc::sembuf { sem_num: which, sem_op: by, sem_flg: 0 }];
        loop {
            match call::semop(self.id, &change) {
                Err(Failure::Errno { errno: libc::EINTR }) => {}
                done => return exactly(0, done?),
            }
        }
    }
}

impl Drop for SystemV {
    fn drop(&mut self) {
        let _ = call::semctl(self.id, 0, libc::IPC_RMID, Null);
    }
}
