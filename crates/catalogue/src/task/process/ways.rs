//! The ways of starting a process: of any size, in any namespaces, and with either kind of program.

use std::ffi::CString;
use std::mem::ManuallyDrop;

use libc::{CLONE_VFORK, CLONE_VM, SIGCHLD, c_int};
use operation::{Axis, Failure, Need, Operation, bytes, numbers, repeat, term, word, words};
use rustix::mm::Advice;
use syscalls::Sysno;

use crate::kit::{BASE, Mapping, NEAR, PAGE, Start, execute, fork, in_child, start_and_end, tried, wait_for};

/// A child that is started, ends, and is reaped.
const CHILD: Operation = BASE.per("process");

const KIND: Axis = word("kind", words!["none", "user", "mount", "uts", "ipc", "pid", "net", "cgroup", "time"]);

/// The call of its own for it, where there is one. Elsewhere `clone` starts such a child.
const VFORK: &[&str] = if cfg!(target_arch = "x86_64") { &["vfork"] } else { &[] };

pub(crate) const OPERATIONS: &[Operation] = &[
    CHILD
        .id("process.fork.resident")
        // Pages that were written since the last copy take half as long again: the kernel forbids each to be written.
        .summary(
            "copy a process that has touched this much memory and written none since the last copy, let the copy end at once, wait \
            for it (fork, wait)",
        )
        .axes(&[bytes("resident", numbers![1 << 20, 16 << 20, 256 << 20, 1 << 30]).in_steps(4 << 10, 4 << 10, 1 << 30)])
        .explained_by(&[term(1.0, "process.fork")])
        .monotonic_in(&["resident"])
        // Of each page, the copy touches an entry of the page table and its record of a cache line.
        .follows_clock(|point| point.number("resident").unwrap_or(0) / PAGE as u64 * 64 <= NEAR)
        .patience(30.0)
        .prepare(|setting| {
            touch(setting.number("resident")?)?;
            Ok(repeat(|| wait_for(fork(|| 0)?)))
        }),
    #[cfg(target_arch = "x86_64")]
    CHILD
        .named("call.fork", "copy this small process by the old call, let the copy end at once, wait for it")
        .calls(&["fork", "exit_group"])
        .prepare(|_| {
            Ok(repeat(|| {
                // SAFETY: the child touches nothing and ends.
                wait_for(unsafe { start_and_end(Sysno::fork, [0, 0], Sysno::exit_group) }?)
            }))
        }),
    CHILD
        .id("process.vfork")
        .summary("start a child that shares this process's memory and ends at once, wait for it (vfork, wait)")
        .calls(VFORK)
        .prepare(|_| {
            #[cfg(target_arch = "x86_64")]
            let (number, flags) = (Sysno::vfork, 0);
            #[cfg(not(target_arch = "x86_64"))]
            let (number, flags) = (Sysno::clone, (CLONE_VM | CLONE_VFORK | SIGCHLD) as usize);
            Ok(repeat(move || {
                // SAFETY: the child writes no memory, and this process is suspended until it has ended.
                wait_for(unsafe { start_and_end(number, [flags, 0], Sysno::exit_group) }?)
            }))
        }),
    CHILD
        .named(
            "process.clone",
            "start and end a child that shares this process's memory, with its own stack, wait for it (clone, wait)",
        )
        .calls(&["clone", "exit"])
        .prepare(|_| Ok(in_child(0, || Ok(())))),
    CHILD
        .id("process.clone3")
        .summary("start a child that shares this process's memory and ends at once, wait for it (clone3, wait)")
        .calls(&["clone3", "exit_group"])
        .prepare(|_| {
            let start = Box::new(Start {
                flags: (CLONE_VM | CLONE_VFORK) as u64,
                exit_signal: SIGCHLD as u64,
                ..Start::default()
            });
            tried(repeat(move || wait_for(clone3(&start)?)))
        }),
    CHILD
        .id("process.namespace")
        .summary("copy this small process into a new namespace of this kind, let the copy end at once, wait for it")
        .axes(&[KIND])
        .patience(30.0)
        // The kernel creates and removes most kinds with the help of kernel threads.
        .waits(|point| point.word("kind") != Some("none"))
        .prepare(|setting| {
            let kind = kind(setting.word("kind")?)?;
            let mut start = Box::new(Start { flags: kind, exit_signal: SIGCHLD as u64, ..Start::default() });
            if clone3(&start).and_then(wait_for).is_err() {
                // A user that may not create this kind directly may do so within a user namespace.
                start.flags = kind | libc::CLONE_NEWUSER as u64;
                setting.tally("also a user namespace").pass(1);
            }
            tried(repeat(move || wait_for(clone3(&start)?)).at_most(NAMESPACES)).map_err(refused)
        }),
    CHILD
        .named(
            "process.exec.dynamic",
            "copy this small process, run a dynamically linked program that does nothing in the copy, wait \
            (/bin/true)",
        )
        .needs(&[Need::Program("/bin/true")])
        .explained_by(&[term(1.0, "process.exec")])
        .at_least(&["process.exec"])
        .prepare(|_| {
            let program = CString::from(c"/bin/true");
            Ok(repeat(move || wait_for(fork(|| execute(&program))?)))
        }),
];

/// Namespaces created in one batch. The kernel removes them later, in the background.
const NAMESPACES: u64 = 32;

/// The flag for this kind of namespace.
fn kind(name: &str) -> Result<u64, Failure> {
    /// `CLONE_NEWTIME` of linux/sched.h, known to clone3 only.
    const NEW_TIME: c_int = 0x80;
    let flag = match name {
        "none" => 0,
        "user" => libc::CLONE_NEWUSER,
        "mount" => libc::CLONE_NEWNS,
        "uts" => libc::CLONE_NEWUTS,
        "ipc" => libc::CLONE_NEWIPC,
        "pid" => libc::CLONE_NEWPID,
        "net" => libc::CLONE_NEWNET,
        "cgroup" => libc::CLONE_NEWCGROUP,
        "time" => NEW_TIME,
        other => return Err(Failure::wrong(format!("there is no namespace kind {other}"))),
    };
    Ok(flag as u64)
}

fn refused(failure: Failure) -> Failure {
    failure.skip_on(&[libc::EINVAL], "this kernel has no namespaces of this kind", "a kernel built with them")
}

/// Starts a child as `start` says. The child ends at once.
fn clone3(start: &Start) -> Result<i32, Failure> {
    let arguments = [std::ptr::from_ref(start) as usize, size_of::<Start>()];
    // SAFETY: the arguments are valid to read; the child has the memory to itself or is waited for, and writes none.
    unsafe { start_and_end(Sysno::clone3, arguments, Sysno::exit_group) }
}

/// Maps this much memory in base pages and touches all of it. It is freed with this process.
fn touch(bytes: u64) -> Result<(), Failure> {
    if bytes > system::machine::available_memory() / 2 {
        return Err(Failure::skip("not enough memory is free", "free memory, or raise the container's limit"));
    }
    let memory = ManuallyDrop::new(Mapping::anonymous(bytes as usize)?);
    // A kernel without huge pages rejects the advice, which does not matter.
    let _ = memory.advise(Advice::LinuxNoHugepage);
    // As if each page were written, without a fault for each of them (Linux 5.14).
    if memory.advise(Advice::LinuxPopulateWrite).is_err() {
        (0..memory.length).step_by(rustix::param::page_size()).for_each(|page| memory.write(page));
    }
    Ok(())
}
