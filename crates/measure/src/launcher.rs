//! The launcher: a small process that forks one child per round, guards it, and cleans up after it.
//!
//! It is forked before the parent grows or starts threads, so that every round begins in the same small image. It
//! outlives the parent just long enough to kill the round under way and to remove the scratch folder.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::children::{self, Reaped};
use crate::guard::guarded;
use crate::round::{Folders, RoundEnd, RoundOrder, perform};
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
        let folders = Folders { own: scratch.join(number.to_string()), shared: scratch.into() };
        let end = one_round(&items[order.item], &order, checker, &folders, &answers);
        let Some(end) = end else { return };
        let Ok(mut answer) = serde_json::to_vec(&end) else { return };
        answer.push(b'\n');
        if answers.write_all(&answer).is_err() {
            return;
        }
    }
}

/// Has a child do the round, and guards it; `None` when the parent has gone meanwhile.
fn one_round(
    item: &Item,
    order: &RoundOrder,
    checker: Checker,
    folders: &Folders,
    parent: &UnixStream,
) -> Option<RoundEnd> {
    let patience = Duration::from_secs_f64(item.operation.patience + 3.0 * order.plan.time / 1e9);
    let end = guarded(patience, parent, || perform(item, order, checker, folders.clone()));
    let _ = std::fs::remove_dir_all(&folders.own);
    end.map(|end| end.unwrap_or_else(RoundEnd::Lost))
}
