//! Programs that do rare things while they are watched, by each way of counting: what is counted, and that they go on.

use std::os::unix::process::CommandExt;

use super::programs::{self, compiled};
use super::*;

const SOURCES: [&str; 2] = ["ebpf", "ptrace"];

/// The numbers of calls that the programs make: getppid, bpf, ptrace.
#[cfg(target_arch = "x86_64")]
const NUMBERS: [&str; 3] = ["110", "321", "101"];
#[cfg(target_arch = "aarch64")]
const NUMBERS: [&str; 3] = ["173", "280", "117"];

/// The ways of counting calls that are possible here.
fn possible() -> Vec<&'static str> {
    SOURCES.into_iter().filter(|source| counting(source).is_some()).collect()
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path")
}

/// Waits until something holds, which takes no time but that of other work on the machine.
fn wait_for(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{what} did not come");
}

/// A line of the status of a process.
fn status_of(pid: u32, key: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim().into())
}

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), "--", &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success(), "{name} to {pid}");
}

/// howslow on its own, with pipes.
fn started(data: &TempDir, words: &[&str]) -> std::process::Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("howslow"));
    command.env("HOWSLOW_DATA", data.path()).env("HOWSLOW_PRICES", "kept").arg("bill").args(words).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("howslow runs")
}

/// The first line that a started howslow's command writes: a number.
fn number_from(child: &mut std::process::Child) -> u32 {
    use std::io::{BufRead, BufReader};
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    line.trim().parse().expect("a number")
}

#[test]
fn requests_to_an_io_uring_are_counted() {
    let Some(data) = counting("ebpf") else { return };
    let ring = compiled(data.path(), "ring", programs::RING);
    if Command::new(&ring).status().expect("it runs").code() == Some(77) {
        return testing::not_tested!("this kernel gives no io_uring; allow io_uring (kernel.io_uring_disabled=0)");
    }
    let document = billed(&data, data.path(), &[path(&ring)]);
    assert_eq!(document["seen"]["together"]["io_uring"], serde_json::json!([{"name": "nop", "count": 23}]));
    assert_eq!(calls(&document)["io_uring_enter"], (1, 0));
    let polled = compiled(data.path(), "polled", programs::POLLED_RING);
    if Command::new(&polled).status().expect("it runs").code() == Some(77) {
        return testing::not_tested!("this kernel gives no thread to an io_uring; run as root");
    }
    let document = billed(&data, data.path(), &[path(&polled)]);
    assert_eq!(document["seen"]["together"]["io_uring"], serde_json::json!([{"name": "nop", "count": 23}]));
    assert_eq!(document["seen"]["processes"].as_array().map(Vec::len), Some(1), "it belongs to the process");
}

#[test]
fn a_sandboxed_program_is_counted_with_its_refusals() {
    let data = folder();
    let sandbox = compiled(data.path(), "sandbox", programs::SANDBOX);
    let program = compiled(data.path(), "calls", programs::CALLS);
    for source in possible() {
        let words = [path(&sandbox), NUMBERS[0], path(&program), NUMBERS[0]];
        let document = billed_by(&data, data.path(), &["--source", source], &words);
        assert_eq!(calls(&document)["getppid"], (23, 23), "{source}");
    }
}

#[test]
fn in_a_sandbox_that_refuses_both_the_accounts_are_told() {
    let data = folder();
    let sandbox = compiled(data.path(), "sandbox", programs::SANDBOX);
    let refused = NUMBERS[1..].join(",");
    let howslow = assert_cmd::cargo::cargo_bin!("howslow");
    let output = Command::new(sandbox)
        .args([&refused, path(howslow), "bill", "--", "sh", "-c", "exit 4"])
        .env("HOWSLOW_DATA", data.path())
        .env("HOWSLOW_PRICES", "kept")
        .output()
        .expect("it runs");
    let page = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{page}");
    for says in ["counted by accounts", "not counted by eBPF: ", "not counted by ptrace: "] {
        assert!(page.contains(says), "{page}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_32_bit_program_is_counted_apart() {
    let data = folder();
    let program = programs::narrow(data.path());
    if !matches!(Command::new(&program).status(), Ok(status) if status.code() == Some(5)) {
        return testing::not_tested!("this kernel runs no 32-bit programs; boot with ia32_emulation=1");
    }
    let gate = compiled(data.path(), "gate", programs::OLD_GATE);
    for source in possible() {
        let words = ["sh", "-c", &format!("{}; [ $? = 5 ]", path(&program))];
        for options in [&["--source", source][..], &["--source", source, "--counts-only"]] {
            let calls = calls(&billed_by(&data, data.path(), options, &words));
            let count = |name: &str| calls.get(name).map(|(count, _)| *count);
            let narrow = ["32-bit number 20", "32-bit number 6", "32-bit number 1"];
            assert_eq!(narrow.map(count), [Some(23), Some(1), Some(1)], "{options:?}: {calls:?}");
            assert_eq!(count("execve"), Some(2), "{options:?}: {calls:?}");
        }
    }
    for source in possible() {
        let calls = calls(&billed_by(&data, data.path(), &["--source", source], &[path(&gate)]));
        assert_eq!(calls["32-bit number 20"].0, 23, "{source}: 64-bit code may make such calls");
        // The same number is writev among those of 64 bits.
        assert!(!calls.contains_key("writev"), "{source}: {calls:?}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn numbers_that_are_no_calls_are_counted_as_they_are() {
    /// 1000; getppid as programs with short pointers (x32) make it, which a kernel without them refuses.
    const NUMBERS: [(&str, &str); 2] = [("1000", "number 1000"), ("1073741934", "x32 number 110")];
    let data = folder();
    let program = compiled(data.path(), "calls", programs::CALLS);
    for source in possible() {
        for (number, name) in NUMBERS {
            let calls = calls(&billed_by(&data, data.path(), &["--source", source], &[path(&program), number]));
            assert_eq!(calls.get(name).map(|(count, _)| *count), Some(23), "{source}, {number}: {calls:?}");
        }
    }
}

#[test]
fn many_threads_are_counted_whether_or_not_there_is_a_record_for_each() {
    let data = folder();
    let program = compiled(data.path(), "threads", programs::THREADS);
    for source in possible() {
        let document = billed_by(&data, data.path(), &["--source", source], &[path(&program), NUMBERS[0]]);
        assert_eq!(calls(&document)["getppid"].0, 3300, "{source}");
        let losses = document["seen"]["losses"].as_array().expect("losses");
        let together = |loss: &Value| loss["what"].as_str().is_some_and(|what| what.contains("counted together"));
        assert!(losses.iter().all(|loss| source == "ebpf" && together(loss)), "{losses:?}");
    }
}

#[test]
fn a_thread_that_executes_a_program_takes_its_process_over() {
    let data = folder();
    let program = compiled(data.path(), "executes", programs::EXECUTES);
    for source in possible() {
        let document = billed_by(&data, data.path(), &["--source", source], &[path(&program)]);
        let together = &document["seen"]["together"];
        assert_eq!((together["execs"].as_u64(), together["forks"].as_u64()), (Some(2), Some(1)), "{source}");
        assert_eq!(calls(&document)["exit_group"].0, 1, "{source}");
        let processes = document["seen"]["processes"].as_array().expect("processes");
        assert_eq!(processes.len(), 1, "{source}: {processes:?}");
    }
}

#[test]
fn processes_of_another_namespace_are_counted() {
    let data = folder();
    let words = ["unshare", "-p", "-f", "--", "sh", "-c", "/bin/true; /bin/true; :"];
    if !matches!(Command::new(words[0]).args(&words[1..]).status(), Ok(status) if status.success()) {
        return testing::not_tested!("this process may make no namespace of process ids; run as root");
    }
    for source in possible() {
        let document = billed_by(&data, data.path(), &["--source", source], &words);
        let together = &document["seen"]["together"];
        assert_eq!((together["forks"].as_u64(), together["execs"].as_u64()), (Some(3), Some(4)), "{source}");
        let pids = document["seen"]["processes"].as_array().expect("processes").iter().map(|it| it["pid"].as_u64());
        assert!(pids.into_iter().all(|pid| pid.is_some_and(|pid| pid > 3)), "ids are those outside: {source}");
    }
}

/// howslow in a namespace of its own counts a process by the id that it has there.
#[test]
fn in_a_namespace_ids_are_those_inside() {
    let data = folder();
    let inside = ["-p", "-f", "--mount-proc", "--"];
    if !matches!(Command::new("unshare").args(inside).arg("true").status(), Ok(status) if status.success()) {
        return testing::not_tested!("this process may make no namespace of process ids; run as root");
    }
    for source in possible() {
        let script = "while :; do /bin/true; done & \"$0\" bill --source \"$1\" --json --for 300ms -p $!; kill $!";
        let howslow = assert_cmd::cargo::cargo_bin!("howslow");
        let output = Command::new("unshare")
            .args(inside)
            .args(["sh", "-c", script, path(howslow), source])
            .env("HOWSLOW_DATA", data.path())
            .env("HOWSLOW_PRICES", "kept")
            .output()
            .expect("unshare runs");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert!(calls(&document).get("wait4").is_some_and(|(count, _)| *count > 0), "{source}: {document}");
    }
}

#[test]
fn ctrl_c_prints_the_bill_so_far() {
    testing::interruptible();
    let data = folder();
    for source in possible() {
        let mut child = started(&data, &["--source", source, "--", "sh", "-c", "echo $$; exec sleep 100"]);
        let command = number_from(&mut child);
        wait_for("sleep", || status_of(command, "Name:").is_some_and(|name| name == "sleep"));
        let group = format!("-{}", child.id());
        assert!(Command::new("kill").args(["-INT", "--", &group]).status().expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        let page = String::from_utf8_lossy(&output.stderr);
        // The command's status, or the same signal if the command did not end in time.
        let status = output.status;
        let interrupted = status.code() == Some(130) || status.signal() == Some(libc::SIGINT);
        assert!(interrupted, "{status}: {page}");
        assert!(page.contains("bill of sh") && page.contains("2 programs executed"), "{source}: {page}");
        // The signal was sent to both. The command may take a moment longer to end.
        wait_for(source, || status_of(command, "State:").is_none_or(|state| state.starts_with('Z')));
    }
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let data = folder();
    for source in possible() {
        let script =
            "trap '' HUP; exec \"$0\" bill --source \"$1\" -- sh -c 'kill -HUP $PPID; grep SigIgn /proc/self/status'";
        let howslow = assert_cmd::cargo::cargo_bin!("howslow");
        let mut command = Command::new("sh");
        command
            .args(["-c", script, path(howslow), source])
            .env("HOWSLOW_DATA", data.path())
            .env("HOWSLOW_PRICES", "kept");
        let output = command.output().expect("sh runs");
        let (page, written) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        assert!(output.status.success() && page.contains("bill of sh"), "{source}: {output:?}");
        let ignored = written.split_whitespace().nth(1).and_then(|mask| u64::from_str_radix(mask, 16).ok());
        assert!(ignored.is_some_and(|mask| mask & 1 == 1), "{source}: {written}");
    }
}

#[test]
fn what_a_command_leaves_behind_goes_on() {
    let data = folder();
    for source in possible() {
        let file = data.path().join("bill.json");
        let words = ["bill", "--source", source, "-o", path(&file), "--", "sh", "-c"];
        // A process has its id in a bill once it made a call, so the command waits until what it leaves behind has.
        let ready = data.path().join(source);
        let behind = format!("setsid sh -c 'echo > {0}; exec sleep 1000' >/dev/null 2>&1 &", path(&ready));
        let script = format!("{behind} while [ ! -s {} ]; do sleep 0.02; done; exit 3", path(&ready));
        howslow(&data).args(words).arg(script).assert().code(3);
        let document: Value = serde_json::from_slice(&fs::read(&file).expect("the document")).expect("JSON");
        let processes = document["seen"]["processes"].as_array().expect("processes");
        let left = processes.iter().find(|process| process["running"] == true).expect("it runs");
        let pid = left["pid"].as_u64().expect("its id") as u32;
        assert_eq!(status_of(pid, "TracerPid:").as_deref(), Some("0"), "{source}");
        signal(pid, "KILL");
    }
}

#[test]
fn nothing_stays_attached_when_howslow_is_killed() {
    let data = folder();
    for source in possible() {
        let script = "echo $$; while :; do /bin/true; done";
        let mut child = started(&data, &["--source", source, "--", "sh", "-c", script]);
        let command = number_from(&mut child);
        let tracer = if source == "ptrace" { child.id().to_string() } else { "0".into() };
        // The tracer is told as the thread that traces.
        let traced = || status_of(command, "TracerPid:").is_some_and(|it| (it == "0") == (tracer == "0"));
        wait_for("the tracer", traced);
        child.kill().expect("it can be killed");
        assert_eq!(child.wait().expect("it ended").signal(), Some(9));
        wait_for("the end of tracing", || status_of(command, "TracerPid:").as_deref() == Some("0"));
        // It goes on: it creates processes.
        let forked = || fs::read_to_string(format!("/proc/{command}/stat")).expect("it runs");
        let before = forked();
        wait_for("its next child", || forked() != before);
        signal(command, "KILL");
    }
}

#[test]
fn a_stopped_command_stays_stopped_until_it_is_continued() {
    let data = folder();
    for source in possible() {
        let mut child = started(&data, &["--source", source, "--", "sh", "-c", "echo $$; kill -STOP $$; exit 4"]);
        let command = number_from(&mut child);
        let state = || status_of(command, "State:").unwrap_or_default();
        wait_for("the stop", || state().starts_with(['T', 't']));
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(state().starts_with(['T', 't']), "{source}: {}", state());
        signal(command, "CONT");
        assert_eq!(child.wait().expect("it ends").code(), Some(4), "{source}");
    }
}

#[test]
fn a_process_that_vanishes_ends_the_bill() {
    let data = folder();
    for source in possible() {
        let mut target =
            Command::new("sh").args(["-c", "read line; /bin/true"]).stdin(Stdio::piped()).spawn().expect("sh");
        let file = data.path().join(format!("{source}.json"));
        let options = ["--source", source, "--every", "50ms", "-o", path(&file), "-p", &target.id().to_string()];
        let child = started(&data, &options);
        wait_for("the first bill", || file.exists());
        drop(target.stdin.take());
        assert!(target.wait().expect("it ends").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{source}");
        let document: Value = serde_json::from_slice(&fs::read(&file).expect("the last bill")).expect("JSON");
        assert!(document["seen"]["elapsed_ns"].as_f64().is_some_and(|time| time > 0.0));
    }
}

#[test]
fn a_process_that_sleeps_is_charged_nothing_and_one_that_ended_is_told() {
    let data = folder();
    let mut asleep = Command::new("sleep").arg("100").spawn().expect("sleep");
    let mut over = Command::new("true").spawn().expect("true");
    let (there, gone) = (asleep.id().to_string(), over.id().to_string());
    wait_for("its end", || status_of(over.id(), "State:").is_some_and(|state| state.starts_with('Z')));
    wait_for("its sleep", || status_of(asleep.id(), "State:").is_some_and(|state| state.starts_with('S')));
    for source in possible().into_iter().chain(["accounts"]) {
        let watch = |pid: &str| {
            let words = ["bill", "--source", source, "-p", pid, "--for", "50ms"];
            howslow(&data).args(words).assert()
        };
        // A tracer stops it once, for which it is charged.
        watch(&there).success().stdout(contains(" of processor time").and(contains("0 major")));
        watch(&gone).code(2).stderr(contains(format!("process {gone} has ended")));
    }
    asleep.kill().expect("it is ours");
    let _ = (asleep.wait(), over.wait());
}

#[test]
fn a_command_that_is_missing_is_one_sentence_for_every_source() {
    let data = folder();
    for source in ["ebpf", "ptrace", "accounts"] {
        if source == "accounts" || counting(source).is_some() {
            let words = ["bill", "--source", source, "--", "/no/such/program"];
            howslow(&data).args(words).assert().code(2).stderr(contains("cannot run /no/such/program"));
        }
    }
}
