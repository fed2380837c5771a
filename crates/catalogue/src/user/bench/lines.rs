//! Lines from another process, while what it writes to its standard error is drained, so that it never waits for a reader.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::kit::library::poll;

/// How often whether the process still lives is looked up: another one may hold its pipes open.
const LOOK: Duration = Duration::from_millis(50);
/// A longer line is not one of the protocol.
const LONGEST: usize = 1 << 16;
/// What is kept of its standard error.
const KEPT: usize = 4096;

/// Both streams of a process.
pub(super) struct Lines {
    answers: File,
    errors: Option<File>,
    /// What has been read and not been returned.
    read: Vec<u8>,
    last_errors: Vec<u8>,
}

/// Why there is no line.
pub(super) enum NoLine {
    /// The process is gone, or has closed its end.
    Ended,
    /// It took longer than the patience.
    Late,
    /// What comes is no line.
    TooLong,
}

impl Lines {
    /// Those of two pipes whose reading does not wait.
    pub fn of(answers: OwnedFd, errors: OwnedFd) -> Lines {
        Lines { answers: answers.into(), errors: Some(errors.into()), read: Vec::new(), last_errors: Vec::new() }
    }

    /// The next line. `waited` gives how long the process has waited for a CPU until now, which is no fault of its own; `None` once it
    /// has ended. Fails with why there is none.
    pub fn next(&mut self, patience: Duration, waited: &mut dyn FnMut() -> Option<Duration>) -> Result<String, NoLine> {
        let (start, mut before) = (Instant::now(), None);
        loop {
            if let Some(end) = self.read.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line[..end]).trim_end_matches('\r').to_owned());
            }
            if self.read.len() > LONGEST {
                return Err(NoLine::TooLong);
            }
            let open = self.take(LOOK.min(patience));
            if self.read.contains(&b'\n') {
                continue;
            }
            let Some(waited) = waited().filter(|_| open) else {
                self.drain_errors();
                return Err(NoLine::Ended);
            };
            // Asked for only now: most answers come sooner.
            if start.elapsed() > patience + waited.saturating_sub(*before.get_or_insert(waited)) {
                return Err(NoLine::Late);
            }
        }
    }

    /// The last line of its standard error that is not empty.
    pub fn last_error(&mut self) -> Option<String> {
        self.drain_errors();
        let text = String::from_utf8_lossy(&self.last_errors);
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }

    /// Waits for something to read, and reads it. Returns whether answers may still come.
    fn take(&mut self, wait: Duration) -> bool {
        let mut polled = vec![PollFd::new(&self.answers, PollFlags::IN)];
        polled.extend(self.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN)));
        let wait = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        if poll(&mut polled, Some(&wait)).is_err() {
            return true;
        }
        let ready: Vec<bool> = polled.iter().map(|one| !one.revents().is_empty()).collect();
        if ready.get(1) == Some(&true) {
            self.drain_errors();
        }
        !ready[0] || into(&mut self.answers, &mut self.read, LONGEST)
    }

    fn drain_errors(&mut self) {
        let Some(errors) = &mut self.errors else { return };
        // What a process writes without end is read in turns with its answers.
        let open = into(errors, &mut self.last_errors, 1 << 20);
        let surplus = self.last_errors.len().saturating_sub(KEPT);
        self.last_errors.drain(..surplus);
        if !open {
            self.errors = None;
        }
    }
}

/// Reads what is there, at most about `most` bytes. Returns false at the end of the stream.
fn into(stream: &mut File, bytes: &mut Vec<u8>, most: usize) -> bool {
    let mut part = [0; 4096];
    let mut taken = 0;
    while taken <= most {
        match stream.read(&mut part) {
            Ok(0) => return false,
            Ok(length) => {
                bytes.extend_from_slice(&part[..length]);
                taken += length;
                // Most answers are one short line: another read would only be refused.
                if length < part.len() {
                    return true;
                }
            }
            Err(error) => return matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }
    true
}
