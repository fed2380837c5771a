//! Tasks that share this process's memory and do nothing on other CPUs, so that the kernel finds its memory in use there.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use measure::{Failure, Setting};

use super::raw::call;

/// Memory of a task's stack, in units of 16 bytes.
const STACK: usize = 4 << 10;

/// Words of a set of 1024 CPUs.
const WORDS: usize = 16;

/// What a task is told, and what it tells.
struct Told {
    cpu: u32,
    parent: u32,
    /// How it went so far.
    state: AtomicU32,
}

const STARTING: u32 = 0;
const RUNNING: u32 = 1;
const FAILED: u32 = 2;

/// A task that runs on another CPU until this is dropped. To the kernel it is one of those that share this process's
/// memory, as a thread is; its processor time is not this process's.
pub(super) struct Elsewhere {
    pid: c_int,
    _told: Box<Told>,
    _stack: Vec<u128>,
}

/// Starts one task on each of so many CPUs, none of them ours; all run when this returns.
///
/// # Errors
/// A skip where there are fewer CPUs.
pub(super) fn running_elsewhere(setting: &Setting, tasks: usize) -> Result<Vec<Elsewhere>, Failure> {
    let mut cpus = Vec::new();
    if tasks > 0 {
        cpus = setting.other_cpus(tasks)?;
    }
    cpus.into_iter().map(Elsewhere::new).collect()
}

impl Elsewhere {
    fn new(cpu: u32) -> Result<Elsewhere, Failure> {
        const PATIENCE: Duration = Duration::from_secs(2);
        let mut stack = vec![0_u128; STACK];
        let mut told = Box::new(Told { cpu, parent: std::process::id(), state: AtomicU32::new(STARTING) });
        let top = stack.as_mut_ptr_range().end.cast();
        let given = (&raw mut *told).cast();
        // SAFETY: the stack is the task's alone; it and what the task is told outlive the task, which is ended by `drop`.
        let pid = unsafe { libc::clone(run, top, libc::CLONE_VM | libc::SIGCHLD, given) };
        if pid == -1 {
            return Err(Failure::last_os_error());
        }
        let task = Elsewhere { pid, _told: told, _stack: stack };
        let start = Instant::now();
        while task._told.state.load(Ordering::Acquire) == STARTING {
            if start.elapsed() > PATIENCE {
                return Err(Failure::wrong("a task on another CPU did not start"));
            }
            std::thread::yield_now();
        }
        match task._told.state.load(Ordering::Acquire) {
            RUNNING => Ok(task),
            _ => Err(Failure::skip(format!("no task may run on CPU {cpu}"), "allow a second CPU (taskset, cpuset)")),
        }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = call!(kill, self.pid, libc::SIGKILL);
        let _ = call!(wait4, self.pid, 0, 0, 0);
    }
}

/// The task's life. It makes calls without the C library, whose `errno` it would share with its parent.
extern "C" fn run(told: *mut c_void) -> c_int {
    // SAFETY: it is what the parent handed over, which outlives this task.
    let told = unsafe { &*told.cast::<Told>() };
    let mut set = [0_u64; WORDS];
    if let Some(word) = set.get_mut(told.cpu as usize / 64) {
        *word = 1 << (told.cpu % 64);
    }
    // It gives way to everything else, such as the check of its CPU's speed.
    let ready = call!(prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0)
        .and_then(|_| call!(sched_setaffinity, 0, WORDS * 8, &set))
        .and_then(|_| call!(sched_setscheduler, 0, libc::SCHED_IDLE, &[0_i32]));
    let orphan = call!(getppid).is_ok_and(|parent| parent != told.parent as usize);
    if ready.is_err() || orphan {
        told.state.store(FAILED, Ordering::Release);
        return 1;
    }
    told.state.store(RUNNING, Ordering::Release);
    loop {
        // No pause instruction: a hypervisor takes a CPU away that pauses for long.
        std::hint::black_box(());
    }
}
