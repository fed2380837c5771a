//! Signals, switches, threads and processes.

use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::entry::{Entry, Group, entry, unrolled};
use super::harness::{Made, Work};
use super::kernel::done;
use super::partner::{collect, end, partner};

pub(super) const GROUP: Group = Group { title: "signals, switches, threads, processes", entries: ENTRIES };

const ENTRIES: &[Entry] = &[
    entry("signal.install", "", || Ok(Work::calls(|| install(caught as *const () as usize)))),
    entry("signal.ignored", "", || {
        install(libc::SIG_IGN);
        Ok(Work::calls(send))
    }),
    entry("signal.deliver", "", || {
        install(caught as *const () as usize);
        Ok(Work::timed(|times| {
            let before = CAUGHT.load(Ordering::Relaxed);
            let start = Instant::now();
            for _ in 0..times {
                send();
            }
            let time = start.elapsed();
            assert_eq!(CAUGHT.load(Ordering::Relaxed) - before, times, "a signal was lost");
            time
        }))
    }),
    entry("signal.block.unblock", "", || {
        // As one who puts back what was there asks for it.
        let (set, mut before) = (1_u64 << (libc::SIGUSR1 - 1), 0_u64);
        let mut change = move |how: i32| call!(libc::SYS_rt_sigprocmask, how, &raw const set, &raw mut before, 8) == 0;
        Ok(Work::calls(move || change(libc::SIG_BLOCK) && change(libc::SIG_UNBLOCK)))
    }),
    unrolled("switch.yield", "", || {
        // Who yields gets the CPU back when the other has yielded: two switches.
        let other = partner(|| call!(libc::SYS_sched_yield) == 0)?;
        other.stop();
        Ok(Work::timed(move |times| {
            other.resume();
            let (before, mut refused) = (switches(), 0);
            let start = Instant::now();
            for _ in 0..times {
                refused += u64::from(call!(libc::SYS_sched_yield) != 0);
            }
            let time = start.elapsed();
            assert_eq!(refused, 0, "sched_yield");
            let switched = switches() - before;
            other.stop();
            // The scheduler may leave the CPU where it is; what counts is how often it went.
            assert!(times < 64 || switched as u64 * 2 >= times, "{switched} switches in {times} yields");
            time.mul_f64(times as f64 / switched.max(1) as f64)
        })
        .unrolled(2))
    }),
    unrolled("thread.create.join", "", || Ok(Work::calls(thread).at_most(64))),
    unrolled("process.fork", "", || {
        // A small process: what this one has is unmapped first, as far as it is large.
        Ok(Work::calls(|| forked(|| end(0)) == 0).at_most(64))
    }),
    unrolled("process.vfork", "", || Ok(Work::calls(lent).at_most(64))),
    unrolled("call.wait4", "child=copied", || Ok(Work::timed(collecting).at_most(16))),
    unrolled("process.exec", "", || exec_of(tiny()?, c"tiny", &[])),
    unrolled("process.shell", "", || spawn_of(c"/bin/sh", [c"-c", c":"])),
    unrolled("process.exec.dynamic", "", || exec_of(c"/bin/true".to_owned(), c"true", &[])),
    unrolled("call.nanosleep", "slack=50us", || {
        let time = [0_i64, 10_000];
        Ok(Work::calls(move || call!(libc::SYS_nanosleep, time.as_ptr(), 0) == 0))
    }),
];

static CAUGHT: AtomicU64 = AtomicU64::new(0);

extern "C" fn caught(_: i32) {
    CAUGHT.store(CAUGHT.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn install(handler: usize) -> bool {
    // SAFETY: all zero is an action without flags and with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let mut before = action;
    action.sa_sigaction = handler;
    // SAFETY: the handler touches an atomic alone. The action before is asked for, as by one who puts it back.
    unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, &raw mut before) == 0 }
}

#[inline(always)]
fn send() -> bool {
    let own = OWN.with(|own| *own);
    call!(libc::SYS_tgkill, own, own, libc::SIGUSR1) == 0
}

std::thread_local! {
    /// The process's number, asked for once in each process.
    static OWN: i32 = call!(libc::SYS_getpid) as i32;
}

/// How often the CPU went from this process to another.
fn switches() -> i64 {
    let mut usage = [0_i64; 18];
    call!(libc::SYS_getrusage, libc::RUSAGE_SELF, usage.as_mut_ptr());
    usage[16] + usage[17]
}

fn thread() -> bool {
    extern "C" fn nothing(word: *mut libc::c_void) -> *mut libc::c_void {
        word
    }
    let (mut thread, mut found) = (0, std::ptr::null_mut());
    let told = std::ptr::without_provenance_mut(17);
    // SAFETY: the thread returns what it is given.
    let made = unsafe { libc::pthread_create(&raw mut thread, std::ptr::null(), nothing, told) };
    // SAFETY: the thread was made and is waited for once.
    made == 0 && unsafe { libc::pthread_join(thread, &raw mut found) } == 0 && found == told
}

/// A copy of this process that does something and ends; its exit status.
#[inline(always)]
fn forked(child_does: impl FnOnce()) -> i32 {
    // SAFETY: this process has one thread; the copy makes system calls alone.
    let child = unsafe { libc::fork() };
    if child == 0 {
        child_does();
        end(127);
    }
    collect(child)
}

/// Children that have all ended before the first is collected.
fn collecting(times: u64) -> Duration {
    let children: Vec<i32> = (0..times).map(|_| ending()).collect();
    for child in &children {
        let mut about = [0_u64; 16];
        let flags = libc::WEXITED | libc::WNOWAIT;
        let ended = call!(libc::SYS_waitid, libc::P_PID, *child, about.as_mut_ptr(), flags, 0);
        assert_eq!(ended, 0, "waitid");
    }
    let start = Instant::now();
    let right = children.iter().filter(|child| collect(**child) == 0).count() as u64;
    let time = start.elapsed();
    assert_eq!(right, times, "a child was not collected, or did not end as told");
    time
}

/// A copy of this process that ends at once.
fn ending() -> i32 {
    // SAFETY: this process has one thread; the copy does nothing but end.
    let child = unsafe { libc::fork() };
    if child == 0 {
        end(0);
    }
    child
}

/// A child that borrows this process's memory, as vfork's does, on a stack of its own.
fn lent() -> bool {
    extern "C" fn nothing(_: *mut libc::c_void) -> i32 {
        0
    }
    const STACK: usize = 64 << 10;
    std::thread_local! {
        static PLACE: std::cell::RefCell<Vec<u128>> = std::cell::RefCell::new(vec![0; STACK / 16]);
    }
    PLACE.with_borrow_mut(|stack| {
        let top = stack.as_mut_ptr_range().end;
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the child runs on its own stack and returns at once, while this process waits for that.
        let child = unsafe { libc::clone(nothing, top.cast(), flags, std::ptr::null_mut()) };
        child > 0 && collect(child) == 0
    })
}

fn exec_of(path: CString, name: &'static std::ffi::CStr, rest: &'static [&'static std::ffi::CStr]) -> Made {
    let words = [name].into_iter().chain(rest.iter().copied()).map(std::ffi::CStr::as_ptr);
    let words: Vec<_> = words.chain([std::ptr::null()]).collect();
    let none = [std::ptr::null::<libc::c_char>()];
    let run = move || forked(|| _ = call!(libc::SYS_execve, path.as_ptr(), words.as_ptr(), none.as_ptr()));
    match run() {
        0 => Ok(Work::calls(move || run() == 0).at_most(16)),
        status => Err(format!("the program ended with {status}")),
    }
}

/// The same without a copy of this process, as the C library starts a program.
fn spawn_of(path: &'static std::ffi::CStr, rest: [&'static std::ffi::CStr; 2]) -> Made {
    let words = [path.as_ptr(), rest[0].as_ptr(), rest[1].as_ptr(), std::ptr::null()].map(<*const _>::cast_mut);
    let none = [std::ptr::null_mut::<libc::c_char>()];
    let run = move || {
        let (mut child, nothing) = (0, std::ptr::null());
        let (words, none) = (words.as_ptr(), none.as_ptr());
        // SAFETY: path, words and the empty environment end in null; nothing else is asked for.
        let refused = unsafe { libc::posix_spawn(&raw mut child, path.as_ptr(), nothing, nothing.cast(), words, none) };
        if refused == 0 { collect(child) } else { -1 }
    };
    match run() {
        0 => Ok(Work::calls(move || run() == 0).at_most(16)),
        status => Err(format!("the program ended with {status}")),
    }
}

/// A program that ends at once: a header, one segment, and the call exit(0).
#[cfg(target_arch = "x86_64")]
fn tiny() -> Result<CString, String> {
    const BASE: u64 = 0x40_0000;
    let code = [0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05_u8];
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut put = |number: u64, width: usize| bytes.extend(&number.to_le_bytes()[..width]);
    for (number, width) in [(2, 2), (62, 2), (1, 4), (BASE + 120, 8), (64, 8), (0, 8), (0, 4), (64, 2)] {
        put(number, width);
    }
    for number in [56, 1, 0, 0, 0] {
        put(number, 2);
    }
    let length = 120 + code.len() as u64;
    for (number, width) in [(1, 4), (5, 4), (0, 8), (BASE, 8), (BASE, 8), (length, 8), (length, 8), (4096, 8)] {
        put(number, width);
    }
    bytes.extend(code);
    let written = std::fs::write("tiny", bytes).map_err(|error| format!("tiny: {error}"));
    written.and_then(|()| done("chmod", call!(libc::SYS_fchmodat, libc::AT_FDCWD, c"tiny".as_ptr(), 0o700)))?;
    Ok(c"./tiny".to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn tiny() -> Result<CString, String> {
    let _ = done;
    Err("there is a tiny program for x86-64 alone".into())
}
