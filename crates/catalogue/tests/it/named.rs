//! The system calls that an operation names are those that its loop makes: it fails when the kernel refuses them.

use operation::{Failure, Operation, Setting};
use syscalls::Sysno;

use crate::support::{give_up_after, in_a_process};

/// The error of a refused call: one that none of these calls returns otherwise.
const REFUSED: i32 = libc::EXDEV;

/// Families that make their calls while the loop runs, and not before.
const FAMILIES: &[&str] = &["eventfd", "flag", "mq", "pair", "pipe", "poll", "semaphore", "signal", "signalfd", "unix"];

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
