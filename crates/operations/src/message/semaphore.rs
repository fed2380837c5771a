//! Semaphores: POSIX in shared memory, and System V. They carry no payload.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{c_int, c_short};
use operation::{Failure, Operation, Setting, repeat, term};
use rustix::io::Errno;

use super::{EXOTIC, NEAR_OR_FAR, TO_ITSELF, namespace, not_answered};
use crate::kit::shared::Shared;

pub(crate) const OPERATIONS: &[Operation] = &[
    // A semaphore on which no task sleeps: no system call is needed.
    Operation {
        id: "semaphore.posix.self",
        summary: "post a POSIX semaphore and take it, one task",
        per: "pair",
        aliases: &["SETF/Local", "WTSE"],
        moves: |_| 0,
        prepare: |_| {
            let semaphore = Shared::new(Posix::new())?;
            semaphore.initialize()?;
            Ok(repeat(move || {
                semaphore.post()?;
                semaphore.take()
            }))
        },
        ..TO_ITSELF
    },
    // Two semaphores, one in each direction.
    Operation {
        id: "semaphore.posix.roundtrip",
        summary: "post a POSIX semaphore in shared memory on which a partner process waits, and wait on another",
        axes: &[NEAR_OR_FAR],
        explained_by: &[term(1.0, "futex.roundtrip").same(&["distance"])],
        prepare: |setting: &Setting| {
            let board =
                Shared::new(SemaphoreBoard { theirs: Posix::new(), ours: Posix::new(), answers: AtomicU32::new(0) })?;
            board.theirs.initialize()?;
            board.ours.initialize()?;
            let partner = setting.partner(setting.partner_cpu()?, || {
                loop {
                    board.theirs.take()?;
                    board.answers.fetch_add(1, Ordering::Relaxed);
                    board.ours.post()?;
                }
            })?;
            let mut answers = 0_u32;
            Ok(repeat(move || {
                let _alive = &partner;
                answers = answers.wrapping_add(1);
                board.theirs.post()?;
                board.ours.take()?;
                if board.answers.load(Ordering::Relaxed) == answers { Ok(()) } else { not_answered() }
            }))
        },
        ..EXOTIC
    },
    // A System V semaphore on which no task sleeps: still two calls.
    Operation {
        id: "semaphore.systemv.self",
        summary: "raise a System V semaphore and lower it, one task",
        per: "pair",
        aliases: &["SETF/Group", "WTSE"],
        calls: &["semget", "semop"],
        moves: |_| 0,
        prepare: |_| {
            let set = SystemV::new()?;
            Ok(repeat(move || {
                set.change(THEIRS, 1)?;
                set.change(THEIRS, -1)
            }))
        },
        ..TO_ITSELF
    },
    // Two semaphores of a set, one in each direction.
    Operation {
        id: "semaphore.systemv.roundtrip",
        summary: "raise a System V semaphore on which a partner process waits, and wait on another",
        aliases: &["SETF/Group", "WTSE"],
        axes: &[NEAR_OR_FAR],
        explained_by: &[term(2.0, "semaphore.systemv.self")],
        prepare: |setting: &Setting| {
            let set = SystemV::new()?;
            let answered = Shared::new(AtomicU32::new(0))?;
            let partner = setting.partner(setting.partner_cpu()?, || {
                loop {
                    set.change(THEIRS, -1)?;
                    answered.fetch_add(1, Ordering::Relaxed);
                    set.change(OURS, 1)?;
                }
            })?;
            let mut answers = 0_u32;
            Ok(repeat(move || {
                let _alive = &partner;
                answers = answers.wrapping_add(1);
                set.change(THEIRS, 1)?;
                set.change(OURS, -1)?;
                if answered.load(Ordering::Relaxed) == answers { Ok(()) } else { not_answered() }
            }))
        },
        ..EXOTIC
    },
];

/// What two tasks with POSIX semaphores share.
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
            not_interrupted()?;
        }
        Ok(())
    }
}

const THEIRS: u16 = 0;
const OURS: u16 = 1;

/// A set of two System V semaphores, in its own namespace; removed when dropped.
struct SystemV {
    id: c_int,
}

impl SystemV {
    fn new() -> Result<SystemV, Failure> {
        namespace::enter()?;
        // SAFETY: passes no memory.
        match unsafe { libc::semget(libc::IPC_PRIVATE, 2, libc::IPC_CREAT | 0o600) } {
            -1 => Err(Failure::last_os_error()),
            id => Ok(SystemV { id }),
        }
    }

    /// Adds to one of them, or waits until it is large enough and takes from it.
    #[inline]
    fn change(&self, which: u16, by: c_short) -> Result<(), Failure> {
        let mut change = libc::sembuf { sem_num: which, sem_op: by, sem_flg: 0 };
        // SAFETY: there is one change to make.
        while unsafe { libc::semop(self.id, &mut change, 1) } != 0 {
            not_interrupted()?;
        }
        Ok(())
    }
}

impl Drop for SystemV {
    fn drop(&mut self) {
        // SAFETY: removing takes no argument.
        unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) };
    }
}

/// The error of the last call, unless a signal interrupted it.
#[cold]
fn not_interrupted() -> Result<(), Failure> {
    let failure = Failure::last_os_error();
    if failure == Errno::INTR.into() { Ok(()) } else { Err(failure) }
}
