//! One bill of a shell that starts programs which were written to do known things: each is counted with what it did.

use std::process::Command;

use record::WaitReason;

use super::containers::{bill_behind, busy, is_possible};
use super::programs::program;
use super::*;

/// What the shell of the bill does; each program has its name from its file.
const SCRIPT: &str = "i=0; while [ $i -lt 23 ]; do /bin/true; echo $i > f$i; i=$((i+1)); done; : < f0; \
    for program in $0 $*; do $program; done; rm f?";

#[test]
fn each_process_is_counted_with_what_it_did() {
    let Some(data) = counting("ebpf") else { return };
    let place = folder();
    let always = ["waker", "unawaited", "objects", "sleeper", "executes"].map(program).to_vec();
    let rings = ["ring", "polled"].map(program).to_vec();
    let gives = |ring: &&String| Command::new(ring).status().expect("it runs").code() != Some(77);
    let rings: Vec<&String> = rings.iter().filter(gives).collect();
    if rings.len() < 2 {
        testing::not_tested!(
            "this kernel gives no io_uring, or none a thread; allow io_uring (kernel.io_uring_disabled=0), as root"
        );
    }
    let programs: Vec<&str> = always.iter().chain(rings).map(String::as_str).collect();
    let file = |name: &str| place.path().join(name);
    let [folded, mix] = ["x.folded", "mix.toml"].map(|name| file(name).display().to_string());
    let words = [&["sh", "-c", SCRIPT][..], &programs].concat();
    let bill = billed_by(&data, place.path(), &["--source", "ebpf", "-o", &folded, "-o", &mix], &words);
    children_have_their_parent(&bill, programs.len());
    others_are_woken_and_used_time_is_charged(&bill);
    sleeps_are_distinguished_from_other_waits(&bill);
    calls_are_distinguished_by_what_they_are_made_on(&bill);
    for ring in bill.seen.processes.iter().filter(|process| ["ring", "polled"].contains(&process.name.as_str())) {
        let requests: Vec<_> =
            ring.requests.io_uring.iter().map(|request| (request.name.as_str(), request.count)).collect();
        assert_eq!(requests, [("nop", 23)], "of the process, whoever takes them: {ring:?}");
        assert!(ring.name == "polled" || call(&ring.requests, "io_uring_enter").count == 1, "{ring:?}");
    }
    // What else is written of it.
    let stacks = fs::read_to_string(folded).expect("stacks");
    let weight = |line: &str| line.rsplit(' ').next().and_then(|count| count.parse::<u64>().ok()).expect("a count");
    assert_eq!(stacks.lines().map(weight).sum::<u64>(), bill.seen.together.total());
    assert!(stacks.lines().any(|line| line.starts_with("true;true;mmap;mmap ")), "{stacks}");
    let mix = fs::read_to_string(mix).expect("the mix");
    let names = mix.lines().find_map(|line| line.strip_prefix("distinct_names = ")).expect("the names");
    assert!(names.parse::<u64>().is_ok_and(|names| names > 2) && mix.contains("process.exec"), "{mix}");
}

fn children_have_their_parent(bill: &Bill, programs: usize) {
    let processes = &bill.seen.processes;
    let shell = processes.iter().find(|process| process.name == "sh" && process.parent.is_none()).expect("the shell");
    // Each program, `true` and `rm` are its children, and signal it their ends; so do two of its grandchildren their parents.
    let children = 23 + programs as u64 + 1;
    assert_eq!((shell.requests.forks, shell.requests.execs, shell.requests.creates), (children, 1, 23), "{shell:?}");
    let child_signals = shell.requests.signals.iter().find(|signal| signal.name == "SIGCHLD");
    assert_eq!(child_signals.map(|signal| signal.count), Some(children), "{shell:?}");
    let trues = processes.iter().filter(|process| process.name == "true").map(|process| {
        let count = |name: &str| call(&process.requests, name).count;
        assert!(process.parent == shell.pid || process.requests.execs == 2, "{process:?}");
        (process.requests.forks, process.requests.execs, count("execve"), count("exit_group"))
    });
    // One more is what a thread executed, which has the process of that thread.
    let mut trues: Vec<_> = trues.collect();
    trues.sort_unstable();
    assert_eq!(trues, [[(0, 1, 1, 1)].repeat(23), vec![(1, 2, 2, 1)]].concat());
    let all: u64 = processes.iter().map(|process| process.requests.total()).sum();
    assert_eq!(all, bill.seen.together.total(), "none is lost");
}

fn others_are_woken_and_used_time_is_charged(bill: &Bill) {
    let waker = &bill.process("waker").requests;
    // Interrupts wake tasks, too, and count with the call that they interrupt; each of 23 short calls is hardly interrupted.
    let (write, read) = (call(waker, "write"), call(waker, "read"));
    assert!(write.count == 23 && (23..30).contains(&write.wakes), "{write:?}");
    assert!((read.wakes as f64) < 0.1 * read.count as f64, "a read wakes nobody: {read:?}");
    // Who waits for a command does not learn what processes used that were never waited for.
    let parent = bill.process("unawaited");
    let unawaited = bill.seen.processes.iter().find(|process| process.parent == parent.pid).expect("its child");
    assert!(unawaited.usage.cpu_ns > Some(1e6) && bill.seen.usage.cpu_ns > unawaited.usage.cpu_ns, "{unawaited:?}");
}

fn sleeps_are_distinguished_from_other_waits(bill: &Bill) {
    let waits = |calls: &[&str]| {
        let is_meant = |call: &Option<String>| call.as_deref().is_some_and(|call| calls.contains(&call));
        let all = bill.process("sleeper").requests.waits.iter();
        all.clone()
            .find(|wait| is_meant(&wait.call) && wait.reason == WaitReason::Event)
            .unwrap_or_else(|| panic!("{all:?}"))
    };
    // The C library may sleep by either call. A task that is preempted while it sets its timer may find that it has ended, and never sleeps.
    let naps = waits(&["nanosleep", "clock_nanosleep"]);
    assert!((23 + 7 - 3..=23 + 7).contains(&naps.count), "{naps:?}");
    assert!(
        naps.total_ns >= 9e6 * naps.count as f64 && naps.p50_ns >= 8.9e6,
        "no sleep is shorter than it should be: {naps:?}"
    );
    let read = waits(&["read"]);
    assert!((1..=7).contains(&read.count) && read.total_ns > 10e6, "{read:?}");
}

fn calls_are_distinguished_by_what_they_are_made_on(bill: &Bill) {
    let objects = &bill.process("objects").requests;
    assert_eq!(objects.creates, 1, "a file that is there is not created");
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return testing::not_tested!(
            "this kernel does not describe its types; a kernel with CONFIG_DEBUG_INFO_BTF does"
        );
    }
    assert_eq!((objects.writing, objects.truncating), (10, 10), "a device is not emptied");
    let on = |name: &str, object: &str| -> u64 {
        call(objects, name).objects.iter().filter(|count| count.object == object).map(|count| count.count).sum()
    };
    // The standard library reads some files of /proc and /sys itself.
    assert!((23..40).contains(&on("read", "proc")), "{}", on("read", "proc"));
    assert_eq!((on("write", "pipe"), on("read", "pipe"), on("connect", "tcp")), (17, 17, 5));
    assert_eq!((on("read", "random"), on("read", "null")), (9 + 500 + 31, 3 + 500));
    assert!(on("close", "tcp") >= 5 && on("openat", "proc") >= 23);
}

/// Programs are detached one after another, here with a pause before each: meanwhile, other tasks get the addresses of those that ended.
#[test]
fn a_process_that_ends_while_counting_stops_has_no_calls_of_others() {
    let slowly = ["strace", "-f", "-o", "/dev/null", "-e", "trace=close", "-e", "inject=close:delay_enter=20000"];
    if counting("ebpf").is_none() || !is_possible(&[&slowly[..], &["true"]].concat()) {
        return;
    }
    let busy = busy();
    let pid = busy.0.id().to_string();
    let bill = ["HOWSLOW", "bill", "--source", "ebpf", "--for", "100ms", "--json", "-p", &pid];
    for process in bill_behind(&[&slowly[..], &bill].concat()).seen.processes {
        // Each executes one program. Those for which there was no record are reported together, without an id.
        let executed = process.requests.calls.iter().filter(|call| call.call == "execve").map(|call| call.count);
        assert!(process.pid.is_none() || executed.sum::<u64>() <= 1, "{process:?}");
    }
}
