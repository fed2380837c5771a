//! What is watched lives as it would without a bill, by each way of counting: signals, stops, ends, and the end of howslow.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::*;
use crate::support::{is_gone, kill, program, state, status_of, until};

/// A started `howslow bill`, with pipes, in a group of its own; and the number that its command writes first.
fn started(data: &TempDir, options: &[&str], script: &str) -> (Child, u32) {
    let mut command = program(data);
    command.arg("bill").args(options).args(["--", "sh", "-c", script]).process_group(0).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("howslow runs");
    let (mut line, output) = (String::new(), child.stdout.as_mut().expect("a pipe"));
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).expect("a line");
    let number = line.trim().parse().expect("a number");
    (child, number)
}

#[test]
fn a_command_stops_goes_on_and_ends_as_without_a_bill() {
    testing::interruptible();
    let data = folder();
    for source in possible() {
        a_stop_and_ctrl_c_reach_it(&data, source);
        what_it_leaves_behind_goes_on(&data, source);
        it_goes_on_when_howslow_is_killed(&data, source);
    }
}

fn a_stop_and_ctrl_c_reach_it(data: &TempDir, source: &str) {
    let (child, command) = started(data, &["--source", source], "echo $$; kill -STOP $$; exec sleep 100");
    let is_stopped = || matches!(state(command), Some('T' | 't'));
    until("the stop", is_stopped);
    std::thread::sleep(Duration::from_millis(50));
    assert!(is_stopped(), "{source}: it stays stopped until it is continued");
    kill(command, Signal::CONT);
    until("sleep", || status_of(command, "Name:").is_some_and(|name| name == "sleep"));
    kill_process_group(Pid::from_child(&child), Signal::INT).expect("sent");
    let output = child.wait_with_output().expect("it ends");
    let page = String::from_utf8_lossy(&output.stderr);
    // The command's status, or the same signal if the command did not end in time.
    let status = output.status;
    assert!(status.code() == Some(130) || status.signal() == Some(libc::SIGINT), "{status}: {page}");
    assert!(page.contains("bill of sh") && page.contains("2 programs executed"), "{source}: {page}");
    // The signal was sent to both. The command may take a moment longer to end.
    until(source, || is_gone(command));
}

#[test]
fn a_command_that_is_alternated_ends_with_howslow() {
    let data = folder();
    let (mut child, command) = started(&data, &["--alternate", "2"], "echo $$; exec sleep 100");
    kill(child.id(), Signal::TERM);
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
    until("its end", || is_gone(command));
}

/// Also, a signal that is ignored stays ignored.
fn what_it_leaves_behind_goes_on(data: &TempDir, source: &str) {
    let at = |name: &str| data.path().join(format!("{source}.{name}")).display().to_string();
    let (file, ready) = (at("json"), at("ready"));
    // A process has its id in a bill once it made a call, so the command waits until what it leaves behind has.
    let inner = format!(
        "kill -HUP $PPID; grep SigIgn /proc/self/status; setsid sh -c 'echo > {ready}; exec sleep 1000' >/dev/null 2>&1 & \
         while [ ! -s {ready} ]; do sleep 0.02; done; exit 3"
    );
    let script = "trap '' HUP; exec \"$0\" bill --source \"$1\" -o \"$2\" -- sh -c \"$3\"";
    let howslow = assert_cmd::cargo::cargo_bin!("howslow").display().to_string();
    let mut command = Command::new("sh");
    command.args(["-c", script, &howslow, source, &file, &inner]);
    command.env("HOWSLOW_DATA", data.path()).env("HOWSLOW_PRICES", "kept");
    let output = assert_cmd::Command::from_std(command).assert().code(3).stderr(contains("bill of sh"));
    let written = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let ignored = written.split_whitespace().nth(1).and_then(|mask| u64::from_str_radix(mask, 16).ok());
    assert!(ignored.is_some_and(|mask| mask & 1 == 1), "{source}: {written}");
    let bill = Bill::read(Path::new(&file));
    let left = bill.seen.processes.iter().find(|process| process.running).expect("it runs");
    let pid = left.pid.expect("its id");
    assert_eq!(status_of(pid, "TracerPid:").as_deref(), Some("0"), "{source}");
    kill(pid, Signal::KILL);
}

fn it_goes_on_when_howslow_is_killed(data: &TempDir, source: &str) {
    let (mut child, command) = started(data, &["--source", source], "echo $$; while :; do /bin/true; done");
    let tracer = || status_of(command, "TracerPid:");
    // The tracer is reported as the thread that traces.
    until("the tracer", || tracer().is_some_and(|pid| (pid == "0") == (source != "ptrace")));
    child.kill().expect("it can be killed");
    assert_eq!(child.wait().expect("it ended").signal(), Some(9));
    until("the end of tracing", || tracer().as_deref() == Some("0"));
    // It goes on: it creates processes.
    let forked = || fs::read_to_string(format!("/proc/{command}/stat")).expect("it runs");
    let before = forked();
    until("its next child", || forked() != before);
    kill(command, Signal::KILL);
}

#[test]
fn a_process_is_watched_until_it_ends() {
    let data = folder();
    let mut asleep = Command::new("sleep").arg("100").spawn().expect("sleep");
    let mut over = Command::new("true").spawn().expect("true");
    until("its end", || is_gone(over.id()));
    until("its sleep", || state(asleep.id()) == Some('S'));
    for source in possible().into_iter().chain(["accounts"]) {
        let bill = |words: &[&str]| howslow(&data).args(["bill", "--source", source]).args(words).assert();
        // A tracer stops it once, for which it is charged.
        let there = bill(&["-p", &asleep.id().to_string(), "--for", "50ms"]).success();
        there.stdout(contains(" of processor time").and(contains("0 major")));
        let gone = bill(&["-p", &over.id().to_string(), "--for", "50ms"]).code(2);
        gone.stderr(contains(format!("process {} has ended", over.id())));
        let of_a_thread = || {
            let own = fs::read_link("/proc/thread-self").expect("this thread");
            let id = own.file_name().and_then(OsStr::to_str).expect("its id");
            bill(&["-p", id, "--for", "50ms"]).code(2).stderr(contains(format!("give -p {}", std::process::id())));
        };
        std::thread::scope(|scope| scope.spawn(of_a_thread).join().expect("it is refused"));
        bill(&["--", "/no/such/program"]).code(2).stderr(contains("cannot run /no/such/program"));
        if source != "accounts" {
            one_that_works_is_watched_and_ends(&data, source);
        }
        if source == "ptrace" {
            let (mut first, traced) = started(&data, &["--source", source], "echo $$; read line");
            bill(&["-p", &traced.to_string()]).code(2).stderr(contains("is traced already, by process"));
            drop(first.stdin.take());
            first.wait().expect("it ends");
        }
    }
    asleep.kill().expect("it is ours");
    let _ = (asleep.wait(), over.wait());
}

/// As from a service manager that ignores the ends of its children, closed pipes and files that are too large, and from a shell with few open
/// files.
#[test]
fn what_howslow_inherited_is_inherited_by_the_command() {
    const CREATOR: [&str; 3] = ["sh", "-c", "ulimit -Sn 48; exec env --ignore-signal=CHLD,PIPE,XFSZ \"$0\" \"$@\""];
    let data = folder();
    // The highest signals are the C library's.
    let print = "/^SigIgn/ { print substr($2, 10) } /open files/ { print $4 }";
    let (command, expected) = (["awk", print, "/proc/self/status", "/proc/self/limits"], "1011000\n48\n");
    let output = |words: &[&str]| {
        let mut creator = Command::new(CREATOR[0]);
        creator.env("HOWSLOW_DATA", data.path()).env("HOWSLOW_PRICES", "kept").args(&CREATOR[1..]).args(words);
        creator.output().expect("sh runs")
    };
    if output(&command).stdout != expected.as_bytes() {
        return testing::not_tested!(
            "env(1) ignores no signals, or awk is missing; install coreutils 8.31 or later, mawk"
        );
    }
    let howslow = assert_cmd::cargo::cargo_bin!("howslow").display().to_string();
    for source in possible().into_iter().chain(["accounts"]) {
        let found = output(&[&[&howslow, "bill", "--source", source, "--repeat", "2", "--"], &command[..]].concat());
        let text = String::from_utf8_lossy(&found.stdout);
        assert!(found.status.success(), "{source}: {}", String::from_utf8_lossy(&found.stderr));
        assert!(text.matches(expected).count() >= 2, "{source}: {text}");
    }
}

fn one_that_works_is_watched_and_ends(data: &TempDir, source: &str) {
    let at = |name: &str| data.path().join(format!("{source}.{name}"));
    let (file, enough, before, after) = (at("bill.json"), at("enough"), at("before"), at("after"));
    let script = "while [ ! -e \"$0\" ]; do sleep 0.05; done; times > \"$1\"
        i=0; while [ $i -lt 500 ]; do (exit 0); i=$((i+1)); done; times > \"$2\"";
    let mut target = Command::new("sh").args(["-c", script]).args([&enough, &before, &after]).spawn().expect("sh");
    let mut bill = program(data);
    bill.args(["bill", "--source", source, "--every", "50ms", "-p", &target.id().to_string(), "-o"]).arg(&file);
    let mut watching = bill.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("howslow runs");
    let is_counted = || {
        let bill = file.exists().then(|| Bill::read(&file));
        bill.is_some_and(|bill| {
            let is_it = |process: &ProcessCounts| process.pid == Some(target.id()) && process.running;
            bill.count("execve") > 0 && bill.count("wait4") > 0 && bill.seen.processes.iter().any(is_it)
        })
    };
    until("a bill of it", is_counted);
    fs::write(enough, "").expect("written");
    assert!(target.wait().expect("it ends").success(), "it was not ended by being watched");
    assert_eq!(watching.wait().expect("it ends").code(), Some(0), "{source}");
    let bill = Bill::read(&file);
    assert!(bill.seen.elapsed_ns > 0.0);
    // Short processes with their ends, which come after the account that the kernel gives of them.
    let [before, after] = [before, after].map(|file| used_ns(&fs::read_to_string(file).expect("times")));
    let charged = bill.seen.usage.cpu_ns.expect("a charge");
    assert!(source == "ptrace" || charged > 0.8 * (after - before), "{charged} of {before} to {after} ns");
}

/// What `times` of a shell prints: minutes and seconds in user mode and in the kernel, its own and its children's.
fn used_ns(times: &str) -> f64 {
    let time = |word: &str| {
        let (minutes, seconds) = word.trim_end_matches('s').split_once('m').expect("a time");
        minutes.parse::<f64>().expect("minutes") * 60e9 + seconds.parse::<f64>().expect("seconds") * 1e9
    };
    times.split_whitespace().map(time).sum()
}
