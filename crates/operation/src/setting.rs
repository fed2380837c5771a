//! What an operation receives for its set-up: its point, a scratch folder, its CPUs, partners.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use record::{Doubt, Point};
use rustix::process::{self, Pid, Signal, WaitOptions};
use system::machine::{Distance, Topology};

use crate::axis::{Axis, PartnerPlace};
use crate::device::Device;
use crate::failure::Failure;
use crate::scheduling::Scheduling;
use crate::tally::Tally;

/// What an operation receives for its set-up.
pub struct Setting {
    point: Point,
    axes: Cell<&'static [Axis]>,
    argument: Option<&'static (dyn Any + Send + Sync)>,
    scratch: PathBuf,
    shared: Option<PathBuf>,
    cpu: u32,
    other_cpu: Option<u32>,
    /// CPUs beyond the other one.
    more_cpus: Vec<u32>,
    seed: u64,
    partners: Rc<RefCell<Vec<libc::pid_t>>>,
    /// Tasks that keep our CPU and the partner's from halting, at points that request it.
    awake: RefCell<Vec<Partner>>,
    doubts: Rc<RefCell<Vec<Doubt>>>,
    device: Rc<RefCell<Option<Device>>>,
    tallies: Rc<RefCell<Vec<Tally>>>,
}

impl Setting {
    /// A setting at `point` with an existing empty folder, on `cpu`, with another CPU if there is one.
    pub fn new(point: Point, scratch: PathBuf, cpu: u32, other_cpu: Option<u32>, seed: u64) -> Setting {
        Setting {
            point,
            axes: Cell::new(&[]),
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

    /// Takes the axes of the operation that sets up here: they say which of the point's values places the partner.
    pub(crate) fn learn(&self, axes: &'static [Axis]) {
        self.axes.set(axes);
    }

    /// The same setting, in a run whose rounds share this existing folder.
    pub fn with_shared(self, shared: PathBuf) -> Setting {
        Setting { shared: Some(shared), ..self }
    }

    /// The same setting, for an operation with user-supplied input.
    pub fn with_argument(self, argument: Option<&'static (dyn Any + Send + Sync)>) -> Setting {
        Setting { argument, ..self }
    }

    pub fn with_more_cpus(self, more_cpus: Vec<u32>) -> Setting {
        Setting { more_cpus, ..self }
    }

    /// The user-supplied input. Fails if there is none, or it has another type.
    pub fn argument<T: 'static>(&self) -> Result<&'static T, Failure> {
        let given = self.argument.and_then(|argument| argument.downcast_ref());
        given.ok_or_else(|| Failure::wrong("the operation has no user-supplied input"))
    }

    pub fn point(&self) -> &Point {
        &self.point
    }

    /// Bytes on the axis `size`. Fails if the point has no such axis.
    pub fn size(&self) -> Result<usize, Failure> {
        Ok(self.number("size")? as usize)
    }

    /// The number on this axis. Fails if the point has none.
    pub fn number(&self, axis: &str) -> Result<u64, Failure> {
        self.point.number(axis).ok_or_else(|| self.lacks("number", axis))
    }

    /// The word on this axis. Fails if the point has none.
    pub fn word(&self, axis: &str) -> Result<&str, Failure> {
        self.point.word(axis).ok_or_else(|| self.lacks("word", axis))
    }

    fn lacks(&self, value: &str, axis: &str) -> Failure {
        Failure::wrong(format!("the point {:?} has no {value} on an axis {axis}", self.point.to_string()))
    }

    /// The round's own folder. It is removed with its contents after the round.
    pub fn scratch(&self) -> &Path {
        // Created on demand: on ext4, a thousand folders per run, created and deleted, make files slower for minutes.
        // If the folder cannot be created, the file that is wanted in it reports the reason.
        let _ = std::fs::DirBuilder::new().mode(0o700).create(&self.scratch);
        &self.scratch
    }

    /// A folder that all rounds of the run share, for files that take long to make. It is removed after the run. Rounds
    /// run one after the other, and any of them may be killed, so an incomplete file must not have its final name.
    pub fn shared(&self) -> &Path {
        match &self.shared {
            Some(shared) => shared,
            None => self.scratch(),
        }
    }

    /// Where the loop reports doubts about a batch. The cost carries them.
    pub fn doubts(&self) -> Doubts {
        Doubts(Rc::clone(&self.doubts))
    }

    /// A count of the operation's own. The cost reports it as the mean over all iterations, warm-up included.
    pub fn tally(&self, name: &'static str) -> Tally {
        let tally = Tally { name, counted: Rc::default() };
        self.tallies.borrow_mut().push(tally.clone());
        tally
    }

    /// The means of all tallies.
    pub fn tallied(&self) -> BTreeMap<String, f64> {
        self.tallies.borrow().iter().filter_map(|tally| Some((tally.name.into(), tally.mean()?))).collect()
    }

    /// Counts the reads of the device of this file, if the kernel counts them.
    pub fn count_reads(&self, file: impl AsFd) {
        *self.device.borrow_mut() = Device::of(file.as_fd());
    }

    /// The device whose reads are counted.
    pub fn device(&self) -> Rc<RefCell<Option<Device>>> {
        Rc::clone(&self.device)
    }

    /// A number that differs from round to round and repeats if the run's seed does.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The CPU that this round is pinned to.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The size of a working set in bytes, from this axis. The value is a number, or a word for a part of a cache of
    /// our CPU, which the cost then reports (`set bytes`): `half-l1` is half of the first cache that holds data,
    /// `most-l2` three quarters of the second, `all-l2` all of it, `twice-l2` twice the second, `quarter-l3` a quarter of
    /// the third. Skips if the size of the cache is unknown.
    pub fn cached(&self, axis: &str) -> Result<usize, Failure> {
        match self.point.word(axis) {
            Some(word) => self.part_of_cache(word),
            None => Ok(self.number(axis)? as usize),
        }
    }

    /// The bytes of this part of a cache, such as `most-l2`. The cost records them.
    pub fn part_of_cache(&self, word: &str) -> Result<usize, Failure> {
        let (part, level) =
            record::part_of_cache(word).ok_or_else(|| Failure::wrong(format!("{word} names no part of a cache")))?;
        let Some(&size) = system::machine::data_caches(self.cpu).get(&level) else {
            let reason = format!("the size of the level {level} cache is unknown");
            return Err(Failure::skip(reason, "a kernel that lists it (/sys/devices/system/cpu/cpu0/cache)"));
        };
        let bytes = (size as f64 * part) as u64;
        self.tally("set bytes").pass(bytes);
        Ok(bytes as usize)
    }

    /// The CPU a partner belongs on, by the axis that says so: our own ([`PartnerPlace::Same`]), or the one that the run
    /// chose (see `docs/METHOD.md`), which the cost records. At [`PartnerPlace::Awake`] idle tasks keep that CPU and ours from
    /// halting. Skips if the point needs another CPU and there is none at that distance.
    pub fn partner_cpu(&self) -> Result<u32, Failure> {
        let place = self.partner_place();
        if place == PartnerPlace::Same {
            return Ok(self.cpu);
        }
        let cpu = self.other_cpu()?;
        if place == PartnerPlace::Awake && self.awake.borrow().is_empty() {
            for cpu in [cpu, self.cpu] {
                let sleepless = self.sleepless(cpu)?;
                self.awake.borrow_mut().push(sleepless);
            }
        }
        Ok(cpu)
    }

    fn partner_place(&self) -> PartnerPlace {
        PartnerPlace::at(self.axes.get(), &self.point)
    }

    /// A task on `cpu` that gives way to every other and never lets the CPU halt.
    fn sleepless(&self, cpu: u32) -> Result<Partner, Failure> {
        let partner = self.partner(cpu, || {
            loop {
                // No pause instruction, because a hypervisor takes the CPU away from a task that pauses for long.
                std::hint::black_box(());
            }
        })?;
        // Here and not there, so that a refusal is seen.
        Scheduling { policy: libc::SCHED_IDLE as u32, ..Scheduling::default() }.set_for(partner.pid())?;
        // It does no part of the work, so its processor time belongs to no cost.
        self.partners.borrow_mut().retain(|&pid| pid != partner.pid());
        Ok(partner)
    }

    /// The partner's CPU: any CPU except our own, or one at the distance that the point names. The cost reports its
    /// place. Skips if there is none.
    pub fn other_cpu(&self) -> Result<u32, Failure> {
        let Some(cpu) = self.other_cpu else {
            let reason = match self.partner_place().distance() {
                Some(Distance::Sibling) => "no hardware thread beside ours on this core may be used",
                Some(Distance::Core) => "no other core that shares the last level of cache may be used",
                Some(Distance::Cache) => "no core of this socket without a shared cache may be used",
                Some(Distance::Socket) => "no other socket may be used",
                _ => return Err(Failure::skip("only one CPU may be used", "allow a second CPU (taskset, cpuset)")),
            };
            return Err(Failure::skip(reason, "a machine that has one, or allow its CPUs (taskset, cpuset)"));
        };
        if !self.tallies.borrow().iter().any(|tally| tally.name.starts_with("partner ")) {
            self.tally(Topology::between(self.cpu, cpu).described()).pass(1);
        }
        Ok(cpu)
    }

    /// `count` CPUs other than ours. Skips if there are fewer.
    pub fn other_cpus(&self, count: usize) -> Result<Vec<u32>, Failure> {
        let mut others = self.all_other_cpus();
        if others.len() < count {
            let reason = format!("needs {} CPUs, and {} may be used", count + 1, others.len() + 1);
            return Err(Failure::skip(reason, "allow more CPUs (taskset, cpuset), or take a larger machine"));
        }
        others.truncate(count);
        Ok(others)
    }

    /// Every CPU of this round except ours.
    pub fn all_other_cpus(&self) -> Vec<u32> {
        self.other_cpu.iter().chain(&self.more_cpus).copied().collect()
    }

    /// Starts a partner process on `cpu` that runs `body` and exits. It is killed and reaped when the handle drops, and
    /// dies with this process in any case. Fails if it cannot be forked.
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

    /// The same, where `body` is repeated until the partner is killed.
    pub fn repeating_partner(
        &self,
        cpu: u32,
        mut body: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Partner, Failure> {
        self.partner(cpu, || {
            loop {
                body()?;
            }
        })
    }

    /// The partners alive now, to account for their processor time.
    pub fn partners(&self) -> Rc<RefCell<Vec<libc::pid_t>>> {
        Rc::clone(&self.partners)
    }
}

/// Where a loop reports doubts.
#[derive(Clone, Debug, Default)]
pub struct Doubts(Rc<RefCell<Vec<Doubt>>>);

impl Doubts {
    pub fn raise(&self, doubt: Doubt) {
        self.0.borrow_mut().push(doubt);
    }

    pub fn raised(&self) -> Vec<Doubt> {
        self.0.borrow().clone()
    }
}

/// A partner process; dropping it kills and reaps it.
#[derive(Debug)]
pub struct Partner {
    pid: libc::pid_t,
    known: Rc<RefCell<Vec<libc::pid_t>>>,
}

impl Partner {
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

/// Pins the calling thread to one CPU. Fails if this process may not use the CPU.
pub fn pin(cpu: u32) -> Result<(), Failure> {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu as usize);
    rustix::thread::sched_setaffinity(None, &set)?;
    Ok(())
}

#[cfg(test)]
mod tests;
