//! Programs that do rare things, or many at once, while they are watched, by each way of counting.

use super::programs::program;
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
        #[cfg(target_arch = "x86_64")]
        {
            // 1000; getppid as programs with short pointers (x32) make it, which a kernel without them refuses.
            for (number, name) in [("1000", "number 1000"), ("1073741934", "x32 number 110")] {
                let none = billed_by(&data, data.path(), &by, &[&program("calls"), number]);
                assert_eq!(none.count(name), 23, "{source}, {number}: {:?}", none.calls());
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
    }
    let gate = programs::compiled(data.path(), "gate", programs::OLD_GATE).display().to_string();
    let bill = billed_by(data, data.path(), &["--source", source], &[&gate]);
    // 64-bit code may make such calls. The same number is writev among those of 64 bits.
    assert_eq!((bill.count("32-bit number 20"), bill.count("writev")), (23, 0), "{source}: {:?}", bill.calls());
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
    let Bill { seen, .. } = billed(&data, data.path(), &[&program("short")]);
    assert!(
        matches!(seen.processes.as_slice(), [process] if process.thread_count == 231 && process.usage == seen.usage),
        "{seen:?}"
    );
}
