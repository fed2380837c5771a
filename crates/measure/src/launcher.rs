//! The launcher: a small process that forks one child per round, guards it, and cleans up after it.
//!
//! It is forked before the parent grows or starts threads, so that every round begins in the same small image. It
//! outlives the parent just long enough to kill the round under way and to remove the scratch folder.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::children::{self, Reaped};
use crate::round::{RoundEnd, RoundOrder, perform};
use crate::speed::Checker;
use crate::take::{Ended, Item, MeasureError, Signals};

/// The parent's end.
pub(crate) struct Launcher {
    pid: libc::pid_t,
    stream: BufReader<UnixStream>,
    scratch: PathBuf,
}

impl Launcher {
    /// Forks the launcher. Call it while the process has one thread.
    ///
    /// # Errors
    /// When the system has no process or descriptor left.
    pub fn start(items: &[Item], checker: Checker, scratch: &Path) -> Result<Launcher, MeasureError> {
        // Should the launcher be killed, its rounds become our children and are ended by us.
        children::inherit_orphans(true);
        let (ours, theirs) = UnixStream::pair().map_err(MeasureError::Launcher)?;
        // SAFETY: this process has one thread, as the function demands, so the child may do anything.
        match unsafe { libc::fork() } {
            -1 => Err(MeasureError::Launcher(std::io::Error::last_os_error())),
            0 => {
                drop(ours);
                serve(theirs, items, checker, scratch);
                let _ = std::fs::remove_dir_all(scratch);
                // SAFETY: leaves without running the parent's destructors, which belong to the parent.
                unsafe { libc::_exit(0) }
            }
            pid => {
                // A round may hang for seconds; a signal must not wait for it.
                ours.set_read_timeout(Some(Duration::from_millis(50))).map_err(MeasureError::Launcher)?;
                Ok(Launcher { pid, stream: BufReader::new(ours), scratch: scratch.into() })
            }
        }
    }

    /// Has one round done.
    ///
    /// # Errors
    /// When a signal came meanwhile, or the launcher is gone.
    pub fn round(&mut self, order: &RoundOrder, signals: &Signals) -> Result<RoundEnd, Ended> {
        let gone = |error: std::io::Error| Ended::Broken(MeasureError::Launcher(error));
        let mut line = serde_json::to_vec(order).map_err(|error| gone(error.into()))?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line).map_err(gone)?;
        let mut answer = String::new();
        loop {
            match self.stream.read_line(&mut answer) {
                Ok(0) => return Err(gone(ErrorKind::UnexpectedEof.into())),
                Ok(_) => break,
                Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {
                    if let Some(signal) = signals.come() {
                        return Err(Ended::Signal(signal));
                    }
                }
                Err(error) => return Err(gone(error)),
            }
        }
        serde_json::from_str(&answer).map_err(|error| gone(error.into()))
    }
}

impl Drop for Launcher {
    /// Waits until the launcher has cleaned up; cleans up itself should the launcher have been killed.
    fn drop(&mut self) {
        let _ = self.stream.get_mut().shutdown(std::net::Shutdown::Both);
        if children::wait_for(self.pid) != Reaped::Exit(0) {
            children::end_orphans();
        }
        children::inherit_orphans(false);
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

/// The launcher's life: an order, a round, an answer, until the parent is gone.
fn serve(stream: UnixStream, items: &[Item], checker: Checker, scratch: &Path) {
    children::become_guard();
    let mut orders = BufReader::new(match stream.try_clone() {
        Ok(stream) => stream,
        Err(_) => return,
    });
    let mut answers = stream;
    let mut line = String::new();
    for number in 0_u64.. {
        line.clear();
        if !matches!(orders.read_line(&mut line), Ok(length) if length > 0) {
            return;
        }
        let Ok(order) = serde_json::from_str::<RoundOrder>(&line) else { return };
        let folder = scratch.join(number.to_string());
        let end = one_round(&items[order.item], &order, checker, &folder, &answers);
        let Some(end) = end else { return };
        let Ok(mut answer) = serde_json::to_vec(&end) else { return };
        answer.push(b'\n');
        if answers.write_all(&answer).is_err() {
            return;
        }
    }
}

/// Forks the round's child and guards it; `None` when the parent has gone meanwhile.
fn one_round(
    item: &Item,
    order: &RoundOrder,
    checker: Checker,
    folder: &Path,
    parent: &UnixStream,
) -> Option<RoundEnd> {
    if let Err(error) = std::fs::create_dir(folder) {
        return Some(RoundEnd::Lost(format!("cannot make a scratch folder: {error}")));
    }
    let end = guarded_round(item, order, checker, folder, parent);
    let _ = std::fs::remove_dir_all(folder);
    end
}

fn guarded_round(
    item: &Item,
    order: &RoundOrder,
    checker: Checker,
    folder: &Path,
    parent: &UnixStream,
) -> Option<RoundEnd> {
    let Some((reader, writer)) = pipe() else {
        return Some(RoundEnd::Lost(format!("cannot make a pipe: {}", std::io::Error::last_os_error())));
    };
    // SAFETY: the launcher has one thread, so the child may do anything.
    let pid = match unsafe { libc::fork() } {
        -1 => return Some(RoundEnd::Lost(format!("cannot fork: {}", std::io::Error::last_os_error()))),
        0 => {
            children::become_round();
            children::keep_only(writer.as_raw_fd());
            let end = quietly(|| perform(item, order, checker, folder.into()));
            report(&end, writer);
            // SAFETY: leaves without running the launcher's destructors, which belong to the launcher.
            unsafe { libc::_exit(0) }
        }
        pid => pid,
    };
    drop(writer);
    let patience = Duration::from_secs_f64(item.operation.patience + 3.0 * order.plan.time / 1e9);
    watch_over(pid, reader, parent, patience)
}

/// Turns a panic into a lost round instead of a message on the user's terminal.
fn quietly(work: impl FnOnce() -> RoundEnd) -> RoundEnd {
    std::panic::set_hook(Box::new(|_| {}));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        RoundEnd::Lost(format!("it panicked: {}", text.unwrap_or("without a message")))
    })
}

/// Waits for the child's report, its death, its time to run out, or the parent's going, whichever is first, and leaves
/// no descendant alive. The launcher looks up every 50 ms, to notice a child that multiplies.
fn watch_over(pid: libc::pid_t, reader: OwnedFd, parent: &UnixStream, patience: Duration) -> Option<RoundEnd> {
    const LOOK: Duration = Duration::from_millis(50);
    let start = Instant::now();
    let crowd = children::processes();
    loop {
        let (reported, parent_gone) = wait_readable(&reader, parent, LOOK);
        if parent_gone {
            children::end(pid);
            return None;
        }
        if reported {
            let end = read_report(reader);
            let reaped = children::end(pid);
            return Some(end.unwrap_or_else(|| RoundEnd::Lost(death(reaped))));
        }
        if children::processes().saturating_sub(crowd) > children::MOST_EXTRA {
            children::end(pid);
            return Some(RoundEnd::Lost("it started processes without end, and was stopped".into()));
        }
        if start.elapsed() > patience {
            children::end(pid);
            return Some(RoundEnd::Lost(format!("it hung: no result within {:.0} s", patience.as_secs_f64())));
        }
    }
}

fn death(reaped: Reaped) -> String {
    match reaped {
        Reaped::Signal(libc::SIGKILL) => "killed by SIGKILL (out of memory?)".into(),
        Reaped::Signal(signal) => format!("it crashed: killed by {}", children::signal_name(signal)),
        Reaped::Exit(code) => format!("it left with exit status {code} before it had measured"),
        Reaped::Unknown => "it vanished before it had measured".into(),
    }
}

fn pipe() -> Option<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the pointer is to two descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return None;
    }
    // SAFETY: the descriptor is new and nobody else's.
    let reader = unsafe { OwnedFd::from_raw_fd(ends[0]) };
    // SAFETY: the descriptor is new and nobody else's.
    let writer = unsafe { OwnedFd::from_raw_fd(ends[1]) };
    Some((reader, writer))
}

/// The report is preceded by its length: a leaked copy of the writing end must not keep the reader waiting.
fn report(end: &RoundEnd, writer: OwnedFd) {
    let Ok(text) = serde_json::to_vec(end) else { return };
    let mut writer = std::fs::File::from(writer);
    let _ = writer.write_all(&(text.len() as u64).to_le_bytes()).and_then(|()| writer.write_all(&text));
}

fn read_report(reader: OwnedFd) -> Option<RoundEnd> {
    const MOST: u64 = 64 << 20;
    let mut reader = std::fs::File::from(reader);
    let mut length = [0; 8];
    reader.read_exact(&mut length).ok()?;
    let length = u64::from_le_bytes(length);
    let mut text = vec![0; length.min(MOST) as usize];
    reader.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Whether the child's pipe has something (or has closed), and whether the parent's end has closed.
fn wait_readable(reader: &OwnedFd, parent: &UnixStream, at_most: Duration) -> (bool, bool) {
    let mut polled = [
        libc::pollfd { fd: reader.as_raw_fd(), events: libc::POLLIN, revents: 0 },
        libc::pollfd { fd: parent.as_raw_fd(), events: libc::POLLRDHUP, revents: 0 },
    ];
    // SAFETY: the pointer is to two pollfds.
    unsafe { libc::poll(polled.as_mut_ptr(), 2, at_most.as_millis() as libc::c_int) };
    (polled[0].revents != 0, polled[1].revents != 0)
}
