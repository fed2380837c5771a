//! Threads.

use std::ffi::c_void;

use measure::{Failure, Operation, repeat};

pub(crate) const OPERATIONS: &[Operation] = &[Operation {
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
}];

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
