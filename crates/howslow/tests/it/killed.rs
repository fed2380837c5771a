//! Experiments, bills and writers of a store that are killed at their system calls by strace. The machine is afterwards as it was
//! before: processes, control groups, swap, mounts, devices, IPC, files. A store can be read and written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

use record::Run;
use store::{Address, Store};
use tempfile::TempDir;

use crate::load::{SMALL, groups_of, limits, plan};
use crate::support::{EXAMPLE, at_once, comes, folder};

/// If this is set, many calls are tried: all of a command that makes no more, and the first, the middle and the last of each name.
const EVERY: &str = "HOWSLOW_EVERY_KILL";
const MANY: usize = 1000;
/// Else some of the latter.
const SOME: usize = 12;

/// The command, traced by a grandchild of its own, so that it is this process's child.
fn traced(data: &TempDir, store: &str, words: &[&str], tracing: &[&str]) -> Child {
    let mut command = Process::new("strace");
    command.args(["-D", "-o"]).arg(data.path().join("trace")).args(tracing);
    command.arg(assert_cmd::cargo::cargo_bin!("howslow")).args(words).current_dir(data.path());
    command.env("HOWSLOW_DATA", data.path().join("data")).env("HOWSLOW_PRICES", "kept").env("HOWSLOW_STORE", store);
    command.env("TMPDIR", data.path()).env("XDG_RUNTIME_DIR", data.path());
    let errors = fs::File::create(data.path().join("errors")).expect("a file");
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn();
    started.expect("strace, which the tests of bills need too")
}

fn names(folder: impl AsRef<Path>) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// What belongs to the whole machine and bears no name of its maker: compressed devices, IPC, shared memory.
fn shared() -> BTreeSet<String> {
    let devices = names("/sys/block").filter(|path| path.to_string_lossy().contains("zram"));
    let files = names("/dev/shm").chain(names("/dev/mqueue")).chain(devices).map(|path| path.display().to_string());
    let lists = ["shm", "sem", "msg"].map(|kind| (kind, fs::read_to_string(format!("/proc/sysvipc/{kind}"))));
    let lists = lists.into_iter().flat_map(|(kind, list)| {
        let lines: Vec<String> = list.unwrap_or_default().lines().skip(1).map(String::from).collect();
        // The key and the number.
        lines.into_iter().map(move |line| format!("{kind} {:?}", line.split_whitespace().take(2).collect::<Vec<_>>()))
    });
    files.chain(lists).collect()
}

/// What exists of a command that worked in this folder, beside the folder's own files.
fn remains(data: &TempDir, pid: u32, before: &BTreeSet<String>) -> Vec<String> {
    let place = data.path().display().to_string();
    let own = ["trace", "errors", "plan.toml", "run.json", "data"];
    let files = names(data.path()).filter(|path| !own.iter().any(|own| path.ends_with(own)));
    let works_here = |path: &PathBuf| {
        let is_other = path.file_name().is_some_and(|name| name != std::process::id().to_string().as_str());
        is_other && fs::read(path.join("environ")).is_ok_and(|text| String::from_utf8_lossy(&text).contains(&place))
    };
    let lines = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (swaps, mounts) = (lines("/proc/swaps"), lines("/proc/self/mountinfo"));
    let mentioned = swaps.lines().chain(mounts.lines()).filter(|line| line.contains(&place)).map(String::from);
    let paths = files.chain(names("/proc").filter(works_here)).chain(groups_of(pid));
    let here = paths.map(|path| path.display().to_string()).chain(mentioned);
    here.chain(shared().difference(before).cloned()).collect()
}

/// Waits until nothing of the command is left, which its guards remove.
fn is_gone(data: &TempDir, pid: u32, before: &BTreeSet<String>, what: &str) {
    let found = || remains(data, pid, before);
    assert!(comes(|| found().is_empty()), "{what}: {:?} stays", found());
}

/// A command that is killed again and again.
struct Victim<'a> {
    words: &'a [&'a str],
    store: &'a str,
    /// It is killed from the first call on that mentions this.
    begin: &'a str,
    /// Makes what is in its folder before, and checks its folder afterwards.
    prepare: &'a (dyn Fn(&TempDir) + Sync),
    check: &'a (dyn Fn(&TempDir) + Sync),
    /// How many may be killed at the same time.
    at_once: usize,
}

impl Victim<'_> {
    /// Its calls: each with how many of its name came before and itself.
    fn calls(&self) -> Vec<(String, usize)> {
        let (data, before) = (folder(), shared());
        (self.prepare)(&data);
        let mut running = traced(&data, self.store, self.words, &[]);
        let has_ended = running.wait().expect("our child").success();
        assert!(has_ended, "{:?}: {}", self.words, fs::read_to_string(data.path().join("errors")).expect("a file"));
        is_gone(&data, running.id(), &before, "without a kill");
        (self.check)(&data);
        let text = fs::read(data.path().join("trace")).expect("a trace");
        let text = String::from_utf8_lossy(&text);
        let (mut counts, mut found) = (BTreeMap::<&str, usize>::new(), Vec::new());
        for line in text.lines() {
            let Some((name, _)) = line.split_once('(').filter(|(name, _)| !name.contains(' ')) else { continue };
            let count = counts.entry(name).or_default();
            *count += 1;
            if !found.is_empty() || line.contains(self.begin) {
                found.push((name.to_string(), *count));
            }
        }
        assert!(found.len() > 50, "{} is not in {text}", self.begin);
        found
    }

    /// Returns whether it was killed: the number of some calls differs from run to run, so that a few come too late to be the last.
    fn kill(&self, name: &str, count: usize) -> bool {
        let (data, before) = (folder(), shared());
        (self.prepare)(&data);
        let (trace, inject) = (format!("trace={name}"), format!("inject={name}:signal=KILL:when={count}"));
        let mut running = traced(&data, self.store, self.words, &["-e", &trace, "-e", &inject]);
        let was_killed = !running.wait().expect("our child").success();
        is_gone(&data, running.id(), &before, &format!("killed at call {count} of {name}"));
        (self.check)(&data);
        was_killed
    }

    fn is_killed_anywhere(&self) {
        let all = self.calls();
        let by_name = first_middle_and_last(&all);
        let every = std::env::var_os(EVERY).map(|_| by_name.iter().chain(spread(&all, MANY)).cloned().collect());
        let chosen: BTreeSet<_> = every.unwrap_or_else(|| spread(&by_name, SOME).cloned().collect());
        let (count, began) = (chosen.len(), Instant::now());
        let were_killed = at_once(self.at_once, chosen.into_iter(), |(name, count)| self.kill(&name, count));
        let killed = were_killed.iter().filter(|was_killed| **was_killed).count();
        eprintln!("{:?}: killed at {killed} of {} calls in {:?}", self.words, all.len(), began.elapsed());
        assert!(killed * 2 > count, "only {killed} of {count} were killed");
    }
}

/// So many of all, evenly.
fn spread<T>(all: &[T], most: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(most))
}

fn first_middle_and_last(all: &[(String, usize)]) -> Vec<(String, usize)> {
    let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    all.iter().for_each(|(name, count)| by_name.entry(name).or_default().push(*count));
    let chosen = by_name.into_iter().flat_map(|(name, counts)| {
        let places = BTreeSet::from([0, counts.len() / 2, counts.len() - 1]);
        places.into_iter().map(move |place| (name.to_string(), counts[place]))
    });
    chosen.collect()
}

fn experiment(device: &str) {
    let data = folder();
    let Some(_alone) = limits(&data) else { return };
    let words = ["load", "plan.toml", "--users", "1", "--memory", "20MiB", "--device", device];
    let short = ["--time", "100ms", "--settle", "10ms", "--cpus", "1"];
    let victim = Victim {
        words: &[&words[..], &short].concat(),
        store: "files",
        begin: "/howslow\"",
        prepare: &|data| drop(plan(data, &SMALL.replace("'64MiB'", "'16MiB'"))),
        check: &|_| {},
        // Swap is the whole machine's.
        at_once: 1,
    };
    victim.is_killed_anywhere();
}

#[test]
fn what_is_killed_anywhere_leaves_the_machine_as_it_was() {
    an_experiment_of_each_device();
    a_bill_of_the_system();
}

/// A compressed device gets its number when it is added: its ledger has the number before that.
fn an_experiment_of_each_device() {
    experiment("swap");
    if !Path::new("/sys/class/zram-control").exists() {
        return testing::left_out!("zram devices; load the module zram");
    }
    experiment("zram");
}

fn a_bill_of_the_system() {
    let victim = Victim {
        words: &["bill", "--system", "--for", "50ms", "--json"],
        store: "files",
        begin: "/proc/",
        prepare: &|_| {},
        check: &|_| {},
        at_once: 2,
    };
    victim.is_killed_anywhere();
}

/// The store in a folder of a test.
fn store_in(data: &Path, store: &str) -> Store {
    let folder = Store::in_folder(data);
    if store == "files" { folder } else { folder.at(Address::Sqlite(data.join("runs.sqlite"))) }
}

fn run(id: &str) -> Run {
    Run { id: id.into(), ..record::run_from_bytes(EXAMPLE.as_bytes()).expect("the example") }
}

/// Whatever was there stays, and the new run is there as a whole or not at all. Then it can be written.
fn is_whole(data: &TempDir, store: &str) {
    let store = store_in(&data.path().join("data"), store);
    let ids = |store: &Store| -> BTreeSet<String> {
        let heads = store.list().expect("a list");
        heads.iter().map(|head| store.read(head).expect("a whole run").id).collect()
    };
    let found = ids(&store);
    assert!(found.contains("kept") && found.iter().all(|id| id == "kept" || id == "new"), "{found:?}");
    store.keep(&run("new")).expect("it can be written");
    store.take_in_waiting(Duration::from_secs(60)).expect("taken in");
    assert_eq!(ids(&store), BTreeSet::from(["kept".to_string(), "new".to_string()]));
    let file = data.path().join("data/runs.sqlite");
    if file.exists() {
        let connection = rusqlite::Connection::open(file).expect("a database");
        let whole: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
        assert_eq!(whole, "ok");
    }
}

fn writer_of(store: &str) {
    let prepare = |data: &TempDir| {
        store_in(&data.path().join("data"), store).keep(&run("kept")).expect("kept");
        fs::write(data.path().join("run.json"), serde_json::to_vec(&run("new")).expect("JSON")).expect("a run");
    };
    let victim = Victim {
        words: &["history", "--take-in", "run.json"],
        store,
        begin: "run.json",
        prepare: &prepare,
        check: &|data| is_whole(data, store),
        at_once: 2,
    };
    victim.is_killed_anywhere();
}

#[test]
fn a_database_is_whole_wherever_its_writer_is_killed() {
    writer_of("data/runs.sqlite");
}

#[test]
fn a_store_of_files_is_whole_wherever_its_writer_is_killed() {
    writer_of("files");
}
