//! Calls that only x86-64 has: older forms of newer calls, and calls on its segments and ports.

use operation::{Failure, Operation, Setting, pin, repeat, term};
use record::Estimate;

use super::{CALL, PAIR};
use crate::kit::{
    Null, answered, call, ensure, exactly, fork, install_counter, invoke, steadily, steady, tried, turning, wait_for,
};

/// A port whose only use is to pass time.
const UNUSED_PORT: usize = 0x80;

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.getpgrp", "get this process's group by the old call")
        .prepare(|_| steadily(call::getpgrp()?, call::getpgrp)),
    CALL.named("call.arch_prctl", "get the address of thread-local memory (the FS base)").prepare(|_| {
        const GET_FS: i32 = 0x1003;
        let mut base = [0_u64];
        // SAFETY: this command writes one word, the base.
        steady(move || unsafe { invoke!(arch_prctl, GET_FS, &mut base) })
    }),
    CALL.named("call.modify_ldt", "write an entry of this process's own segment table").version(2).prepare(|setting| {
        leave_other_cpu(setting)?;
        // Entry 0, base 0, limit 0; 32 bits, limit in pages, useable.
        let entry = [0_u32, 0, 0, 0x51];
        const WRITE: i32 = 0x11;
        // SAFETY: this command reads the entry, of 16 bytes, and the entry is a valid one that nothing uses.
        let looped = steady(move || unsafe { invoke!(modify_ldt, WRITE, &entry, 16) }).map_err(|failure| {
            failure.skip_on(&[libc::EINVAL], "this kernel rejects an entry in the documented form", "Linux itself")
        })?;
        Ok(looped.verify(|_| {
            const READ: i32 = 0;
            let mut first = [0_u64];
            // SAFETY: this command writes the first entry, of 8 bytes.
            exactly(8, unsafe { invoke!(modify_ldt, READ, &mut first, 8) }?)?;
            ensure(first[0] != 0, || "the entry was cleared instead of written")
        }))
    }),
    CALL.named("call.iopl", "get the permission for all ports of the processor, and drop it: one of the two calls")
        .version(2)
        .prepare(|_| turning([3, 0], call::iopl)),
    PAIR.named("call.ioperm", "get the permission for one port of the processor, and drop it")
        .calls(&["ioperm", "ioperm"])
        .prepare(|_| {
            tried(repeat(|| {
                exactly(0, call::ioperm(UNUSED_PORT, 1, 1)?)?;
                exactly(0, call::ioperm(UNUSED_PORT, 1, 0)?)
            }))
        }),
    CALL.named("call.pause", "wait for a signal that a timer without slack sends 20 us later")
        .calls(&["setitimer", "pause", "rt_sigreturn"])
        .explained_by(&[term(3.0, "syscall.getppid")])
        .quoted(Estimate::Typical)
        .waits(|_| true)
        .prepare(|_| {
            install_counter(libc::SIGALRM)?;
            // A second signal follows, in case the first arrives before the wait begins.
            let soon = [0_u64, 1_000, 0, 20];
            let woken = repeat(move || {
                exactly(0, call::setitimer(libc::ITIMER_REAL, &soon, Null)?)?;
                answered(libc::EINTR, call::pause())
            });
            tried(woken.verify(|_| exactly(0, call::setitimer(libc::ITIMER_REAL, &[0_u64; 4], Null)?)))
        }),
    CALL.id("call.alarm")
        .summary("replace an alarm by one in a quarter of an hour; the unit is a second, so it is always far")
        .prepare(|_| {
            call::alarm(900)?;
            let alarms = repeat(|| match call::alarm(900)? {
                1..=900 => Ok(()),
                other => Err(Failure::wrong(format!("{other} seconds were left of 900"))),
            });
            tried(alarms)
        }),
    CALL.named("call.time", "get the time in seconds from the kernel itself")
        .prepare(|_| tried(repeat(|| call::time(Null).map(drop)))),
];

/// Moves this process's state off the CPU it was on before. Otherwise every change of the table interrupts that CPU, which
/// makes a change five times as expensive, until another process has run there and page tables have been freed.
fn leave_other_cpu(setting: &Setting) -> Result<(), Failure> {
    /// More pages than one page table maps.
    const SPAN: usize = 4 << 20;
    let Ok(cpu) = setting.other_cpu() else { return Ok(()) };
    wait_for(fork(|| i32::from(pin(cpu).is_err()))?)?;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: the kernel chooses a free address, so no memory in use is replaced.
    let address = unsafe { invoke!(mmap, 0, SPAN, access, kind | libc::MAP_POPULATE, -1, 0) }?;
    // SAFETY: it was just mapped there, and nothing refers to it.
    exactly(0, unsafe { invoke!(munmap, address, SPAN) }?)
}
