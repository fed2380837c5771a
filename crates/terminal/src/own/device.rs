//! The terminal as a device: writes that never block for good, and what it answers. Reads all that comes, so that a terminal
//! that answers in the middle of a payload is not held up.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use measure::Signals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, read, write};
use rustix::process::getpgrp;
use rustix::termios::{tcgetpgrp, tcgetwinsize};

use super::answer::{Heard, Listener};
use crate::error::TerminalError;

/// SIGINT, which has this number everywhere (signal(7)).
const INTERRUPT: i32 = 2;

/// The longest time for which a terminal may take nothing, or answer nothing.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// A terminal, and the signals that end the work at it.
pub(super) struct Device {
    pub tty: OwnedFd,
    listener: Listener,
    signals: Signals,
}

impl Device {
    /// The terminal that this process belongs to, opened anew: that it does not block concerns no other descriptor.
    pub fn open() -> Result<Device, TerminalError> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let tty = openat(CWD, "/dev/tty", flags, Mode::empty()).map_err(TerminalError::NoTerminal)?;
        if tcgetpgrp(&tty)? != getpgrp() {
            return Err(TerminalError::Background);
        }
        Ok(Device { tty, listener: Listener::default(), signals: Signals::watch() })
    }

    /// Rows and columns; those of a VT100 where nobody has set them.
    pub fn size(&self) -> Result<(u16, u16), TerminalError> {
        let size = tcgetwinsize(&self.tty)?;
        Ok(if size.ws_row == 0 || size.ws_col == 0 { (24, 80) } else { (size.ws_row, size.ws_col) })
    }

    /// Writes all of it. Returns when the last of it was accepted.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<Instant, TerminalError> {
        let mut progress = Instant::now();
        while !bytes.is_empty() {
            match write(&self.tty, bytes) {
                Ok(length) => {
                    bytes = &bytes[length..];
                    progress = Instant::now();
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(closed(errno)),
            }
            if bytes.is_empty() {
                break;
            }
            let left = PATIENCE.checked_sub(progress.elapsed()).ok_or(TerminalError::Stuck(PATIENCE))?;
            self.listen(PollFlags::OUT, left)?;
        }
        Ok(Instant::now())
    }

    /// Waits for the answer that the cursor is there. Returns when it came.
    pub fn answer(&mut self, row: u16, column: u16, patience: Duration) -> Result<Instant, TerminalError> {
        let wanted = Heard::Position { row, column };
        let (requested, mut was_elsewhere) = (Instant::now(), false);
        loop {
            let other = " (it answered with another place of the cursor than it was told)";
            let silent = TerminalError::Silent { patience, heard: if was_elsewhere { other } else { "" } };
            let left = patience.checked_sub(requested.elapsed()).ok_or(silent)?;
            let heard = self.listen(PollFlags::empty(), left)?;
            if heard.contains(&wanted) {
                return Ok(Instant::now());
            }
            was_elsewhere |= heard.iter().any(|heard| matches!(heard, Heard::Position { .. }));
        }
    }

    /// Waits until something can be read, or `also` is true, and returns what was heard.
    fn listen(&mut self, also: PollFlags, patience: Duration) -> Result<Vec<Heard>, TerminalError> {
        /// So often a signal is looked for that came just before the wait.
        const LOOK: Duration = Duration::from_millis(50);
        let time = Timespec::try_from(patience.min(LOOK)).ok();
        let mut polled = [PollFd::new(&self.tty, PollFlags::IN | also)];
        match poll(&mut polled, time.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let events = polled[0].revents();
        if let Some(signal) = self.signals.come() {
            return Err(TerminalError::Interrupted(signal));
        }
        if !events.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            return Ok(Vec::new());
        }
        let mut room = [0; 4096];
        match read(&self.tty, &mut room) {
            Ok(0) => Err(TerminalError::Closed),
            Ok(length) => {
                let heard: Vec<Heard> = room[..length].iter().filter_map(|&byte| self.listener.next(byte)).collect();
                match heard.contains(&Heard::Interrupt) {
                    true => Err(TerminalError::Interrupted(INTERRUPT)),
                    false => Ok(heard),
                }
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(Vec::new()),
            Err(errno) => Err(closed(errno)),
        }
    }
}

/// A terminal whose other end is closed answers with an input/output error.
fn closed(errno: Errno) -> TerminalError {
    match errno {
        Errno::IO => TerminalError::Closed,
        other => other.into(),
    }
}
