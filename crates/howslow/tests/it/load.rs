//! `howslow load`: whole experiments of some seconds, their accounts, their faults, and that nothing is left behind.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};

use predicates::prelude::*;
use predicates::str::contains;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{self, count, family, folder, howslow, is_gone, kill, until, without_rights};

/// A plan of two seconds, whose axes are added.
pub const SMALL: &str = "name = 'small'\ntime = '1.2s'\nsettle = '300ms'\nlimit = '20s'\ndevice_size = '64MiB'\n\
    [[interaction]]\nname = 'work'\nthink = { exponential = '40ms' }\n\
    job = { cpu = '8ms', working_set = '6MiB', references = 1500, locality = 0.7, hot = 0.3 }\n";

pub fn plan(data: &TempDir, text: &str) -> PathBuf {
    let path = data.path().join("plan.toml");
    std::fs::write(&path, text).expect("a file");
    path
}

fn json(data: &TempDir, path: &Path, words: &[&str]) -> Value {
    support::json(howslow(data).arg("load").arg(path).args(words).arg("--json"))
}

/// Keeps other tests from making swap meanwhile, those of another suite as well. Swap is the whole machine's: what one test makes,
/// another one's users would be swapped to. `None` if this machine does not let a test limit memory and make swap, by what
/// a dry run and the user's id show.
pub fn limits(data: &TempDir) -> Option<File> {
    let path = plan(data, SMALL);
    let words = ["--dry-run", "--memory", "16MiB"];
    let output = howslow(data).arg("load").arg(&path).args(words).output().expect("it starts");
    let by = String::from_utf8_lossy(&output.stdout).contains("limited by control groups");
    if !by || !rustix::process::geteuid().is_root() {
        testing::left_out!("limits of memory and page devices need root and the memory controller");
        return None;
    }
    let swaps = File::open("/proc/swaps").expect("swaps");
    swaps.lock().expect("the lock");
    Some(swaps)
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_else(|| panic!("{key} in {value}"))
}

#[test]
fn accounts_of_a_paged_configuration_agree_and_its_demands_answer_the_model() {
    let data = folder();
    let Some(_alone) = limits(&data) else { return };
    let path = plan(&data, SMALL);
    let file = data.path().join("demands.toml").display().to_string();
    let words = ["--users", "3", "--memory", "8MiB,12MiB", "--device", "swap", "--eligible", "2", "--seed", "1"];
    // On a busy machine, too, what is unfinished at the end has little of the time.
    let document = json(&data, &path, &[&words[..], &["--time", "3s", "--predict", "-o", &file]].concat());
    the_accounts_agree(&document["configurations"][1]);
    let swaps = std::fs::read_to_string("/proc/swaps").expect("swaps");
    assert!(!swaps.contains(&data.path().display().to_string()), "{swaps}");
    its_demands_answer_the_questions_of_the_model(&data, &document, &file);
    let document = data.path().join("experiment.json");
    let without = json(&data, &path, &["--users", "1", "--time", "300ms"]);
    std::fs::write(&document, without.to_string()).expect("a file");
    howslow(&data).arg("model").arg(&document).assert().code(2).stderr(contains("--predict"));
}

fn the_accounts_agree(configuration: &Value) {
    let all = &configuration["all"];
    assert!(number(all, "count") > 5.0 && number(all, "failed") == 0.0, "{all}");
    // Three accounts of the same processor time: reports by getrusage, wait4, the control group.
    let accounts = ["reported_cpu_s", "waited_cpu_s", "group_cpu_s"];
    let [reported, waited, group] = accounts.map(|key| number(configuration, key));
    assert!((waited / group - 1.0).abs() < 0.1, "wait4 {waited}, group {group}");
    assert!((reported / waited - 1.0).abs() < 0.2, "reports {reported}, wait4 {waited}");
    // 18 MiB do not fit into 12: pages come back, and those of the depths are those of the interactions.
    let depths = configuration["depths"].as_array().expect("a list");
    assert_eq!(depths.len(), 3);
    let faults: f64 = depths.iter().map(|depth| number(depth, "major_faults")).sum();
    let of_interactions = number(all, "major_faults") * number(all, "count");
    assert!(faults > 50.0 && (of_interactions / faults - 1.0).abs() < 0.5, "{faults} and {of_interactions}");
    assert!(number(configuration, "pages_in") > 50.0 && number(configuration, "major_fault_s") > 0.0);
    let elapsed: f64 = depths.iter().map(|depth| number(depth, "elapsed_s")).sum();
    assert!((elapsed - number(configuration, "elapsed_s")).abs() < 0.01, "{elapsed}");
    // What ran and what did not are the whole.
    let shares = ["cpu_user", "cpu_system", "cpu_faults", "cpu_other"].map(|key| number(configuration, key));
    let idle =
        ["idle_multiprogramming", "idle_non_multiprogramming", "idle_zero"].map(|key| number(configuration, key));
    let sum: f64 = shares.iter().chain(&idle).sum();
    assert!((sum - 1.0).abs() < 0.02, "{sum}: {shares:?} {idle:?}");
}

fn its_demands_answer_the_questions_of_the_model(data: &TempDir, results: &Value, file: &str) {
    // The predictions and the demands, as they were before anything ran.
    assert_eq!(count(data.path().join("predictions")), 2);
    assert_eq!(results["predicted_before"].as_array().map(Vec::len), Some(2));
    let document = data.path().join("experiment.json");
    std::fs::write(&document, results.to_string()).expect("a file");
    let questions = ["--mean", "1s", "--more-memory", "4MiB", "--json"];
    let answers =
        [Path::new(file), &document].map(|from| support::json(howslow(data).arg("model").arg(from).args(questions)));
    let solved = |answer: &Value| number(&answer["figures"][1]["solved"], "value");
    assert!((solved(&answers[0]) / solved(&answers[1]) - 1.0).abs() < 1e-9, "the file and the document say the same");
    let worth = answers[0]["worth"].to_string();
    for change in ["4 MiB more memory", "another CPU", "fault handling in half", "a page device twice as fast"] {
        assert!(worth.contains(change), "{change} in {worth}");
    }
    assert_eq!(answers[0]["within"].as_array().map(Vec::len), Some(1));
    assert!(answers[0]["by_memory"].as_array().is_some_and(|points| points.len() > 10), "a curve over memory");
    // Bounds, solution, simulation and the real users, in one table.
    let figures = answers[0]["figures"].as_array().expect("figures");
    let response = figures.iter().find(|figure| figure["figure"] == "mean response").expect("a row");
    for column in ["bound", "measured"] {
        assert!(number(response, column) > 0.0, "{response}");
    }
    assert!(number(&response["solved"], "value") > 0.0 && number(&response["simulated"], "value") > 0.0, "{response}");
    let refused = howslow(data).arg("model").arg(file).args(["--device", "zram"]).assert();
    refused.code(2).stderr(contains("the file has swap"));
}

#[test]
fn without_limits_a_plan_runs_as_any_user() {
    let data = folder();
    without_rights_what_needs_them_is_refused(&data);
    root_in_a_user_namespace_needs_no_setting(&data);
    let path = plan(&data, SMALL);
    let words = ["--users", "2", "--cpus", "1", "--time", "500ms"];
    let result = howslow(&data).arg("load").arg(&path).args(words).args(["--svg"]).arg(data.path()).assert().success();
    result.stdout(contains("per interaction").and(contains("idle 1")).and(contains("2 users, 1 CPU")));
    let open = plan(&data, &format!("arrivals = '20/s'\n{SMALL}"));
    let document = json(&data, &open, &["--users", "2", "--time", "1s"]);
    assert!(number(&document["configurations"][0]["all"], "count") >= 5.0, "{document}");
}

fn without_rights_what_needs_them_is_refused(data: &TempDir) {
    let path = plan(data, SMALL);
    let path = path.display().to_string();
    let short = ["--users", "1", "--time", "200ms"];
    let Some(refused) = without_rights(data, &[&["load", "cliff"], &short[..]].concat()) else { return };
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(why.contains("needs limits of memory") && why.contains("run as root"), "{why}");
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0), "{why}");
    let ran = without_rights(data, &[&["load", &path, "--memory", "16MiB"], &short[..]].concat()).expect("as before");
    let output = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success() && output.contains("Memory is not limited"), "{output}");
    let swap = without_rights(data, &[&["load", &path, "--device", "swap"], &short[..]].concat()).expect("as before");
    let why = String::from_utf8_lossy(&swap.stderr).into_owned();
    assert!(swap.status.code() == Some(2) && why.contains("choose the device none"), "{why}");
    let ledgers = std::env::temp_dir().join("howslow-65534");
    assert!(!ledgers.exists(), "{ledgers:?} stays");
}

/// Root of a user namespace owns neither /run nor what the true root has.
fn root_in_a_user_namespace_needs_no_setting(data: &TempDir) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(data.path(), std::fs::Permissions::from_mode(0o777)).expect("our folder");
    let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "unshare", "--map-root-user"];
    let ran = |words: &[&str]| {
        let mut command = Process::new("setpriv");
        command.args(user).arg(assert_cmd::cargo::cargo_bin!("howslow")).args(words).current_dir("/");
        command.env("HOWSLOW_DATA", data.path()).env("TMPDIR", data.path()).env_remove("XDG_RUNTIME_DIR").output()
    };
    if !ran(&["--version"]).is_ok_and(|output| output.status.success()) {
        testing::not_tested!("no user namespace for another user; run as root, in a folder that others can read");
        return;
    }
    let path = plan(data, SMALL).display().to_string();
    let loaded = ran(&["load", &path, "--users", "1", "--time", "200ms"]).expect("it runs");
    assert!(loaded.status.success(), "{loaded:?}");
    let refused = ran(&["load", "cliff", "--users", "1", "--time", "200ms"]).expect("it runs");
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && why.contains("outside of this user namespace"), "{why}");
    assert!(!data.path().join("howslow-0").exists());
}

#[test]
fn limited_memory_reads_again_kills_and_the_least_that_suffices_is_found() {
    files_that_do_not_fit_are_read_again_and_memory_that_is_too_small_kills();
    the_least_memory_for_a_command_is_found();
}

fn files_that_do_not_fit_are_read_again_and_memory_that_is_too_small_kills() {
    let data = folder();
    let Some(_alone) = limits(&data) else { return };
    let text = "name = 'files'\ntime = '1s'\nsettle = '300ms'\nlimit = '60s'\n[[file]]\nname = 'words'\nlines = 200000\n\
        [[interaction]]\nname = 'read'\ncommand = ['cksum', 'words']\n";
    let document = json(&data, &plan(&data, text), &["--users", "2", "--memory", "8MiB", "--device", "none"]);
    let configuration = &document["configurations"][0];
    let [again, pages_in] = ["file_refaults", "pages_in"].map(|key| number(configuration, key));
    assert!(again > 100.0 && pages_in == 0.0, "{configuration}");
    let path = plan(&data, SMALL);
    let document = json(&data, &path, &["--users", "2", "--memory", "4MiB", "--device", "none"]);
    let configuration = &document["configurations"][0];
    let [killed, failed] = [number(configuration, "killed_for_memory"), number(&configuration["all"], "failed")];
    assert!(killed >= 1.0 && failed >= 1.0, "{configuration}");
    // The processor time of the killed is in the account of wait4 alone.
    assert!(number(configuration, "waited_cpu_s") > number(configuration, "reported_cpu_s"), "{configuration}");
}

#[test]
fn commands_that_fail_hang_or_are_missing_are_results() {
    let data = folder();
    // The limit is long for all but the one that hangs, on a busy host too.
    let text = "name = 'commands'\ntime = '5s'\nsettle = '100ms'\nlimit = '1s'\n\
        [[file]]\nname = 'words'\nlines = 100\n\
        [[interaction]]\nname = 'sort'\ncommand = ['sort', 'words']\n\
        [[interaction]]\nname = 'fails'\ncommand = ['false']\n\
        [[interaction]]\nname = 'hangs'\ncommand = ['sleep', '1000']\n\
        [[interaction]]\nname = 'missing'\ncommand = ['no-such-program']\noptional = true\n";
    let document = json(&data, &plan(&data, text), &["--users", "4"]);
    let interaction = |name: &str| {
        let mut all = document["configurations"][0]["interactions"].as_array().expect("a list").iter();
        all.find(|interaction| interaction["name"] == name).unwrap_or_else(|| panic!("{name} in {document}"))
    };
    let sort = interaction("sort");
    assert!(number(sort, "count") > 0.0 && number(sort, "failed") == 0.0, "{sort}");
    for name in ["fails", "hangs"] {
        let failing = interaction(name);
        assert!(number(failing, "count") > 0.0 && failing["count"] == failing["failed"], "{failing}");
    }
    assert!(document["notes"].to_string().contains("no-such-program"), "{}", document["notes"]);
    let needed = plan(&data, &text.replace("optional = true", ""));
    let refused = howslow(&data).arg("load").arg(&needed).assert().code(2);
    refused.stderr(contains("no-such-program").and(contains("install")));
}

/// A quarter of the interactions takes longer than is measured.
#[test]
fn what_takes_longer_than_was_measured_is_named() {
    let data = folder();
    let text = "name = 'long'\ntime = '4s'\nsettle = '100ms'\n[axes]\nusers = [8]\n[[interaction]]\nname = 'mixed'\n\
        command = ['bash', '-c', '(( RANDOM % 4 )) && sleep 0.5 || sleep 6']\n";
    let path = plan(&data, text);
    let document = json(&data, &path, &[]);
    let configuration = &document["configurations"][0];
    let all = &configuration["all"];
    // A user who is in a long one stays in it until the end.
    let [unfinished, overdue] = ["unfinished", "overdue"].map(|key| number(all, key));
    assert!(unfinished >= 1.0 && overdue >= 1.0 && overdue <= unfinished && unfinished <= 8.0, "{all}");
    assert!(all["mean_s"].is_null() && number(all, "mean_at_least_s") > 0.5, "{all}");
    let last = &all["percentiles"][3];
    assert!(last["response_s"].is_null() && number(last, "at_least_s") > 0.5, "{all}");
    assert!(number(configuration, "oldest_unfinished_s") > 0.6, "{configuration}");
    assert!(document["notes"].to_string().contains("the plan's limit (60.0 s)"), "{}", document["notes"]);
    let page = howslow(&data).arg("load").arg(&path).assert().success();
    page.stdout(contains("unfinished)").and(contains(" >= ")).and(contains("unfinished at the end;")));
}

#[test]
fn swap_that_is_left_is_removed_and_that_of_the_system_stays_on() {
    what_a_killed_experiment_leaves_is_removed_by_the_next();
    a_swap_file_that_has_no_room_is_refused_and_swap_of_the_system_stays_on();
}

fn what_a_killed_experiment_leaves_is_removed_by_the_next() {
    let data = folder();
    let Some(_alone) = limits(&data) else { return };
    let path = plan(&data, SMALL);
    let mut child = start(&data, &path, &["--memory", "12MiB", "--device", "swap", "--time", "60s"]);
    let pid = child.id();
    let made = || !groups_of(pid).is_empty() && swaps().contains(&format!("howslow-load-{pid}-"));
    until("a group and a swap file", made);
    // Its guard too, so that nobody is left who could clean up. The last of its users that ends gives the ledger's lock back.
    let all = family(pid);
    all.iter().for_each(|pid| kill(*pid, Signal::KILL));
    child.wait().expect("it ends");
    until("all of it to end", || all.iter().all(|pid| is_gone(*pid)));
    assert!(made(), "what it had made is still there");
    // Whatever the next one has to do.
    let removed = contains("removed what a killed howslow had left").and(contains("the swap file"));
    howslow(&data).args(["list", "loop.empty"]).assert().success().stderr(removed);
    assert!(groups_of(pid).is_empty() && !swaps().contains(&format!("howslow-load-{pid}-")));
    howslow(&data).args(["list", "loop.empty"]).assert().success().stderr("");
}

fn a_swap_file_that_has_no_room_is_refused_and_swap_of_the_system_stays_on() {
    let data = folder();
    let Some(_alone) = limits(&data) else { return };
    let path = plan(&data, &SMALL.replace("'64MiB'", "'800000GiB'"));
    let words = ["--users", "1", "--memory", "16MiB", "--device", "swap"];
    let expected = contains("are free there").and(contains("device_size"));
    howslow(&data).arg("load").arg(&path).args(words).assert().code(1).stdout("").stderr(expected);
    assert!(!swaps().contains(&data.path().display().to_string()));
    let file = data.path().join("precious.swap");
    std::fs::write(&file, vec![0; 16 << 20]).expect("a file");
    let on = |program: &str| Process::new(program).arg(&file).output().is_ok_and(|output| output.status.success());
    if !on("mkswap") || !on("swapon") {
        testing::left_out!("mkswap and swapon on a file of this file system");
        return;
    }
    let words = ["--users", "2", "--memory", "8MiB", "--device", "swap", "--time", "300ms"];
    let ran = howslow(&data).arg("load").arg(plan(&data, SMALL)).args(words).output();
    let (stays, off) = (swaps().contains("precious.swap"), on("swapoff"));
    assert!(ran.is_ok_and(|output| output.status.success()) && stays && off);
    assert!(!swaps().contains(&data.path().display().to_string()), "howslow's own is gone");
}

fn the_least_memory_for_a_command_is_found() {
    let data = folder();
    let Some(_alone) = limits(&data) else { return };
    let words =
        ["load", "--size-for", "response p90 < 10s", "--time", "200ms", "--settle", "1ms", "--cpus", "1", "--json"];
    let document = support::json(howslow(&data).args(words).args(["--", "sh", "-c", "x=1"]));
    let memory = number(&document, "memory");
    assert!((1e6..256e6).contains(&memory), "{document}");
    let trials = document["trials"].as_array().expect("a list");
    // Each trial with less memory than that broke the bound, each with more kept it.
    for trial in trials.iter().filter(|trial| trial["memory"].is_number()) {
        let kept = trial["response_s"].is_number();
        assert!(number(trial, "memory") < memory || kept, "{trial}");
    }
}

fn start(data: &TempDir, path: &Path, words: &[&str]) -> Child {
    let mut command = support::program(data);
    command.arg("load").arg(path).args(words).env("TMPDIR", data.path());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

fn swaps() -> String {
    std::fs::read_to_string("/proc/swaps").unwrap_or_default()
}

/// The control groups of one howslow, in whatever hierarchy.
pub fn groups_of(pid: u32) -> Vec<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    let hierarchies = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let groups = |folder| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let all = hierarchies.chain([root.to_path_buf()]).flat_map(groups);
    let ours = format!("howslow-load-{pid}-");
    all.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&ours))).collect()
}
