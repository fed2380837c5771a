//! A filter of system calls that allows them all after so many additions, and what the cheapest call costs under it.

use std::os::unix::process::CommandExt;
use std::process::Command;

use analysis::statistics::{median, quantile, sorted};
use anyhow::{Context, ensure};

use crate::independent::{Batch, Taken, alone_in_child, getppid};

/// Instructions that the kernel takes at most.
pub(super) const LONGEST: u32 = libc::BPF_MAXINSNS as u32;
/// Processes of either kind whose medians are compared.
const CHILDREN: u32 = 12;

/// A program for the kernel's filter.
#[derive(Clone)]
pub(super) struct Filter {
    program: Vec<libc::sock_filter>,
}

impl Filter {
    /// A filter of so many instructions, three at least.
    pub(super) fn of(instructions: u32) -> Filter {
        let instruction = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
        // A filter that looks at nothing but the call's number is answered from a table that the kernel made when it was set
        // up. One that reads an argument is carried out each time.
        let argument = std::mem::offset_of!(libc::seccomp_data, args) as u32;
        let mut program = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, argument)];
        let additions = instructions.clamp(3, LONGEST) - 2;
        // Each addition waits for the one before it.
        program.extend((0..additions).map(|place| instruction(libc::BPF_ALU | libc::BPF_ADD | libc::BPF_K, place + 1)));
        program.push(instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
        Filter { program }
    }

    /// Has a command run under it, and all that the command starts.
    pub(super) fn put_on(&self, command: &mut Command) {
        let filter = self.clone();
        // SAFETY: between fork and exec two system calls are made, which is allowed there.
        unsafe { command.pre_exec(move || filter.install()) };
    }

    /// Puts this process under it, for good.
    fn install(&self) -> std::io::Result<()> {
        let program = libc::sock_fprog { len: self.program.len() as u16, filter: self.program.as_ptr().cast_mut() };
        // SAFETY: takes numbers alone. It is needed by all but root to set up a filter.
        let limited = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        // SAFETY: the kernel copies the program, which lives until then.
        let set = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
        if limited != 0 || set != 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Batches of the call in a fresh process under a filter; `None` where the filter is refused.
fn batches(filter: &Filter, cpu: u32) -> anyhow::Result<Option<Vec<Batch>>> {
    let taken = alone_in_child(cpu, &|| {
        filter.install().map_err(|error| error.to_string())?;
        getppid()
    });
    match taken {
        Taken::Batches(batches) => {
            ensure!(!batches.is_empty(), "a process that should time a call took no batch");
            Ok(Some(batches))
        }
        Taken::Failed(why) => {
            println!("under a filter no call can be timed: {why}");
            Ok(None)
        }
    }
}

/// Cycles of the call under two filters, from processes that alternate. Of all batches those count that were taken on a
/// core as empty as it was at its best meanwhile.
pub(super) fn in_turn(one: &Filter, other: &Filter, cpu: u32) -> anyhow::Result<Option<(f64, f64)>> {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    for _ in 0..CHILDREN {
        let (Some(first), Some(second)) = (batches(one, cpu)?, batches(other, cpu)?) else { return Ok(None) };
        ones.extend(first);
        others.extend(second);
    }
    let shares = sorted(ones.iter().chain(&others).map(|batch| batch.share));
    let best = quantile(&shares, 0.05).unwrap_or(f64::INFINITY);
    let quiet = |batches: Vec<Batch>| {
        let alone = batches.iter().filter(|batch| (best * 0.95..=best * 1.05).contains(&batch.share));
        median(alone.map(Batch::cycles))
            .context("no batch was quiet under one of two filters; run again when the host is quieter")
    };
    Ok(Some((quiet(ones)?, quiet(others)?)))
}
