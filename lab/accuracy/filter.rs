//! A filter of system calls that allows them all after this many additions.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Instructions that the kernel takes at most.
pub(crate) const LONGEST: u32 = libc::BPF_MAXINSNS as u32;

/// A program for the kernel's filter.
#[derive(Clone)]
pub(crate) struct Filter {
    program: Vec<libc::sock_filter>,
}

impl Filter {
    /// A filter of this many instructions, three at least.
    pub(crate) fn of(instructions: u32) -> Filter {
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
    pub(crate) fn put_on(&self, command: &mut Command) {
        let filter = self.clone();
        // SAFETY: between fork and exec two system calls are made, which is allowed there.
        unsafe { command.pre_exec(move || filter.install()) };
    }

    /// Puts this process under it, for good.
    pub(crate) fn install(&self) -> std::io::Result<()> {
        let program = libc::sock_fprog { len: self.program.len() as u16, filter: self.program.as_ptr().cast_mut() };
        // SAFETY: takes numbers alone. It is needed by all but root to set up a filter.
        let limited = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        // SAFETY: the kernel copies the program, which lives until then.
        let set = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
        if limited != 0 || set != 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
    }
}
