//! Terminals that another program makes: it starts a shell that prints the terminal's name and sleeps, and this process opens the
//! terminal by that name.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use operation::Failure;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::{Helper, Path, Program};
use crate::kit::library::{openat, poll, read};
use crate::terminal::pair::{Features, Pty};

/// What the shell in the new terminal does: longer than any round.
pub(super) const SHELL_SCRIPT: &str = "tty; exec sleep 100000";
/// For a server to listen, and for a login to be ready.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// A terminal that `script` records (to nowhere), as util-linux and BSD have it.
pub(in crate::terminal) fn script() -> Result<Path, Failure> {
    let mut command = Command::new("script");
    command.args(["-q", "-c", SHELL_SCRIPT, "/dev/null"]);
    within(command, "script", "install it (Debian: apt install bsdutils)", Vec::new())
}

/// Starts a program that makes a terminal and shows it on its own, which becomes the emulator's.
pub(super) fn within(
    mut command: Command,
    name: &str,
    remedy: &str,
    mut helpers: Vec<Helper>,
) -> Result<Path, Failure> {
    let emulator = Pty::new(Features::RAW)?;
    command.stdin(emulator.slave.try_clone()?).stdout(emulator.slave.try_clone()?).stderr(emulator.slave.try_clone()?);
    command.env("SHELL", "/bin/sh").env("TERM", "xterm");
    let program = started(command, name, remedy)?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = openat(CWD, reported(&emulator.master, name, &program)?, flags, Mode::empty())?;
    helpers.push(Helper::Program(program));
    let pty = Pty { master: emulator.master, slave };
    pty.set(Features::RAW)?;
    Ok(Path { output: pty.slave, drained: Some(pty.master), features: Features::RAW, helpers })
}

/// Starts a program that dies with this process.
pub(super) fn started(mut command: Command, name: &str, remedy: &str) -> Result<Program, Failure> {
    // SAFETY: one system call, which a forked child may make.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
    // Its terminal's hang-up ends the shell, also where howslow was started to ignore it (nohup), which programs inherit.
    let end_by_hang_up = || {
        // SAFETY: the default action involves no handler of this process.
        match unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) } {
            libc::SIG_ERR => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: one system call, which a forked child may make.
    unsafe {
        command.pre_exec(end_by_hang_up);
    }
    match command.spawn() {
        Ok(child) => Ok(Program(child)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Failure::skip(format!("there is no program {name} here"), remedy))
        }
        Err(error) => Err(error.into()),
    }
}

/// The terminal's name, which its shell prints on a line of its own. Others may have lines before it. A program that ends
/// without one is a skip.
fn reported(emulator: &OwnedFd, name: &str, program: &Program) -> Result<String, Failure> {
    /// Between two looks at whether the program runs: its end is not seen at the terminal, which stays open here.
    const STEP: Duration = Duration::from_millis(50);
    let began = Instant::now();
    let mut text = String::new();
    loop {
        let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        if let Some(line) = lines.find(|line| line.starts_with("/dev/")) {
            return Ok(line.trim_end().into());
        }
        let ended = program.has_ended()?;
        let mut polled = [PollFd::new(emulator, PollFlags::IN)];
        if poll(&mut polled, Timespec::try_from(STEP).ok().as_ref())? > 0 {
            let mut room = [0; 256];
            let length = read(emulator, &mut room)?;
            text += &String::from_utf8_lossy(&room[..length]);
        } else if ended {
            let reason = format!("{name} makes no terminal here: {}", record::printable(text.trim()));
            return Err(Failure::skip(reason, "run as a user who may log in: one whose account is not locked"));
        } else if began.elapsed() > PATIENCE {
            let text = record::printable(&text);
            return Err(Failure::wrong(format!("{name} made no terminal within {} s: {text}", PATIENCE.as_secs())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_ends_without_a_terminal_is_a_skip() {
        let refused = within(Command::new("false"), "ssh", "", Vec::new()).map(drop);
        let Err(Failure::Skip { reason, .. }) = refused else { panic!("{refused:?}") };
        assert!(reason.starts_with("ssh makes no terminal here"), "{reason}");
    }
}
