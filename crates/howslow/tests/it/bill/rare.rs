//! Programs that do rare things, or many at once, while they are watched, by each way of counting.

use super::programs::{compiled, program};
use super::*;

/// The numbers of calls that the programs make: getppid, bpf, ptrace.
#[cfg(target_arch = "x86_64")]
const NUMBERS: [&str; 3] = ["110", "321", "101"];
#[cfg(target_arch = "aarch64")]
const NUMBERS: [&str; 3] = ["173", "280", "117"];

#[test]
fn rare_calls_and_programs_and_many_at_once_are_counted_as_they_are() {
    of_many_processes_and_threads_none_is_lost();
    let data = folder();
    for source in possible() {
        let by = ["--source", source];
        let refused =
            billed_by(&data, data.path(), &by, &[&program("sandbox"), NUMBERS[0], &program("calls"), NUMBERS[0]]);
        assert_eq!(refused.calls()["getppid"], (23, 23), "{source}: a sandbox refuses them");
        calls_in_which_threads_are_killed_are_counted(&data, source);
        #[cfg(target_arch = "x86_64")]
        {
            // 1000; getppid as programs with short pointers (x32) make it, which a kernel without them refuses.
            for (number, name) in [("1000", "number 1000"), ("1073741934", "x32 number 110")] {
                let none = billed_by(&data, data.path(), &by, &[&program("calls"), number]);
                assert_eq!(none.calls().get(name), Some(&(23, 23)), "{source}, {number}: {:?}", none.calls());
            }
            narrow_programs_are_counted_apart(&data, source);
        }
    }
    // In a sandbox that refuses both ways, the accounts are reported.
    let howslow = assert_cmd::cargo::cargo_bin!("howslow").display().to_string();
    let words = [&NUMBERS[1..].join(","), &howslow, "bill", "--", "sh", "-c", "exit 4"];
    let mut sandbox = Command::new(program("sandbox"));
    sandbox.args(words).env("HOWSLOW_DATA", data.path()).env("HOWSLOW_PRICES", "kept");
    let ended = assert_cmd::Command::from_std(sandbox).assert().code(4);
    let why = contains("not counted by eBPF: ").and(contains("not counted by ptrace: "));
    ended.stderr(contains("counted by accounts").and(why));
}

#[cfg(target_arch = "x86_64")]
fn narrow_programs_are_counted_apart(data: &TempDir, source: &str) {
    let narrow = programs::narrow(data.path());
    if !matches!(Command::new(&narrow).status(), Ok(status) if status.code() == Some(5)) {
        return testing::not_tested!("this kernel runs no 32-bit programs; boot with ia32_emulation=1");
    }
    let words = ["sh", "-c", &format!("{}; [ $? = 5 ]", narrow.display())];
    for options in [&["--source", source][..], &["--source", source, "--counts-only"]] {
        let bill = billed_by(data, data.path(), options, &words);
        let calls = ["32-bit number 20", "32-bit number 6", "32-bit number 1", "execve"];
        assert_eq!(calls.map(|name| bill.count(name)), [23, 1, 1, 2], "{options:?}: {:?}", bill.calls());
        let of_handler = ["32-bit number 37", "32-bit number 173", "32-bit number 65535"];
        assert_eq!(of_handler.map(|name| bill.count(name)), [1, 1, 0], "{options:?}: {:?}", bill.calls());
        assert_eq!(bill.calls()["32-bit number 173"].1, 0, "{options:?}: it has no result");
        let failed = if options.len() > 2 { 0 } else { 1 };
        assert_eq!(bill.calls()["32-bit number 6"].1, failed, "{options:?}: the descriptor is none");
    }
    let gate = compiled(data.path(), "gate", programs::OLD_GATE).display().to_string();
    let bill = billed_by(data, data.path(), &["--source", source], &[&gate]);
    // 64-bit code may make such calls. The same number is writev among those of 64 bits.
    assert_eq!((bill.count("32-bit number 20"), bill.count("writev")), (23, 0), "{source}: {:?}", bill.calls());
}

/// Sleeps in 20 threads until the process ends; with an argument, in one that a signal ends.
const PAUSES: &str = r#"
    unsafe extern "C" { fn poll(files: usize, count: usize, ms: i32) -> i32; fn alarm(seconds: u32) -> u32; }
    fn main() {
        if std::env::args().count() > 1 { unsafe { alarm(1); poll(0, 0, -1); } }
        for _ in 0..20 { std::thread::spawn(|| unsafe { poll(0, 0, -1) }); }
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
"#;

/// They return no result to the program, so they do not fail.
fn calls_in_which_threads_are_killed_are_counted(data: &TempDir, source: &str) {
    let pauses = compiled(data.path(), "pauses", PAUSES).display().to_string();
    let name = if cfg!(target_arch = "x86_64") { "poll" } else { "ppoll" };
    for (words, sleeping) in [([&pauses[..], ""], 20), ([&pauses, "x"], 1)] {
        let script = format!("{} {}; :", words[0], words[1]);
        let bill = billed_by(data, data.path(), &["--source", source], &["sh", "-c", &script]);
        let calls = bill.process("pauses").requests.calls.iter().filter(|call| call.call == name);
        // The standard library looks at its descriptors once, before it begins.
        let failed = |call: &CallCount| if cfg!(target_arch = "x86_64") { call.failed() } else { 0 };
        let found: Vec<(u64, u64)> = calls.map(|call| (call.count, failed(call))).collect();
        assert_eq!(found, [(sleeping + 1, 0)], "{source}");
    }
}

/// 1,500 processes that live at once, more than there are records for.
const AT_ONCE: &str = r#"
    use std::io::Read;
    unsafe extern "C" { fn fork() -> i32; fn _exit(status: i32) -> !; }
    fn main() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut writer = Some(writer);
        for _ in 0..1500 { if unsafe { fork() } == 0 {
            drop(writer.take());
            let _ = reader.read(&mut [0]);
            unsafe { _exit(0) };
        } }
    }
"#;

fn of_processes_that_share_records_every_end_is_counted(data: &TempDir) {
    let at_once = compiled(data.path(), "at_once", AT_ONCE).display().to_string();
    let bill = billed(data, data.path(), &[&at_once]);
    assert_eq!(bill.count("exit_group"), 1501, "{:?}", bill.seen.losses);
}

fn of_many_processes_and_threads_none_is_lost() {
    let script = "i=0; while [ $i -lt 1000 ]; do (exit 0); i=$((i+1)); done; :";
    let getppid = NUMBERS[0];
    for source in possible() {
        let data = folder();
        let by = ["--source", source];
        let bill = billed_by(&data, data.path(), &by, &["sh", "-c", script]);
        let all: u64 = bill.seen.processes.iter().map(|process| process.processes).sum();
        let kinds = bill.seen.processes.len();
        assert!(all == 1001 && kinds < 300, "{source}: {all} of {kinds} kinds, {:?}", bill.seen.losses);
        let sum: u64 = bill.seen.processes.iter().map(|process| process.requests.total()).sum();
        assert_eq!((bill.count("exit_group"), sum), (1001, bill.seen.together.total()));
        let bill = billed_by(&data, data.path(), &by, &[&program("threads"), getppid]);
        assert_eq!(bill.count("getppid"), 3300, "{source}");
        // Whether or not there is a record for each.
        let losses = &bill.seen.losses;
        let are_counted = losses.iter().all(|loss| source == "ebpf" && loss.what.contains("counted together"));
        assert!(are_counted, "{losses:?}");
    }
    // What the kernel charges a process lacks what each thread still does after it was counted there.
    let Some(data) = counting("ebpf") else { return };
    of_processes_that_share_records_every_end_is_counted(&data);
    let Bill { seen, .. } = billed(&data, data.path(), &[&program("short")]);
    assert!(
        matches!(seen.processes.as_slice(), [process] if process.thread_count == 231 && process.usage == seen.usage),
        "{seen:?}"
    );
}
