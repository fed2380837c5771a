//! Experiments and bills that are killed at each of their system calls, one after another, by strace. The machine is afterwards as
//! it was before: processes, control groups, swap, mounts, files.

use std::collections::BTreeMap;
use std::fs;

use super::*;

/// If this is set, the command is killed at each of its calls, else at some of them.
const EVERY: &str = "HOWSLOW_EVERY_KILL";
/// So many are some.
const SOME: usize = 16;

/// The command, traced by a grandchild of its own, so that it is this process's child.
fn traced(data: &TempDir, words: &[&str], tracing: &[&str]) -> Child {
    let mut command = Process::new("strace");
    command.args(["-D", "-o"]).arg(data.path().join("trace")).args(tracing);
    command.arg(assert_cmd::cargo::cargo_bin!("howslow")).args(words);
    for name in ["HOWSLOW_DATA", "TMPDIR", "XDG_RUNTIME_DIR"] {
        command.env(name, data.path());
    }
    let started = command.env("HOWSLOW_STORE", "files").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.expect("strace, which the tests of bills need too")
}

/// What exists of a command that worked in this folder, beside the folder's own files.
fn remains(data: &TempDir, pid: u32) -> Vec<String> {
    let place = data.path().display().to_string();
    let names = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let own = ["trace", "plan.toml", "runs", "data"];
    let files = names(data.path()).filter(|path| !own.iter().any(|own| path.ends_with(own)));
    let works_here = |path: &PathBuf| {
        let is_other = path.file_name().is_some_and(|name| name != std::process::id().to_string().as_str());
        is_other && fs::read(path.join("environ")).is_ok_and(|text| String::from_utf8_lossy(&text).contains(&place))
    };
    let lines = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (swaps, mounts) = (lines("/proc/swaps"), lines("/proc/self/mountinfo"));
    let mentioned = swaps.lines().chain(mounts.lines()).filter(|line| line.contains(&place)).map(String::from);
    let paths = files.chain(names(Path::new("/proc")).filter(works_here)).chain(groups_of(pid));
    paths.map(|path| path.display().to_string()).chain(mentioned).collect()
}

/// The calls of a command, from the first one that mentions `begin` on: each with how many of its name came before and itself.
fn calls(data: &TempDir, words: &[&str], begin: &str) -> Vec<(String, usize)> {
    let mut running = traced(data, words, &[]);
    let pid = running.id();
    assert!(running.wait().expect("our child").success(), "{words:?}");
    until(|| remains(data, pid).is_empty(), "what was not killed leaves nothing");
    let text = lossy(&data.path().join("trace"));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((name, _)) = line.split_once('(').filter(|(name, _)| !name.contains(' ')) else { continue };
        let count = counts.entry(name).or_default();
        *count += 1;
        if !found.is_empty() || line.contains(begin) {
            found.push((name.to_string(), *count));
        }
    }
    assert!(found.len() > SOME, "{begin} is not in {text}");
    found
}

fn lossy(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).expect("a trace")).into_owned()
}

fn kill_at_each_call(data: &TempDir, words: &[&str], begin: &str) {
    let all = calls(data, words, begin);
    let step = if std::env::var_os(EVERY).is_some() { 1 } else { all.len().div_ceil(SOME) };
    let mut killed = 0;
    for (name, count) in all.iter().step_by(step) {
        let inject = format!("inject={name}:signal=KILL:when={count}");
        let mut running = traced(data, words, &["-e", &inject]);
        let pid = running.id();
        // The number of some calls differs from run to run, so that a few come too late to be the last.
        killed += usize::from(!running.wait().expect("our child").success());
        let start = Instant::now();
        while !remains(data, pid).is_empty() {
            let what = remains(data, pid);
            assert!(start.elapsed() < Duration::from_secs(30), "killed at call {count} of {name}: {what:?} stays");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    eprintln!("killed {killed} times, at calls of {} in all", all.len());
    assert!(killed * 2 > all.len().div_ceil(step), "only {killed} were killed");
}

#[test]
fn an_experiment_that_is_killed_anywhere_leaves_the_machine_as_it_was() {
    let data = folder();
    let Some(_alone) = limits(&data) else { return };
    let path = plan(&data, &SMALL.replace("'64MiB'", "'16MiB'")).display().to_string();
    let words = ["load", &path, "--users", "1", "--memory", "12MiB", "--device", "swap"];
    let short = ["--time", "100ms", "--settle", "10ms", "--cpus", "1"];
    kill_at_each_call(&data, &[&words[..], &short].concat(), "/howslow\"");
}

#[test]
fn a_bill_of_the_system_that_is_killed_anywhere_leaves_the_machine_as_it_was() {
    let data = folder();
    kill_at_each_call(&data, &["bill", "--system", "--for", "100ms", "--json"], "/proc/");
}
