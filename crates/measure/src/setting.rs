//! What an operation is given when it sets up: its point, a scratch folder, its CPUs, partners.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use record::{Doubt, Point};

use crate::device::Device;
use crate::failure::Failure;

/// What an operation is given when it sets up.
pub struct Setting {
    point: Point,
    argument: Option<&'static (dyn Any + Send + Sync)>,
    scratch: PathBuf,
    shared: Option<PathBuf>,
    cpu: u32,
    other_cpu: Option<u32>,
    seed: u64,
    partners: Rc<RefCell<Vec<libc::pid_t>>>,
    /// Keeps the partner's CPU from halting, at points that say so.
    awake: RefCell<Option<Partner>>,
    doubts: Rc<RefCell<Vec<Doubt>>>,
    device: Rc<RefCell<Option<Device>>>,
    tallies: Rc<RefCell<Vec<Tally>>>,
}

impl Setting {
    /// A setting at `point` with an existing empty folder, on `cpu`, with another CPU where there is one.
    pub fn new(point: Point, scratch: PathBuf, cpu: u32, other_cpu: Option<u32>, seed: u64) -> Setting {
        Setting {
            point,
            argument: None,
            scratch,
            shared: None,
            cpu,
            other_cpu,
            seed,
            partners: Rc::default(),
            awake: RefCell::default(),
            doubts: Rc::default(),
            device: Rc::default(),
            tallies: Rc::default(),
        }
    }

    /// The same setting, in a run whose rounds share this existing folder.
    pub fn with_shared(self, shared: PathBuf) -> Setting {
        Setting { shared: Some(shared), ..self }
    }

    /// The same setting, for an operation that works on something of the user's.
    pub fn with_argument(self, argument: Option<&'static (dyn Any + Send + Sync)>) -> Setting {
        Setting { argument, ..self }
    }

    /// What of the user's the operation works on.
    ///
    /// # Errors
    /// When it was given nothing, or something else.
    pub fn argument<T: 'static>(&self) -> Result<&'static T, Failure> {
        let given = self.argument.and_then(|argument| argument.downcast_ref());
        given.ok_or_else(|| Failure::wrong("the operation was not given what it works on"))
    }

    /// The point measured.
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// Bytes on the axis `size`; 0 where there is no such axis.
    pub fn size(&self) -> usize {
        self.number("size") as usize
    }

    /// The number on this axis; 0 where there is none.
    pub fn number(&self, axis: &str) -> u64 {
        self.point.number(axis).unwrap_or(0)
    }

    /// The word on this axis; empty where there is none.
    pub fn word(&self, axis: &str) -> &str {
        self.point.word(axis).unwrap_or("")
    }

    /// A folder of this round's own; it is removed with everything in it after the round.
    pub fn scratch(&self) -> &Path {
        // Made for those who ask: a thousand folders a run, deleted again, make files dearer for minutes (ext4). Where it
        // cannot be made, the file wanted in it tells why.
        let _ = std::fs::DirBuilder::new().mode(0o700).create(&self.scratch);
        &self.scratch
    }

    /// A folder that all rounds of the run share, for what takes long to make; it is removed after the run. Rounds come
    /// one after the other, and any of them may be killed: what is not whole must not bear its final name.
    pub fn shared(&self) -> &Path {
        match &self.shared {
            Some(shared) => shared,
            None => self.scratch(),
        }
    }

    /// Where the loop tells what it finds doubtful in a batch; the cost carries it.
    pub fn doubts(&self) -> Doubts {
        Doubts(Rc::clone(&self.doubts))
    }

    /// A count of the operation's own, told with its cost as the mean over all iterations, warm-up included.
    pub fn tally(&self, name: &'static str) -> Tally {
        let tally = Tally { name, counted: Rc::default() };
        self.tallies.borrow_mut().push(tally.clone());
        tally
    }

    /// The means of all tallies.
    pub(crate) fn tallied(&self) -> BTreeMap<String, f64> {
        self.tallies.borrow().iter().filter_map(|tally| Some((tally.name.into(), tally.mean()?))).collect()
    }

    /// Has the reads counted of the device that this file lies on, where the kernel counts them.
    pub fn count_reads(&self, file: impl AsFd) {
        *self.device.borrow_mut() = Device::of(file.as_fd());
    }

    /// The device whose reads are counted.
    pub(crate) fn device(&self) -> Rc<RefCell<Option<Device>>> {
        Rc::clone(&self.device)
    }

    /// A number that differs from round to round and is repeated when the run's seed is.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The CPU this round is pinned to.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The CPU a partner belongs on: another one where the point says `distance=other`, another one that an idle task
    /// keeps from halting where it says `distance=awake`, else our own.
    ///
    /// # Errors
    /// A skip where another CPU is asked for and there is none.
    pub fn partner_cpu(&self) -> Result<u32, Failure> {
        match self.word("distance") {
            "other" => self.other_cpu(),
            "awake" => {
                let cpu = self.other_cpu()?;
                let mut awake = self.awake.borrow_mut();
                if awake.is_none() {
                    *awake = Some(self.sleepless(cpu)?);
                }
                Ok(cpu)
            }
            _ => Ok(self.cpu),
        }
    }

    /// A task on `cpu` that gives way to every other and never lets the CPU halt.
    fn sleepless(&self, cpu: u32) -> Result<Partner, Failure> {
        let partner = self.partner(cpu, || {
            // SAFETY: all bits zero is a valid sched_param.
            let nothing: libc::sched_param = unsafe { std::mem::zeroed() };
            // SAFETY: concerns this process alone; the pointer is to a sched_param.
            if unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &nothing) } != 0 {
                return Err(Failure::last_os_error());
            }
            loop {
                // No pause instruction: a hypervisor takes a CPU away that pauses for long.
                std::hint::black_box(());
            }
        })?;
        // It does no part of the work, so its processor time is nobody's cost.
        self.partners.borrow_mut().retain(|&pid| pid != partner.pid());
        Ok(partner)
    }

    /// Any CPU but our own.
    ///
    /// # Errors
    /// A skip where there is none.
    pub fn other_cpu(&self) -> Result<u32, Failure> {
        self.other_cpu.ok_or_else(|| Failure::skip("only one CPU may be used", "allow a second CPU (taskset, cpuset)"))
    }

    /// Starts a partner process on `cpu` that runs `body` and exits; it is killed and reaped when the handle drops,
    /// and dies with this process in any case.
    ///
    /// # Errors
    /// When it cannot be forked.
    pub fn partner(&self, cpu: u32, body: impl FnOnce() -> Result<(), Failure>) -> Result<Partner, Failure> {
        let ours = std::process::id();
        // SAFETY: a round's process has one thread here, so the child may do anything after the fork.
        let pid = unsafe { libc::fork() };
        match pid {
            -1 => Err(Failure::last_os_error()),
            0 => {
                // SAFETY: sets this process's own death signal.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                if std::os::unix::process::parent_id() != ours {
                    // It died before its death was our business.
                    // SAFETY: leaves without running the parent's destructors.
                    unsafe { libc::_exit(1) };
                }
                let done = pin(cpu).and_then(|()| body());
                // SAFETY: leaves without running the parent's destructors, which belong to the parent.
                unsafe { libc::_exit(if done.is_ok() { 0 } else { 1 }) }
            }
            pid => {
                self.partners.borrow_mut().push(pid);
                Ok(Partner { pid, known: Rc::clone(&self.partners) })
            }
        }
    }

    /// The partners alive now, for the accounting of their processor time.
    pub(crate) fn partners(&self) -> Rc<RefCell<Vec<libc::pid_t>>> {
        Rc::clone(&self.partners)
    }
}

/// Where a loop tells what it finds doubtful.
#[derive(Clone, Debug, Default)]
pub struct Doubts(Rc<RefCell<Vec<Doubt>>>);

impl Doubts {
    /// Tells it.
    pub fn raise(&self, doubt: Doubt) {
        self.0.borrow_mut().push(doubt);
    }

    /// All that was told so far.
    pub fn raised(&self) -> Vec<Doubt> {
        self.0.borrow().clone()
    }
}

/// A count that an operation keeps of something in each of its iterations.
#[derive(Clone, Debug)]
pub struct Tally {
    name: &'static str,
    /// Iterations, and what was counted in them.
    counted: Rc<Cell<(u64, u64)>>,
}

impl Tally {
    /// So many in one more iteration.
    pub fn pass(&self, count: u64) {
        let (iterations, sum) = self.counted.get();
        self.counted.set((iterations + 1, sum + count));
    }

    /// So many per iteration; `None` before the first.
    pub fn mean(&self) -> Option<f64> {
        let (iterations, sum) = self.counted.get();
        (iterations > 0).then(|| sum as f64 / iterations as f64)
    }
}

/// A partner process; dropping it kills and reaps it.
#[derive(Debug)]
pub struct Partner {
    pid: libc::pid_t,
    known: Rc<RefCell<Vec<libc::pid_t>>>,
}

impl Partner {
    /// Its process id.
    pub fn pid(&self) -> libc::pid_t {
        self.pid
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.known.borrow_mut().retain(|&pid| pid != self.pid);
        // SAFETY: the process is our own child and not yet reaped, so the id is still its own.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
        // SAFETY: waiting for our own child without asking for its status writes nothing.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}

/// Pins the calling thread to one CPU.
///
/// # Errors
/// When the CPU is not ours to use.
pub fn pin(cpu: u32) -> Result<(), Failure> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu as usize);
    rustix::thread::sched_setaffinity(None, &set)?;
    Ok(())
}
