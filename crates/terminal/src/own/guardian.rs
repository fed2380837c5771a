//! The terminal's settings and screen are restored whatever happens: by this process when it ends in any way of its own, and
//! by the guardian, a process of the same program in a session of its own, when this one is killed.
//!
//! The guardian waits at a pipe. Bytes show it what goes on; the pipe's end without a farewell shows it that nobody else is
//! left to restore the terminal.

use std::io::{Error, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{read, write};
use rustix::process::setsid;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};

use super::answer::{Heard, Listener};
use super::device::Device;
use crate::error::TerminalError;

/// The word that starts the guardian.
pub const GUARD: &str = "terminal-guardian";

/// The guardian has read the settings.
const READY: u8 = b'r';
/// The settings are about to be changed.
const CHANGING: u8 = b'c';
/// They have been restored.
const RESTORED: u8 = b'd';

/// Enters the alternate screen, from its first corner.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[2J\x1b[H";

/// Ends whatever sequence was cut; plain letters; the cursor visible; the user's own screen.
const LEAVE: &[u8] = b"\x18\x1b\\\x1b[0m\x1b[?25h\x1b[?1049l";

/// Requests an answer on whether the terminal works.
const ALIVE: &[u8] = b"\x1b[5n";

/// The longest time that restoring may take where the terminal does not answer.
const LAST: Duration = Duration::from_millis(700);

/// The process that restores a terminal if this one is gone without having done so. Dropping it ends it.
pub struct Guardian(Child);

impl Guardian {
    /// Starts it with a copy of the descriptor, and waits until it has read the settings. Fails if it cannot be
    /// started, or ends at once.
    pub fn start(tty: &OwnedFd) -> Result<Guardian, Error> {
        let mut child = Command::new("/proc/self/exe")
            .arg(GUARD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(tty.try_clone()?)
            .spawn()?;
        let output = child.stdout.take();
        let guardian = Guardian(child);
        let mut word = [0];
        match output.map(|mut output| output.read_exact(&mut word)) {
            Some(Ok(())) if word == [READY] => Ok(guardian),
            _ => Err(Error::other("it ended at once")),
        }
    }

    /// Reports that the settings are about to be changed. Fails if it has ended.
    pub fn changing(&self) -> Result<(), Error> {
        self.send(CHANGING)
    }

    /// Reports that the settings have been restored. Fails if it has ended.
    pub fn restored(&self) -> Result<(), Error> {
        self.send(RESTORED)
    }

    fn send(&self, word: u8) -> Result<(), Error> {
        self.0.stdin.as_ref().map_or(Ok(()), |mut pipe| pipe.write_all(&[word]))
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        // This closes the pipe first.
        let _ = self.0.wait();
    }
}

/// A terminal that is raw and shows the alternate screen until this is dropped.
pub(super) struct Held {
    pub device: Device,
    before: Termios,
    guardian: Guardian,
    /// True if everything that was sent has been parsed.
    pub clean: bool,
}

impl Held {
    /// Starts the guardian, then changes the settings.
    pub fn new(mut device: Device) -> Result<Held, TerminalError> {
        let before = tcgetattr(&device.tty)?;
        let guardian = Guardian::start(&device.tty).map_err(TerminalError::NoGuardian)?;
        guardian.changing().map_err(TerminalError::NoGuardian)?;
        let changed = tcsetattr(&device.tty, OptionalActions::Now, &raw(&before));
        let entered = changed.map_err(TerminalError::from).and_then(|()| device.write(ENTER));
        let held = Held { device, before, guardian, clean: false };
        entered.map(|_| held)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        restore(self.device.tty.as_fd(), &self.before, self.clean);
        let _ = self.guardian.restored();
    }
}

/// The guardian's own work. Its input is the pipe, its output shows that it is ready, its errors are the terminal.
/// Fails if it was not started by howslow.
pub fn serve() -> Result<(), String> {
    // Neither Ctrl-C nor the shell's ending reaches another session.
    let _ = setsid();
    let terminal = std::io::stderr();
    let before = tcgetattr(&terminal).map_err(|_| format!("{GUARD} is howslow's own word"))?;
    let mut output = std::io::stdout();
    let reported = output.write_all(&[READY]).and_then(|()| output.flush());
    reported.map_err(|error| error.to_string())?;
    let mut words = Vec::new();
    // An end by an error is an end too.
    let _ = std::io::stdin().lock().read_to_end(&mut words);
    if words.last() == Some(&CHANGING) {
        // A shell that has set the terminal for itself in the meantime is not disturbed.
        let left = tcgetattr(&terminal).is_ok_and(|now| same(&now, &raw(&before)));
        if left {
            restore(terminal.as_fd(), &before, false);
        } else {
            let _ = write_within(terminal.as_fd(), LEAVE, Instant::now() + LAST);
        }
    }
    Ok(())
}

/// The settings for measuring.
fn raw(before: &Termios) -> Termios {
    let mut raw = before.clone();
    raw.make_raw();
    raw
}

fn same(one: &Termios, other: &Termios) -> bool {
    one.input_modes == other.input_modes
        && one.output_modes == other.output_modes
        && one.local_modes == other.local_modes
        && one.control_modes == other.control_modes
}

/// Brings the user's screen and settings back. Where something was on its way, output that nobody has read is dropped first,
/// and answers that are still to come are waited for: they would be taken for what the user types.
fn restore(tty: BorrowedFd<'_>, before: &Termios, clean: bool) {
    let until = Instant::now() + LAST;
    if !clean {
        let _ = tcflush(tty, QueueSelector::OFlush);
    }
    let left = write_within(tty, LEAVE, until);
    if !clean && left.is_some() && write_within(tty, ALIVE, until).is_some() {
        wait_alive(tty, until);
    }
    if !clean {
        let _ = tcflush(tty, QueueSelector::IFlush);
    }
    // At once: a terminal that takes nothing would hold up one that waits for the output to drain.
    let _ = tcsetattr(tty, OptionalActions::Now, before);
}

/// Writes all of it by then, or nothing comes back.
fn write_within(tty: BorrowedFd<'_>, mut bytes: &[u8], until: Instant) -> Option<()> {
    while !bytes.is_empty() {
        wait(tty, PollFlags::OUT, until)?;
        let length = write(tty, bytes).unwrap_or(0);
        bytes = &bytes[length..];
    }
    Some(())
}

/// Reads until the terminal shows that it works.
fn wait_alive(tty: BorrowedFd<'_>, until: Instant) -> Option<()> {
    let (mut listener, mut room) = (Listener::default(), [0; 256]);
    loop {
        wait(tty, PollFlags::IN, until)?;
        let length = read(tty, &mut room).ok().filter(|&length| length > 0)?;
        if room[..length].iter().any(|&byte| listener.next(byte) == Some(Heard::Alive)) {
            return Some(());
        }
    }
}

fn wait(tty: BorrowedFd<'_>, event: PollFlags, until: Instant) -> Option<()> {
    loop {
        let left = until.checked_duration_since(Instant::now())?;
        let mut polled = [PollFd::new(&tty, event)];
        // A signal only makes it look again.
        let _ = poll(&mut polled, Timespec::try_from(left).ok().as_ref());
        let events = polled[0].revents();
        if events.intersects(event) {
            return Some(());
        }
        if events.intersects(PollFlags::HUP | PollFlags::ERR) {
            return None;
        }
    }
}
