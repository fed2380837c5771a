//! The kernel: system calls that take 0 to 6 arguments, do almost nothing with them, and succeed. Each number is another
//! call, because the kernel's entry saves the same registers whatever number of arguments the call has.

use std::cell::RefCell;

use operation::{Failure, Loop, Operation, in_a_function, repeat, term};
use syscalls::{Sysno, raw};

use super::{ARGUMENTS, CROSSING, no_such_count};
use crate::kit::{exactly, handles, tried};

pub(crate) const OPERATIONS: &[Operation] = &[CROSSING
    .named(
        "crossing.call",
        "a system call with this many arguments: getppid, umask, clock_getres, getresuid, rt_sigprocmask, \
            prctl, futex",
    )
    .aliases(&["wall-crossing"])
    .axes(&[ARGUMENTS])
    .explained_by(&[term(1.0, "crossing.procedure").same(&["arguments"])])
    .at_least(&["crossing.procedure", "crossing.shared"])
    .prepare(|setting| {
        tried(match setting.number("arguments")? {
            0 => with_none(),
            1 => with_one(),
            2 => with_two(),
            3 => with_three(),
            4 => with_four(),
            5 => with_five()?,
            6 => with_six(),
            other => return no_such_count(other),
        })
    })];

/// The call `$name` with exactly these arguments. No register is loaded that the call does not take.
macro_rules! enter {
    ($by:ident $name:ident $(, $argument:expr)*) => {{
        // SAFETY: pointers among the arguments are to memory that the loop owns and that has the size the call expects.
        in_a_function(|| unsafe { raw::$by(Sysno::$name as usize $(, $argument as usize)*) })
    }};
}

/// Returns the parent's id.
fn with_none() -> Loop {
    let parent = std::os::unix::process::parent_id() as usize;
    repeat(move || exactly(parent, enter!(syscall0 getppid)))
}

/// Exchanges the mask of permissions of new files. Returns the previous one.
fn with_one() -> Loop {
    let (mut next, mut last) = (0o77, 0o22);
    // The value before the first exchange.
    enter!(syscall1 umask, last);
    repeat(move || {
        let before = enter!(syscall1 umask, next);
        exactly(last, before)?;
        std::mem::swap(&mut next, &mut last);
        Ok(())
    })
}

/// Returns a clock's resolution.
fn with_two() -> Loop {
    let mut step = Box::new([0_i64; 2]);
    repeat(move || {
        step[1] = 0;
        exactly(0, enter!(syscall2 clock_getres, libc::CLOCK_MONOTONIC, step.as_mut_ptr()))?;
        if *step == [0, 0] { Err(Failure::wrong("the clock has no resolution")) } else { Ok(()) }
    })
}

/// Returns the ids of this process in three words.
fn with_three() -> Loop {
    let own = rustix::process::getuid().as_raw();
    let mut users = Box::new([!own; 3]);
    repeat(move || {
        users[0] = !own;
        let [real, effective, saved] = users.each_mut().map(std::ptr::from_mut);
        exactly(0, enter!(syscall3 getresuid, real, effective, saved))?;
        exactly(own as usize, users[0] as usize)
    })
}

/// Blocks no additional signal, and returns those that are blocked.
fn with_four() -> Loop {
    let (none, mut before) = (Box::new(0_u64), Box::new(!0_u64));
    repeat(move || {
        *before = !0;
        let (add, reported) = (std::ptr::from_ref(&*none), std::ptr::from_mut(&mut *before));
        exactly(0, enter!(syscall4 rt_sigprocmask, libc::SIG_BLOCK, add, reported, size_of::<u64>()))?;
        if *before == !0 { Err(Failure::wrong("the mask was not returned")) } else { Ok(()) }
    })
}

/// Returns whether this process may gain privileges, after a check that the other four arguments are zero.
fn with_five() -> Result<Loop, Failure> {
    // SAFETY: reads a flag of this process.
    let may_not = match unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) } {
        -1 => return Err(Failure::last_os_error()),
        flag => flag as usize,
    };
    Ok(repeat(move || exactly(may_not, enter!(syscall5 prctl, libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))))
}

/// Adds one to a word, and wakes one task that sleeps on another word and one that sleeps on this one. There are none.
fn with_six() -> Loop {
    /// The operation: add (1, in the highest four bits) one (from bit 12), then wake if the old value was (0, from bit 24)
    /// zero.
    const ADD_ONE: u32 = 1 << 28 | 1 << 12;
    let [words, counted] = handles(RefCell::new(Box::new([0_u32; 2])));
    let operation = libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG;
    let run = move |times| {
        let mut words = words.borrow_mut();
        let [first, second] = words.each_mut().map(std::ptr::from_mut);
        for _ in 0..times {
            exactly(0, enter!(syscall6 futex, first, operation, 1, 1, second, ADD_ONE))?;
        }
        Ok(())
    };
    let mut all = 0_u32;
    let verify = move |times: u64| {
        all = all.wrapping_add(times as u32);
        exactly(all as usize, counted.borrow()[1] as usize)
    };
    Loop::new(run).verify(verify)
}
