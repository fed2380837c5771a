//! Tasks on other CPUs that share this process's memory and do nothing, so that the kernel finds its memory in use there.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use operation::{Failure, Setting, pin};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::kit::{Null, call};

/// A task's stack, in units of 16 bytes.
const STACK: usize = 4 << 10;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum TaskRunning {
    /// Only between [`Elsewhere::start`] and [`Elsewhere::pause`], like any task, so that its CPU's speed can be checked at
    /// other times.
    InBatches,
    /// Always, yielding to every other task: it keeps its CPU from halting.
    Idly,
}

/// What this process and a task report to each other.
struct Control {
    cpu: u32,
    parent: u32,
    running: TaskRunning,
    /// Whether the task should run, or sleep on this word.
    wanted: AtomicU32,
    state: AtomicU32,
}

const STARTING: u32 = 0;
const RUNNING: u32 = 1;
const PAUSED: u32 = 2;
const FAILED: u32 = 3;

/// A task on another CPU, until this is dropped. It shares this process's memory as a thread does, but its processor time
/// does not count for this process.
pub(super) struct Elsewhere {
    pid: c_int,
    control: Box<Control>,
    _stack: Vec<u128>,
}

/// Starts one task on each of this number of CPUs. None of them is the CPU of this task. Skips if there are fewer
/// CPUs.
pub(super) fn running_elsewhere(
    setting: &Setting,
    tasks: usize,
    running: TaskRunning,
) -> Result<Vec<Elsewhere>, Failure> {
    setting.other_cpus(tasks)?.into_iter().map(|cpu| Elsewhere::new(cpu, running)).collect()
}

impl Elsewhere {
    fn new(cpu: u32, running: TaskRunning) -> Result<Elsewhere, Failure> {
        let mut stack = vec![0_u128; STACK];
        let (parent, wanted, state) = (std::process::id(), AtomicU32::new(RUNNING), AtomicU32::new(STARTING));
        let mut control = Box::new(Control { cpu, parent, running, wanted, state });
        let top = stack.as_mut_ptr_range().end.cast();
        let shared = (&raw mut *control).cast();
        // SAFETY: only the task uses the stack. The stack and the shared state outlive the task, which `drop` ends.
        let pid = unsafe { libc::clone(run, top, libc::CLONE_VM | libc::SIGCHLD, shared) };
        if pid == -1 {
            return Err(Failure::last_os_error());
        }
        let task = Elsewhere { pid, control, _stack: stack };
        task.until(RUNNING)?;
        if running == TaskRunning::InBatches {
            task.pause()?;
        }
        Ok(task)
    }

    /// Lets it run. It is running when this returns. Fails if it does not start to run.
    pub(super) fn start(&self) -> Result<(), Failure> {
        self.control.wanted.store(RUNNING, Ordering::Release);
        call::futex(&self.control.wanted, libc::FUTEX_WAKE, 1, Null)?;
        self.until(RUNNING)
    }

    /// Makes it leave its CPU. Fails if it does not leave.
    pub(super) fn pause(&self) -> Result<(), Failure> {
        self.control.wanted.store(PAUSED, Ordering::Release);
        self.until(PAUSED)
    }

    /// Its processor time in ns.
    pub(super) fn time(&self) -> Result<u64, Failure> {
        // The CPU clock of a process, from the kernel's `MAKE_PROCESS_CPUCLOCK` and `CPUCLOCK_SCHED`.
        const SCHEDULED: i32 = 2;
        let mut time = [0_u64; 2];
        call::clock_gettime(!self.pid << 3 | SCHEDULED, &mut time)?;
        Ok(time[0] * 1_000_000_000 + time[1])
    }

    fn until(&self, state: u32) -> Result<(), Failure> {
        const PATIENCE: Duration = Duration::from_secs(2);
        let start = Instant::now();
        loop {
            match self.control.state.load(Ordering::Acquire) {
                found if found == state => return Ok(()),
                FAILED => {
                    let reason = format!("no task may run on CPU {}", self.control.cpu);
                    return Err(Failure::skip(reason, "allow a second CPU (taskset, cpuset)"));
                }
                _ if start.elapsed() > PATIENCE => {
                    return Err(Failure::wrong("a task on another CPU did not reach the wanted state"));
                }
                _ => std::thread::yield_now(),
            }
        }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let _ = call::kill(self.pid, libc::SIGKILL);
        let _ = call::wait4(self.pid, Null, 0, Null);
    }
}

/// The body of the task. It makes calls without the C library, whose `errno` it would share with its parent.
extern "C" fn run(control: *mut c_void) -> c_int {
    // SAFETY: it is the parent's shared state, which outlives this task.
    let control = unsafe { &*control.cast::<Control>() };
    let policy = if control.running == TaskRunning::Idly { libc::SCHED_IDLE } else { libc::SCHED_OTHER };
    let ready = set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(Failure::from)
        .and_then(|()| pin(control.cpu))
        .and_then(|()| call::sched_setscheduler(0, policy, &[0_i32]));
    let orphan = call::getppid().is_ok_and(|parent| parent != control.parent as usize);
    if ready.is_err() || orphan {
        control.state.store(FAILED, Ordering::Release);
        return 1;
    }
    loop {
        control.state.store(RUNNING, Ordering::Release);
        // No pause instruction, because a hypervisor preempts a CPU that pauses for long.
        while control.wanted.load(Ordering::Relaxed) == RUNNING {}
        control.state.store(PAUSED, Ordering::Release);
        while control.wanted.load(Ordering::Acquire) == PAUSED {
            let _ = call::futex(&control.wanted, libc::FUTEX_WAIT, PAUSED, Null);
        }
    }
}
