//! Work in a child process of its own, that may crash, hang, multiply or vanish: the guard's part, for rounds and for
//! trying things out.
//!
//! ```no_run
//! // Forks, so the process must have one thread.
//! let answer = howslow_system::guard::apart(std::time::Duration::from_secs(1), || 6 * 7);
//! assert_eq!(answer, Ok(42));
//! ```

pub mod children;
mod cleaner;
mod crew;
mod ending;
mod lost;
mod post;
mod wait;

use std::fs::File;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;

use children::Reaped;
use ending::{death, quietly};
use wait::{cannot_fork, pipe, ready};

pub use cleaner::Cleaner;
pub use crew::Crew;
pub use ending::limit;
pub use lost::Lost;
pub use post::{NUMBERS, Post};

/// How long nobody looks up from waiting.
const LOOK: Duration = Duration::from_millis(50);

/// Does `work` once in a child process that cannot harm this one, and returns what it returned. What the child has
/// started is gone afterwards. Forks: call it while the process has one thread. Fails with why nothing was returned: it
/// crashed, exited, multiplied, or took more than `patience`; or the system has no process left.
pub fn apart<T: Serialize + DeserializeOwned>(patience: Duration, work: impl FnOnce() -> T) -> Result<T, Lost> {
    forked(None, patience, &|| false, work)
}

/// As [`apart`], until `stop` is true: then the child and what it has started are ended, and nothing is returned.
pub fn apart_until<T: Serialize + DeserializeOwned>(
    stop: &dyn Fn() -> bool,
    patience: Duration,
    work: impl FnOnce() -> T,
) -> Result<T, Lost> {
    forked(None, patience, stop, work)
}

/// As [`apart`], for work in a folder that is removed if this process is killed meanwhile. Fails as [`apart`] does.
pub fn apart_in<T: Serialize + DeserializeOwned>(
    folder: &Path,
    patience: Duration,
    work: impl FnOnce() -> T,
) -> Result<T, Lost> {
    forked(Some(folder), patience, &|| false, work)
}

fn forked<T: Serialize + DeserializeOwned>(
    folder: Option<&Path>,
    patience: Duration,
    stop: &dyn Fn() -> bool,
    work: impl FnOnce() -> T,
) -> Result<T, Lost> {
    let (mut ours, theirs) = UnixStream::pair().map_err(|error| Lost::NoSocket(error.to_string()))?;
    // A guard between us and the child inherits and ends every process below it, and no other child of ours.
    // SAFETY: this process has one thread, as the function demands, so the child may do anything.
    match unsafe { libc::fork() } {
        -1 => Err(cannot_fork()),
        0 => {
            drop(ours);
            children::become_guard();
            let mut answers = &theirs;
            let end = guarded(patience, &theirs, || {
                limit(Resource::Core, 0);
                work()
            });
            match (end, folder) {
                (Some(end), _) => {
                    let _ = serde_json::to_vec(&end).map(|text| answers.write_all(&text));
                }
                (None, Some(folder)) => {
                    let _ = std::fs::remove_dir_all(folder);
                }
                (None, None) => {}
            }
            // SAFETY: leaves without running the parent's destructors, which belong to the parent.
            unsafe { libc::_exit(0) }
        }
        pid => {
            drop(theirs);
            while ready([(ours.as_raw_fd(), libc::POLLIN)], LOOK) == [false] {
                if stop() {
                    // The guard takes it for our end.
                    let _ = ours.shutdown(Shutdown::Write);
                }
            }
            let mut text = Vec::new();
            let read = ours.read_to_end(&mut text);
            children::wait_for(pid);
            let answer = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
            answer.unwrap_or(Err(Lost::Unguarded))
        }
    }
}

/// Runs `work` in a child and guards it, as a launcher does. Returns `None` if the parent has gone in the meantime.
pub fn guarded<T: Serialize + DeserializeOwned>(
    patience: Duration,
    parent: &UnixStream,
    work: impl FnOnce() -> T,
) -> Option<Result<T, Lost>> {
    let (reader, writer) = match pipe() {
        Ok(ends) => ends,
        Err(lost) => return Some(Err(lost)),
    };
    // SAFETY: a guard has one thread, so the child may do anything.
    let pid = match unsafe { libc::fork() } {
        -1 => return Some(Err(cannot_fork())),
        0 => {
            children::become_round();
            children::keep_only(writer.as_raw_fd());
            let writer = Arc::new(File::from(writer));
            let other = Arc::clone(&writer);
            let result = quietly(work, move |lost| report::<T>(&Err(lost), &other));
            report(&Ok(result), &writer);
            // SAFETY: leaves without running the guard's destructors, which belong to the guard.
            unsafe { libc::_exit(0) }
        }
        pid => pid,
    };
    drop(writer);
    watch_over(pid, reader, parent, patience)
}

/// Waits for the child's report, its death, its time to run out, or the parent's going, whichever is first, and leaves
/// no descendant alive. The launcher looks up now and then, to notice a child that multiplies.
fn watch_over<T: DeserializeOwned>(
    pid: libc::pid_t,
    reader: OwnedFd,
    parent: &UnixStream,
    patience: Duration,
) -> Option<Result<T, Lost>> {
    let start = Instant::now();
    let crowd = children::processes();
    loop {
        let wanted = [(reader.as_raw_fd(), libc::POLLIN), (parent.as_raw_fd(), libc::POLLRDHUP)];
        let [reported, parent_gone] = ready(wanted, LOOK);
        if parent_gone {
            children::end(pid);
            return None;
        }
        if reported {
            let end = read_report(reader);
            let reaped = children::end(pid);
            return Some(end.unwrap_or_else(|| Err(death(reaped))));
        }
        if children::processes().saturating_sub(crowd) > children::MOST_EXTRA {
            let _first = children::First::new();
            if children::is_crowd(pid) {
                return Some(Err(stopped(pid, Lost::Multiplied)));
            }
        }
        if start.elapsed() > patience {
            return Some(Err(stopped(pid, Lost::Hung(patience))));
        }
    }
}

/// Ends the child for this reason; a child that cannot be ended is the graver one.
fn stopped(pid: libc::pid_t, reason: Lost) -> Lost {
    match children::end(pid) {
        Reaped::Stuck => Lost::Stuck,
        _ => reason,
    }
}

/// The report starts with its length, so that a leaked copy of the writing end does not keep the reader waiting.
fn report<T: Serialize>(end: &Result<T, Lost>, mut writer: &File) {
    let Ok(text) = serde_json::to_vec(end) else { return };
    let _ = writer.write_all(&(text.len() as u64).to_le_bytes()).and_then(|()| writer.write_all(&text));
}

fn read_report<T: DeserializeOwned>(reader: OwnedFd) -> Option<T> {
    const MOST: u64 = 64 << 20;
    let mut reader = File::from(reader);
    let mut length = [0; 8];
    reader.read_exact(&mut length).ok()?;
    let length = u64::from_le_bytes(length);
    let mut text = vec![0; length.min(MOST) as usize];
    reader.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}
