//! A control group for the users of one configuration: its limits, its processes, its accounts, through the files of either
//! version.

use std::fs::{self, File};
use std::io::{Error, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use analysis::load::Pressure;
use rustix::fs::{Mode, OFlags, openat};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use system::machine::remedy_of_refusal;

use super::controllers::{Controllers, Place};
use super::entry::{Entry, Identity};
use super::ledger::{Ledger, PREFIX};
use super::ours;
use super::text::{field, pressure, read, refaults};
use crate::error::LoadError;

/// A group, or as much of one as this machine allows. Dropping it ends its processes and removes it.
#[derive(Debug)]
pub struct Group {
    memory: Option<Part>,
    time: Option<Part>,
    /// Kept open, because they are read at every change.
    usage: Option<File>,
    faults: Option<File>,
}

#[derive(Clone, Debug)]
struct Part {
    version: u8,
    folder: PathBuf,
    identity: Identity,
}

impl Group {
    /// Makes a group with this limit of memory in bytes. Without `swap` its pages may not go to a swap area. Fails if a
    /// group cannot be made although there seemed to be a place for it.
    pub fn make(on: &Controllers, ledger: &Ledger, memory: Option<u64>, swap: bool) -> Result<Group, LoadError> {
        let remedy = || format!("{}, or take the limits out of the plan", remedy_of_refusal());
        let failed = |error: Error| LoadError::setup("make a control group", &error, &remedy());
        let mut group = Group { memory: None, time: None, usage: None, faults: None };
        if let Some(place) = &on.memory {
            group.memory = Some(part(place, ledger, "memory").map_err(failed)?);
            group.limit(memory, swap).map_err(|error| LoadError::setup("limit the memory", &error, &remedy()))?;
        }
        if let Some(place) = &on.time {
            group.time = match &group.memory {
                Some(memory) if on.memory.as_ref() == Some(place) => Some(memory.clone()),
                _ => Some(part(place, ledger, "").map_err(failed)?),
            };
        }
        group.open_accounts();
        Ok(group)
    }

    fn open_accounts(&mut self) {
        self.usage = self.time.as_ref().and_then(|part| {
            let name = if part.version == 1 { "cpuacct.usage" } else { "cpu.stat" };
            File::open(part.folder.join(name)).ok()
        });
        self.faults = self.memory.as_ref().and_then(|part| File::open(part.folder.join("memory.stat")).ok());
    }

    fn limit(&self, memory: Option<u64>, swap: bool) -> std::io::Result<()> {
        let (Some(part), Some(bytes)) = (&self.memory, memory) else { return Ok(()) };
        let write = |name: &str, bytes: u64| fs::write(part.folder.join(name), bytes.to_string());
        let (of_memory, of_swap, most_swap) = match part.version {
            // Memory and swap together may not be more than memory alone: so nothing goes to the system's own swap.
            1 => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes),
            _ => ("memory.max", "memory.swap.max", 0),
        };
        write(of_memory, bytes)?;
        // Kernels without swap accounting lack the file.
        if !swap && part.folder.join(of_swap).exists() {
            write(of_swap, most_swap)?;
        }
        Ok(())
    }

    /// Moves the calling process into the group and onto these CPUs. Its memory is charged there from now on. Fails if the kernel refuses.
    pub fn enter(&self, cpus: &[u32]) -> std::io::Result<()> {
        // If the machine's memory runs out, the kernel should kill this process and not the user's programs.
        let _ = fs::write("/proc/self/oom_score_adj", "1000");
        let mut folders = [&self.memory, &self.time].into_iter().flatten();
        folders.try_for_each(|part| fs::write(part.folder.join("cgroup.procs"), "0"))?;
        let mut set = CpuSet::new();
        cpus.iter().for_each(|&cpu| set.set(cpu as usize));
        Ok(sched_setaffinity(None, &set)?)
    }

    /// Processor time of its processes so far, in seconds; `None` where no group counts that.
    pub fn cpu_s(&self) -> Option<f64> {
        let usage = contents(self.usage.as_ref()?);
        match self.time.as_ref()?.version {
            1 => usage.trim().parse::<f64>().ok().map(|ns| ns / 1e9),
            _ => field(&usage, "usage_usec").map(|us| us / 1e6),
        }
    }

    /// Page faults of its processes that waited for a page; `None` where no group counts them.
    pub fn major_faults(&self) -> Option<f64> {
        field(&contents(self.faults.as_ref()?), "pgmajfault")
    }

    /// Its [`refaults`]; `None` where only the whole machine counts them.
    pub fn refaults(&self) -> Option<(f64, Option<f64>)> {
        refaults(&contents(self.faults.as_ref()?))
    }

    /// Pages from and to swap; `None` where only the whole machine counts them.
    pub fn swapped(&self) -> Option<(f64, f64)> {
        let text = contents(self.faults.as_ref()?);
        Some((field(&text, "pswpin")?, field(&text, "pswpout")?))
    }

    /// Processes that the kernel has killed because the group had no memory left.
    pub fn killed_for_memory(&self) -> u64 {
        let Some(part) = &self.memory else { return 0 };
        let name = if part.version == 1 { "memory.oom_control" } else { "memory.events" };
        field(&read(&part.folder.join(name)), "oom_kill").unwrap_or(0.0) as u64
    }

    /// Time spent waiting for memory: the group's own where the kernel gives it, else the machine's.
    pub fn pressure(&self) -> Option<Pressure> {
        let own = self.memory.as_ref().filter(|part| part.version == 2);
        let own = own.map(|part| read(&part.folder.join("memory.pressure"))).filter(|text| !text.is_empty());
        let text = own.unwrap_or_else(|| read(Path::new("/proc/pressure/memory")));
        Some(Pressure { some_s: pressure(&text, "some")?, full_s: pressure(&text, "full")? })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for part in [&self.time, &self.memory].into_iter().flatten() {
            let _ = remove(&part.folder, PREFIX, Some(part.identity));
        }
    }
}

/// Makes a group's folder at this place, and enables the controller there, if it has to be.
fn part(place: &Place, ledger: &Ledger, controller: &str) -> std::io::Result<Part> {
    if place.version == 2 && !controller.is_empty() {
        let enabled = place.folder.join("cgroup.subtree_control");
        if !read(&enabled).split_whitespace().any(|word| word == controller) {
            let mut file = File::options().write(true).open(&enabled)?;
            ledger.note(&Entry::Enabled { path: enabled, identity: Identity::of(&file)? })?;
            file.write_all(format!("+{controller}").as_bytes())?;
        }
    }
    let folder = place.folder.join(format!("{}-{:04x}", ledger.name, fastrand::u16(..)));
    ledger.note(&Entry::Group(folder.clone()))?;
    fs::create_dir(&folder)?;
    let identity = Identity::of(File::open(&folder)?)?;
    ledger.note(&Entry::Made { path: folder.clone(), identity })?;
    Ok(Part { version: place.version, folder, identity })
}

/// Disables the controller for memory again below this group. It fails where somebody else uses it by now, which is right.
pub(super) fn disable(path: &Path, identity: Identity) {
    let file = ours::of_control_groups(path, OFlags::WRONLY).ok().flatten();
    if let Some(file) = file.filter(|file| Identity::of(file).is_ok_and(|found| found == identity)) {
        let _ = rustix::io::write(&file, b"-memory");
    }
}

/// Ends the processes of a group whose name begins with this owner's and removes it. Without an identity it was left before it had
/// any process: none is ended then. Returns false if it is no control group, or another's.
pub(super) fn remove(folder: &Path, owner: &str, identity: Option<Identity>) -> std::io::Result<bool> {
    /// Freeing the memory of a killed process takes tenths of a second, with a slow page device more.
    const PATIENCE: Duration = Duration::from_secs(5);
    let is_own = folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(owner));
    let group = ours::of_control_groups(folder, OFlags::RDONLY | OFlags::DIRECTORY);
    let Some(group) = group.ok().flatten().filter(|_| is_own) else { return Ok(false) };
    if identity.is_some_and(|identity| Identity::of(&group).is_ok_and(|found| found != identity)) {
        return Ok(false);
    }
    let start = Instant::now();
    loop {
        let mut processes = String::new();
        let opened = openat(&group, "cgroup.procs", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let _ = opened.map(|file| File::from(file).read_to_string(&mut processes));
        let pids = processes.lines().filter_map(|line| line.parse().ok()).filter_map(Pid::from_raw);
        pids.filter(|_| identity.is_some()).for_each(|pid| {
            let _ = kill_process(pid, Signal::KILL);
        });
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(_) if identity.is_none() && !processes.is_empty() => return Ok(false),
            Err(error) if start.elapsed() > PATIENCE => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// What stands in a file of the kernel that is kept open.
fn contents(file: &File) -> String {
    let mut bytes = vec![0; 8192];
    let length = file.read_at(&mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both versions by their files, in folders that stand for the kernel's.
    fn made(version: u8, files: &[(&str, &str)]) -> (tempfile::TempDir, Group) {
        let root = tempfile::tempdir().expect("a folder");
        fs::write(root.path().join("cgroup.subtree_control"), "memory pids").expect("a file");
        let place = Some(Place { version, folder: root.path().to_path_buf() });
        let on = Controllers { memory: place.clone(), time: place, ..Controllers::default() };
        let ledger = Ledger::open(&[root.path().join("ledgers")]).expect("a ledger");
        let mut group = Group::make(&on, &ledger, Some(48 << 20), false).expect("a group");
        let folder = group.memory.as_ref().expect("a part").folder.clone();
        for (name, text) in files {
            fs::write(folder.join(name), text).expect("a file");
        }
        group.open_accounts();
        (root, group)
    }

    #[test]
    fn version_1_is_driven_and_read_by_its_files() {
        let stat = "pgfault 900\npgmajfault 70\nworkingset_refault_anon 5\nworkingset_refault_file 6\n";
        let files = [("cpuacct.usage", "2500000000\n"), ("memory.stat", stat), ("memory.oom_control", "oom_kill 2\n")];
        let (_root, group) = made(1, &files);
        assert_eq!((group.cpu_s(), group.major_faults()), (Some(2.5), Some(70.0)));
        assert_eq!((group.refaults(), group.killed_for_memory()), (Some((6.0, Some(5.0))), 2));
        assert_eq!(group.swapped(), None);
        let folder = &group.memory.as_ref().expect("a part").folder;
        assert_eq!(read(&folder.join("memory.limit_in_bytes")), (48 << 20).to_string());
        // These folders hold plain files, so nothing can remove them as the kernel does; the test's folder goes as a whole.
        std::mem::forget(group);
    }

    #[test]
    fn version_2_is_driven_and_read_by_its_files() {
        let stat =
            "pgfault 900\npgmajfault 70\npswpin 11\npswpout 12\nworkingset_refault_anon 5\nworkingset_refault_file 6\n";
        let files = [
            ("cpu.stat", "usage_usec 1500000\nuser_usec 1\n"),
            ("memory.stat", stat),
            ("memory.events", "low 0\noom 3\noom_kill 4\n"),
            ("memory.pressure", "some avg10=0 total=3000000\nfull avg10=0 total=1000000\n"),
        ];
        let (_root, group) = made(2, &files);
        assert_eq!((group.cpu_s(), group.major_faults()), (Some(1.5), Some(70.0)));
        assert_eq!((group.swapped(), group.killed_for_memory()), (Some((11.0, 12.0)), 4));
        assert_eq!(group.pressure(), Some(Pressure { some_s: 3.0, full_s: 1.0 }));
        let folder = &group.memory.as_ref().expect("a part").folder;
        assert_eq!(read(&folder.join("memory.max")), (48 << 20).to_string());
        std::mem::forget(group);
    }
}
