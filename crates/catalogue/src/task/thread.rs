//! Threads.

use std::ffi::c_void;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use operation::{Failure, Operation, repeat, term};
use syscalls::Sysno;

use crate::kit::{BASE, Null, OTHER, Places, Start, by_c_library, call, ensure, start_and_end, tried};

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.named("thread.create.join", "start a thread that ends at once and wait for it (pthread_create, pthread_join)")
        .version(by_c_library(1))
        .per("thread")
        .headline()
        .prepare(|_| {
            let mut started = 0_u64;
            Ok(repeat(move || {
                let before = started;
                run_thread(count_start, (&raw mut started).cast())?;
                ensure(started == before + 1, || "the thread did not run")
            }))
        }),
    // Threads as a user's process starts them, which may use every CPU.
    BASE.id("thread.create.join.apart")
        .summary("start a thread that ends at once on another CPU and wait for it (pthread_create, pthread_join)")
        .version(by_c_library(1))
        .per("thread")
        .axes(&[OTHER])
        .explained_by(&[term(1.0, "thread.create.join")])
        .prepare(|setting| {
            let places = Places::new(setting)?;
            let seen = Rc::clone(&places);
            Ok(places.around(move || run_thread(note_place, Rc::as_ptr(&seen).cast_mut().cast())))
        }),
    BASE.id("thread.clone3")
        .summary("start a thread that ends at once and wait for it, without the C library (clone3, exit, futex)")
        .per("thread")
        .calls(&["clone3", "exit", "futex"])
        .prepare(|_| {
            // The kernel writes the thread's id here when it starts, and zero when it ends.
            let running: &'static AtomicU32 = Box::leak(Box::default());
            let address = running.as_ptr() as u64;
            let start = Start { flags: THREAD as u64, child_tid: address, parent_tid: address, ..Start::default() };
            tried(repeat(move || {
                let arguments = [&raw const start as usize, size_of::<Start>()];
                // SAFETY: the thread uses no stack; the word that is cleared is never freed.
                unsafe { start_and_end(Sysno::clone3, arguments, Sysno::exit) }?;
                wait_until_zero(running)
            }))
        }),
];

/// The flags that make a new task a thread of this process, whose end a word of memory reports.
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
        match call::futex(word, libc::FUTEX_WAIT, value, Null) {
            Ok(_) | Err(Failure::Errno { errno: libc::EAGAIN | libc::EINTR }) => {}
            Err(failure) => return Err(failure),
        }
    }
}

/// Starts a thread that calls `start` with this argument, and waits for its end. glibc keeps the stacks of ended threads, so
/// from the second thread on no memory is mapped; musl maps each.
fn run_thread(start: extern "C" fn(*mut c_void) -> *mut c_void, argument: *mut c_void) -> Result<(), Failure> {
    let mut thread = std::mem::MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the argument has the type that the thread expects and outlives the thread, which is joined below.
    let error = unsafe { libc::pthread_create(thread.as_mut_ptr(), std::ptr::null(), start, argument) };
    if error != 0 {
        return Err(Failure::Errno { errno: error });
    }
    // SAFETY: the thread was created, so its handle was written.
    let thread = unsafe { thread.assume_init() };
    // SAFETY: the handle is of a thread that is joined only here.
    match unsafe { libc::pthread_join(thread, std::ptr::null_mut()) } {
        0 => Ok(()),
        errno => Err(Failure::Errno { errno }),
    }
}

extern "C" fn note_place(argument: *mut c_void) -> *mut c_void {
    // SAFETY: the argument is the creator's data, which outlives this thread and is changed only by atomics.
    let places = unsafe { &*argument.cast_const().cast::<Places>() };
    places.child_runs();
    std::ptr::null_mut()
}

extern "C" fn count_start(argument: *mut c_void) -> *mut c_void {
    // SAFETY: the argument is the creator's counter, which the creator does not access until it has joined this thread.
    let started = unsafe { &mut *argument.cast::<u64>() };
    *started += 1;
    std::ptr::null_mut()
}
