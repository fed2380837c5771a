//! The system calls that an operation names are those that its loop makes: it fails when the kernel refuses them.

use std::collections::BTreeMap;

use operation::{Failure, Operation, Setting};
use syscalls::Sysno;

use crate::support::{give_up_after, in_a_process};

/// The error of a refused call: one that none of these calls returns otherwise.
const REFUSED: i32 = libc::EXDEV;

/// Families that make their calls while the loop runs, and not before.
const FAMILIES: &[&str] =
    &["eventfd", "flag", "move", "mq", "pair", "pipe", "poll", "semaphore", "signal", "signalfd", "tcp", "udp", "unix"];

/// Similar operations of other families.
const OTHERS: &[&str] = &["async.read.ring", "async.read.preadv2", "called.read.random", "called.send"];

#[test]
fn an_operation_makes_the_calls_it_names() {
    let (mut wrong, mut right) = (Vec::new(), 0);
    let chosen = |operation: &&Operation| FAMILIES.contains(&operation.family()) || OTHERS.contains(&operation.id);
    for operation in howslow_catalogue::all().filter(chosen) {
        // A handler's return cannot be refused, and the child reports by a write.
        for name in operation.system_calls().filter(|name| !["rt_sigreturn", "write"].contains(name)) {
            match refused_in_a_child(operation, name) {
                0 => right += 1,
                2 => testing::left_out!("{}: it cannot be measured here", operation.id),
                3 => testing::not_tested!("{}: no filter of system calls may be set here", operation.id),
                _ => wrong.push(format!("{} does without {name}", operation.id)),
            }
        }
    }
    eprintln!("{right} calls were made as named");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A bill divides the price of an operation among the calls of its list. Those of partners are not seen here.
#[test]
fn an_operation_names_each_call_as_often_as_it_makes_it() {
    let (mut wrong, mut right) = (Vec::new(), 0);
    for operation in howslow_catalogue::all().filter(|operation| FAMILIES.contains(&operation.family())) {
        let mut named: Vec<&str> = operation.system_calls().collect();
        named.sort_unstable();
        if named.is_empty() {
            continue;
        }
        let [few, many] = [2, 6].map(|times| calls_of(operation, times));
        let (Some(few), Some(many)) = (few, many) else {
            testing::left_out!("{}: it cannot be measured here", operation.id);
            continue;
        };
        let each = |(call, count): (&String, &u64)| {
            let times = (count - few.get(call).unwrap_or(count)) / 4;
            std::iter::repeat_n(call.clone(), times as usize).collect::<Vec<_>>()
        };
        let mut made: Vec<String> = many.iter().flat_map(each).collect();
        made.sort_unstable();
        if made == named {
            right += 1;
        } else {
            wrong.push(format!("{} makes {made:?} and names {named:?}", operation.id));
        }
    }
    eprintln!("{right} operations name their calls as often as they make them");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each call that a batch of this length makes, with how often; `None` if it cannot be set up or traced.
fn calls_of(operation: &Operation, times: u64) -> Option<BTreeMap<String, u64>> {
    let scratch = tempfile::tempdir().expect("a folder");
    let counted = in_a_process(|| {
        give_up_after(20);
        // SAFETY: the child keeps to itself and leaves by `_exit`.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            give_up_after(20);
            let point = operation.points(false).remove(0);
            let set_up = operation.set_up(&Setting::new(point, scratch.path().into(), 0, None, 1));
            let done = set_up.and_then(|mut looped| {
                // SAFETY: has this process traced by its parent, and passes no memory.
                if unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } != 0 {
                    return Err(Failure::last_os_error());
                }
                // SAFETY: stops this process until its parent lets it go on.
                unsafe { libc::raise(libc::SIGSTOP) };
                looped.perform(times)
            });
            // SAFETY: leaves without running the parent's destructors.
            unsafe { libc::_exit(i32::from(done.is_err())) }
        }
        trace(pid)
    });
    counted.expect("the tracer reports")
}

/// Counts the calls of a child from its stop to its end; `None` if it does not succeed.
fn trace(pid: i32) -> Option<BTreeMap<String, u64>> {
    const ENTRY: u8 = 1;
    let mut counts = BTreeMap::new();
    let mut status = 0;
    // SAFETY: the child is ours; the status is written to our own variable.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    // SAFETY: the child is stopped and ours; passes no memory.
    unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, options) };
    let mut signal = 0;
    while libc::WIFSTOPPED(status) {
        // SAFETY: as above.
        unsafe { libc::ptrace(libc::PTRACE_SYSCALL, pid, 0, signal) };
        // SAFETY: as above.
        unsafe { libc::waitpid(pid, &raw mut status, 0) };
        if !libc::WIFSTOPPED(status) || libc::WSTOPSIG(status) != libc::SIGTRAP | 0x80 {
            signal = libc::WSTOPSIG(status);
            continue;
        }
        signal = 0;
        // SAFETY: all zeroes is a valid value.
        let mut about: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
        let size = size_of_val(&about);
        // SAFETY: the structure has this size.
        unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, &raw mut about) };
        if about.op == ENTRY {
            // SAFETY: at the entry of a call, its number is what the union holds.
            let number = unsafe { about.u.entry.nr };
            let name = Sysno::new(number as usize).map_or_else(|| number.to_string(), |call| call.name().into());
            *counts.entry(name).or_default() += 1;
        }
    }
    (libc::WEXITSTATUS(status) == 0).then_some(counts)
}

/// Returns 0 if the loop fails when this call is refused, 1 if it does not, 2 if it cannot be set up.
fn refused_in_a_child(operation: &Operation, name: &str) -> i32 {
    let scratch = tempfile::tempdir().expect("a folder");
    let number: Sysno = name.parse().expect(name);
    let end = in_a_process(|| {
        give_up_after(20);
        let point = operation.points(false).remove(0);
        match operation.set_up(&Setting::new(point, scratch.path().into(), 0, None, 1)) {
            Ok(mut looped) => match refuse(number) {
                Ok(()) if looped.perform(1) == Err(Failure::Errno { errno: REFUSED }) => 0,
                Ok(()) => 1,
                Err(_) => 3,
            },
            Err(_) => 2,
        }
    });
    end.unwrap_or(-1)
}

/// Makes the kernel refuse this call to this process from now on.
fn refuse(call: Sysno) -> std::io::Result<()> {
    let step = |code: u32, yes, value| libc::sock_filter { code: code as u16, jt: yes, jf: 0, k: value };
    let mut steps = [
        // The call's number is the first word of the filter's input.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, call.id() as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | REFUSED as u32),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: forbids new privileges to this process, and passes no memory.
    let without = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: the program and its steps are valid during the call.
    let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    if without == 0 && set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
