//! Calls on processes and their limits.

use std::sync::atomic::{AtomicU32, AtomicU64};

use operation::{Axis, Failure, Loop, Operation, Setting, repeat, term, word, words};
use rustix::fs::{Mode, OFlags};

use super::CALL;
use crate::kit::library::open;
use crate::kit::{
    Null, c_path, call, consuming, device, do_nothing, ended_child, ended_copy, ensure, exactly, in_child, invoke,
    namespaces, opening, owned, steadily, steady, steady_with, stopped, tried, turning,
};

/// `IOPRIO_WHO_PROCESS` of linux/ioprio.h.
const PROCESS: i32 = 1;

/// The middle of the class that every process begins in: class 2, level 4.
const BEST_EFFORT: i32 = 2 << 13 | 4;

/// A call that a process can make only once. Each is made in a new child, whose cost is subtracted.
const IN_CHILD: Operation = CALL.terms(&[term(1.0, "loop.empty"), term(1.0, "process.clone")]);

/// A call made 64 times by a child, whose cost is subtracted.
pub(super) const MANY_IN_CHILD: Operation =
    CALL.terms(&[term(1.0 / EACH as f64, "loop.empty"), term(1.0 / EACH as f64, "process.clone")]);

/// The child's memory while it ran: its own copy of this process's memory, or the memory itself.
const ENDED: &[Axis] = &[word("child", words!["copied", "lent"])];

/// The number of calls by one child, so high that the child's own cost hardly counts.
pub(super) const EACH: u64 = 64;

/// Children reaped in one batch.
const CHILDREN: u64 = 128;

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.getpid", "get this process's id").prepare(|_| steadily(std::process::id() as usize, call::getpid)),
    CALL.named("call.gettid", "get this thread's id").prepare(|_| steadily(call::gettid()?, call::gettid)),
    CALL.named("call.getpgid", "ask for the process group of this process")
        .prepare(|_| steadily(call::getpgid(0)?, || call::getpgid(0))),
    CALL.named("call.getsid", "ask for the session of this process")
        .prepare(|_| steadily(call::getsid(0)?, || call::getsid(0))),
    MANY_IN_CHILD
        .named("call.setpgid", "move a child into a new process group, or back into its parent's")
        .version(2)
        .prepare(|_| {
            let parents = call::getpgid(0)?;
            let turns = move || {
                (0..EACH / 2).try_for_each(|_| {
                    exactly(0, call::setpgid(0, 0)?)?;
                    exactly(0, call::setpgid(0, parents)?)
                })
            };
            Ok(tried(in_child(0, turns))?.unrolled(EACH))
        }),
    IN_CHILD.named("call.setsid", "begin a session, in a child, which can do so only once").prepare(|_| {
        let begin = || ensure(call::setsid()? > 0, || "there is no session");
        tried(in_child(0, begin))
    }),
    CALL.id("call.wait4")
        .summary("reap a child that has ended: a copy of this process, or one that shared its memory (vfork)")
        .version(2)
        .axes(ENDED)
        .prepare(|setting| collecting(setting, |child| exactly(child as usize, call::wait4(child, Null, 0, Null)?))),
    CALL.named(
        "call.waitid",
        "reap a child that has ended, by the newer call: a copy of this process, or one that shared its memory",
    )
    .version(2)
    .axes(ENDED)
    .prepare(|setting| {
        collecting(setting, |child| exactly(0, call::waitid(libc::P_PID, child, Null, libc::WEXITED, Null)?))
    }),
    CALL.named("call.set_tid_address", "set the address of the word that the kernel clears when this thread ends")
        .prepare(|_| {
            let word: &'static AtomicU32 = Box::leak(Box::default());
            // SAFETY: the word is never freed.
            steadily(call::gettid()?, move || unsafe { invoke!(set_tid_address, word.as_ptr()) })
        }),
    CALL.named("call.prctl", "ask for the name of this thread").prepare(|_| {
        let mut name = [0_u8; 16];
        // SAFETY: this command writes a name of 16 bytes.
        steady(move || unsafe { invoke!(prctl, libc::PR_GET_NAME, &mut name, 0, 0, 0) })
    }),
    CALL.named("call.personality", "set the personality of this process to its current value").prepare(|_| {
        let own = call::personality(u32::MAX)?;
        steadily(own, move || call::personality(own))
    }),
    CALL.named("call.getrlimit", "get the limit on open files")
        .prepare(|_| steady_with([0_u64; 2], |limit| call::getrlimit(libc::RLIMIT_NOFILE as i32, limit))),
    CALL.named("call.setrlimit", "set the limit on open files to its current value").prepare(|_| {
        let mut limit = [0_u64; 2];
        exactly(0, call::getrlimit(libc::RLIMIT_NOFILE as i32, &mut limit)?)?;
        steady(move || call::setrlimit(libc::RLIMIT_NOFILE as i32, &limit))
    }),
    CALL.named("call.prlimit64", "get the limit on open files, and set the same value").prepare(|_| {
        let (mut limit, mut before) = ([0_u64; 2], [0_u64; 2]);
        exactly(0, call::prlimit64(0, libc::RLIMIT_NOFILE as i32, Null, &mut limit)?)?;
        steady(move || call::prlimit64(0, libc::RLIMIT_NOFILE as i32, &limit, &mut before))
    }),
    CALL.named("call.getrusage", "get the resource usage of this process")
        .prepare(|_| steady_with([0_u64; 18], |usage| call::getrusage(libc::RUSAGE_SELF, usage))),
    CALL.named("call.times", "get this process's times in ticks").prepare(|_| {
        let mut times = [0_u64; 4];
        tried(repeat(move || call::times(&mut times).map(drop)))
    }),
    CALL.named("call.sysinfo", "get the system's memory and load")
        .prepare(|_| steady_with([0_u64; 16], |info| call::sysinfo(info))),
    CALL.named("call.uname", "get the system's name")
        .prepare(|_| steady_with([0_u8; 6 * 65], |names| call::uname(names))),
    CALL.named("call.getcpu", "get the number of this CPU from the kernel itself")
        .prepare(|_| steady_with(([0_u32], [0_u32]), |(cpu, node)| call::getcpu(cpu, node, Null))),
    CALL.named("call.getpriority", "ask for the priority of this process")
        .prepare(|_| steadily(call::getpriority(0, 0)?, || call::getpriority(0, 0))),
    CALL.id("call.setpriority")
        .summary("lower the priority of this process by a step, and raise it again: one of the two calls")
        .version(2)
        .prepare(|_| {
            // The call returns 20 minus the priority, so that no result looks like an error. The lowest is 19.
            let own = 20 - call::getpriority(0, 0)? as i32;
            let other = if own < 19 { own + 1 } else { own - 1 };
            // Only root may raise it, which is tried before anything is timed.
            exactly(0, call::setpriority(0, 0, other)?)?;
            exactly(0, call::setpriority(0, 0, own)?)?;
            turning([other, own], |priority| call::setpriority(0, 0, priority))
        }),
    CALL.named("call.ioprio_get", "get the I/O priority of this process")
        .prepare(|_| steadily(call::ioprio_get(PROCESS, 0)?, || call::ioprio_get(PROCESS, 0))),
    CALL.named("call.ioprio_set", "set the I/O priority of this process to the default")
        .prepare(|_| steady(|| call::ioprio_set(PROCESS, 0, BEST_EFFORT))),
    CALL.named("call.kcmp", "compare two descriptors: do they refer to one open file?").prepare(|_| {
        let (own, null) = (call::getpid()?, device(c"/dev/null")?);
        steady(move || call::kcmp(own, own, Null, &null, &null))
    }),
    CALL.named("call.ptrace", "read a word of a stopped process's memory").prepare(|setting| {
        static WORD: AtomicU64 = AtomicU64::new(23);
        let traced = stopped(setting)?;
        let mut read = [0_u64];
        tried(repeat(move || {
            // SAFETY: this command reads a word of the child's memory, and writes it to one of ours.
            exactly(0, unsafe { invoke!(ptrace, libc::PTRACE_PEEKDATA, traced.pid(), WORD.as_ptr(), &mut read) }?)?;
            exactly(23, read[0] as usize)
        }))
    }),
    CALL.named("call.pidfd_open", "open this process as a descriptor").prepare(|_| {
        let own = call::getpid()?;
        opening(move || call::pidfd_open(own, 0))
    }),
    CALL.named("call.pidfd_getfd", "copy a descriptor out of a process").prepare(|_| {
        let (own, null) = (owned(call::pidfd_open(call::getpid()?, 0)?), device(c"/dev/null")?);
        opening(move || call::pidfd_getfd(&own, &null, 0))
    }),
    CALL.named("call.unshare", "create a new namespace of host names and enter it").prepare(|_| {
        namespaces(libc::CLONE_NEWUTS)?;
        steady(|| call::unshare(libc::CLONE_NEWUTS))
    }),
    CALL.named("call.setns", "enter the namespace of host names that this process is already in").prepare(|_| {
        namespaces(libc::CLONE_NEWUTS)?;
        let own = open("/proc/self/ns/uts", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        steady(move || call::setns(&own, libc::CLONE_NEWUTS))
    }),
    IN_CHILD.named("call.execveat", "execute an open program that does nothing, in a child, and wait for it").prepare(
        |setting| {
            let program = open(do_nothing(setting)?, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            let (arguments, environment) = ([c"nothing".as_ptr(), std::ptr::null()], [std::ptr::null::<u8>()]);
            // SAFETY: both lists end with a null pointer, and the texts are constants.
            let become_it =
                move || unsafe { invoke!(execveat, &program, c"", &arguments, &environment, libc::AT_EMPTY_PATH) };
            tried(in_child(0, move || become_it().map(drop)))
        },
    ),
    MANY_IN_CHILD
        .id("call.acct")
        .opt_in()
        .summary("start and stop process accounting, many times in a namespace's first process; the kernel logs each")
        .calls(&["acct", "acct"])
        .explained_by(&[term(2.0, "syscall.getppid")])
        .version(2)
        .per("pair")
        // A kernel thread closes the file.
        .waits(|_| true)
        .prepare(|setting| {
            let path = setting.scratch().join("records");
            std::fs::write(&path, "")?;
            let path = c_path(&path)?;
            let pairs = move || {
                (0..EACH).try_for_each(|_| {
                    exactly(0, call::acct(&path)?)?;
                    exactly(0, call::acct(Null)?)
                })
            };
            Ok(tried(in_child(libc::CLONE_NEWPID, pairs))?.unrolled(EACH))
        }),
    MANY_IN_CHILD.named("call.vhangup", "hang up a session that has no terminal").prepare(|_| {
        let hang_up = || {
            call::setsid()?;
            (0..EACH).try_for_each(|_| exactly(0, call::vhangup()?))
        };
        Ok(tried(in_child(0, hang_up))?.unrolled(EACH))
    }),
];

/// A loop that reaps a child in each iteration. They have started and ended before the batch.
fn collecting(setting: &Setting, collect: impl FnMut(i32) -> Result<(), Failure> + 'static) -> Result<Loop, Failure> {
    let start = if setting.word("child")? == "lent" { ended_child } else { ended_copy };
    tried(consuming(start, collect).at_most(CHILDREN))
}
