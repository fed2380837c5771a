//! Seccomp filters for tests: a kernel or a sandbox that lacks or refuses a call.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Treats this call as `action` requires in a new program and all its children, and allows all other calls.
pub fn filtered(command: Command, call: libc::c_long, action: u32) -> Command {
    filtered_where(command, call, None, action)
}

/// The same. If `flag` is given, only for calls with this bit set in this argument.
pub fn filtered_where(mut command: Command, call: libc::c_long, flag: Option<(u32, u32)>, action: u32) -> Command {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    // Where the arguments begin in the filter's input, each of 8 bytes.
    const ARGUMENTS: u32 = 16;
    let step = |code: u32, (jt, jf): (u8, u8), k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = vec![step(LOAD, (0, 0), 0)];
    match flag {
        None => program.push(step(EQUAL, (0, 1), call as u32)),
        Some((argument, bit)) => program.extend([
            step(EQUAL, (0, 3), call as u32),
            step(LOAD, (0, 0), ARGUMENTS + 8 * argument),
            step(ANY_BIT, (0, 1), bit),
        ]),
    }
    program.extend([step(RETURN, (0, 0), action), step(RETURN, (0, 0), libc::SECCOMP_RET_ALLOW)]);
    let filter = move || {
        let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
        // SAFETY: sets a flag of the new process only.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: the program outlives the call, and affects only the new process.
        match unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: the closure makes two system calls and allocates nothing.
    unsafe { command.pre_exec(filter) };
    command
}

/// The action that fails a call with this error.
pub fn errno(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}
