//! Threads.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use measure::{Failure, Operation, repeat};
use syscalls::Sysno;

use crate::call::raw::{call, tried};
use crate::child::{Start, start_and_end};

pub(crate) const OPERATIONS: &[Operation] = &[CREATE_JOIN, CLONE3];

const CREATE_JOIN: Operation = Operation {
    id: "thread.create.join",
    summary: "start a thread that ends at once and wait for it (pthread_create, pthread_join)",
    per: "thread",
    headline: true,
    prepare: |_| {
        let mut started = 0_u64;
        Ok(repeat(move || {
            let before = started;
            run_thread(&mut started)?;
            if started == before + 1 { Ok(()) } else { Err(Failure::wrong("the thread did not run")) }
        }))
    },
    ..crate::DEFAULT
};

const CLONE3: Operation = Operation {
    id: "thread.clone3",
    summary: "start a thread that ends at once and wait for it, without the C library (clone3, exit, futex)",
    per: "thread",
    calls: &["clone3", "exit"],
    prepare: |_| {
        // The kernel writes the thread's id here as it starts, and zero as it ends.
        let running: &'static AtomicU32 = Box::leak(Box::default());
        let address = running.as_ptr() as u64;
        let start = Start { flags: THREAD as u64, child_tid: address, parent_tid: address, ..Start::default() };
        tried(repeat(move || {
            let arguments = [&raw const start as usize, size_of::<Start>()];
            // SAFETY: the thread uses no stack; the word it is to clear is never given back.
            unsafe { start_and_end(Sysno::clone3, arguments, Sysno::exit) }?;
            wait_until_zero(running)
        }))
    },
    ..crate::DEFAULT
};

/// What makes a new task a thread of this process, with its end told by a word of memory.
const THREAD: i32 = libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_PARENT_SETTID
    | libc::CLONE_CHILD_CLEARTID;

fn wait_until_zero(word: &AtomicU32) -> Result<(), Failure> {
    loop {
        let value = word.load(Ordering::Acquire);
        if value == 0 {
            return Ok(());
        }
        match call!(futex, word.as_ptr(), libc::FUTEX_WAIT, value, 0) {
            Ok(_) | Err(Failure::Errno { errno: libc::EAGAIN | libc::EINTR }) => {}
            Err(failure) => return Err(failure),
        }
    }
}

/// Starts a thread that adds one to `started`, and waits for its end. The C library keeps the stacks of ended
/// threads, so from the second one on no memory is mapped.
fn run_thread(started: &mut u64) -> Result<(), Failure> {
    let mut thread = std::mem::MaybeUninit::<libc::pthread_t>::uninit();
    let argument: *mut c_void = std::ptr::from_mut(started).cast();
    // SAFETY: the argument is what the thread expects and outlives it, for it is waited for below.
    let error = unsafe { libc::pthread_create(thread.as_mut_ptr(), std::ptr::null(), count_start, argument) };
    if error != 0 {
        return Err(Failure::Errno { errno: error });
    }
    // SAFETY: the thread was created, so its handle was written.
    let thread = unsafe { thread.assume_init() };
    // SAFETY: the handle is of a thread that nobody else joins.
    match unsafe { libc::pthread_join(thread, std::ptr::null_mut()) } {
        0 => Ok(()),
        errno => Err(Failure::Errno { errno }),
    }
}

extern "C" fn count_start(argument: *mut c_void) -> *mut c_void {
    // SAFETY: the argument is the creator's counter, which the creator does not touch until it has joined us.
    let started = unsafe { &mut *argument.cast::<u64>() };
    *started += 1;
    std::ptr::null_mut()
}
