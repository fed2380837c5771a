//! What an operation is given when it sets up: its point, a scratch folder, its CPUs, partners.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use machine::Topology;
use record::{Doubt, Point};
use rustix::process::{self, Pid, Signal, WaitOptions};

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
    /// Those beyond that one.
    more_cpus: Vec<u32>,
    seed: u64,
    partners: Rc<RefCell<Vec<libc::pid_t>>>,
    /// Keep our CPU and the partner's from halting, at points that say so.
    awake: RefCell<Vec<Partner>>,
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
            more_cpus: Vec::new(),
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

    /// The same setting, with CPUs beside ours and the other one.
    pub fn with_more_cpus(self, more_cpus: Vec<u32>) -> Setting {
        Setting { more_cpus, ..self }
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
    pub fn tallied(&self) -> BTreeMap<String, f64> {
        self.tallies.borrow().iter().filter_map(|tally| Some((tally.name.into(), tally.mean()?))).collect()
    }

    /// Has the reads counted of the device that this file lies on, where the kernel counts them.
    pub fn count_reads(&self, file: impl AsFd) {
        *self.device.borrow_mut() = Device::of(file.as_fd());
    }

    /// The device whose reads are counted.
    pub fn device(&self) -> Rc<RefCell<Option<Device>>> {
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

    /// Bytes of a working set on this axis: the number there, or the part of a cache of our CPU that the word there
    /// names, which the cost then tells (`set bytes`). `half-l1` is half of the first cache that holds data, `most-l2`
    /// three quarters of the second, `twice-l2` twice the second.
    ///
    /// # Errors
    /// A skip where nobody tells how large the cache is.
    pub fn cached(&self, axis: &str) -> Result<usize, Failure> {
        let word = self.word(axis);
        if word.is_empty() {
            return Ok(self.number(axis) as usize);
        }
        let (part, level) = word.rsplit_once("-l").ok_or_else(|| Failure::wrong(format!("{word} names no set")))?;
        let level: u32 = level.parse().map_err(|_| Failure::wrong(format!("{word} names no cache")))?;
        let Some(&size) = machine::data_caches(self.cpu).get(&level) else {
            let reason = format!("nothing here tells how large the level {level} cache is");
            return Err(Failure::skip(reason, "a kernel that lists it (/sys/devices/system/cpu/cpu0/cache)"));
        };
        let bytes = match part {
            "half" => size / 2,
            "most" => size / 4 * 3,
            "twice" => size * 2,
            _ => return Err(Failure::wrong(format!("{word} names no part of a cache"))),
        };
        self.tally("set bytes").pass(bytes);
        Ok(bytes as usize)
    }

    /// The CPU a partner belongs on: our own where the point says `distance=same` or nothing; else the one that the run
    /// chose by where it lies (see `docs/TASKS.md`), which the cost tells. Where the point says `distance=awake`, idle
    /// tasks keep that CPU and ours from halting.
    ///
    /// # Errors
    /// A skip where another CPU is asked for and there is none, or none at that distance.
    pub fn partner_cpu(&self) -> Result<u32, Failure> {
        let distance = self.word("distance");
        if matches!(distance, "" | "same") {
            return Ok(self.cpu);
        }
        let cpu = self.other_cpu()?;
        if distance == "awake" && self.awake.borrow().is_empty() {
            for cpu in [cpu, self.cpu] {
                let sleepless = self.sleepless(cpu)?;
                self.awake.borrow_mut().push(sleepless);
            }
        }
        Ok(cpu)
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

    /// The partner's CPU: any but our own, or one at the distance that the point names. The cost tells where it lies.
    ///
    /// # Errors
    /// A skip where there is none.
    pub fn other_cpu(&self) -> Result<u32, Failure> {
        let Some(cpu) = self.other_cpu else {
            let reason = match self.word("distance") {
                "sibling" => "no hardware thread beside ours on this core may be used",
                "core" => "no other core that shares the last level of cache may be used",
                "cache" => "no core of this socket without a shared cache may be used",
                "socket" => "no other socket may be used",
                _ => return Err(Failure::skip("only one CPU may be used", "allow a second CPU (taskset, cpuset)")),
            };
            return Err(Failure::skip(reason, "a machine that has one, or allow its CPUs (taskset, cpuset)"));
        };
        if !self.tallies.borrow().iter().any(|tally| tally.name.starts_with("partner ")) {
            self.tally(Topology::between(self.cpu, cpu).told()).pass(1);
        }
        Ok(cpu)
    }

    /// So many CPUs, none of them ours.
    ///
    /// # Errors
    /// A skip where there are fewer.
    pub fn other_cpus(&self, count: usize) -> Result<Vec<u32>, Failure> {
        let mut others: Vec<u32> = self.other_cpu.iter().chain(&self.more_cpus).copied().collect();
        if others.len() < count {
            let reason = format!("needs {} CPUs, and {} may be used", count + 1, others.len() + 1);
            return Err(Failure::skip(reason, "allow more CPUs (taskset, cpuset), or take a larger machine"));
        }
        others.truncate(count);
        Ok(others)
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
                let _ = process::set_parent_process_death_signal(Some(Signal::KILL));
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
    pub fn partners(&self) -> Rc<RefCell<Vec<libc::pid_t>>> {
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
        // It is our own child and not yet reaped, so the id is still its own.
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = process::kill_process(pid, Signal::KILL);
            let _ = process::waitpid(Some(pid), WaitOptions::empty());
        }
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

#[cfg(test)]
mod tests;
