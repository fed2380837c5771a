//! The launcher: a small process that forks one child per round, guards it, and cleans up after it.
//!
//! Each pass over the operations has its own launcher, executed anew. So it has a new address layout and new physical
//! pages, as another run has, and rounds differ in the same way as runs. If a program cannot be executed (a sandbox, an
//! emulator), one launcher is forked at the start, before the parent grows, and serves all rounds. A launcher outlives
//! its parent just long enough to kill the current round and to remove the scratch folder.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use operation::{Item, Operation};
use record::{Launchers, Point};
use serde::{Deserialize, Serialize};
use system::guard::children::{self, Reaped};
use system::guard::{Lost, guarded};
use system::machine::processor_name;

use crate::error::MeasureError;
use crate::round::{Folders, RoundEnd, RoundRequest, perform};
use crate::signals::{Ended, Signals};
use crate::speed::Checker;

/// With this word as its only argument, a program becomes a launcher: it calls [`serve_rounds`].
pub const LAUNCH: &str = "serve-rounds";

/// What a launcher needs to know before its first round.
#[derive(Serialize, Deserialize)]
struct Brief {
    items: Vec<(String, Point)>,
    checker: Checker,
    scratch: PathBuf,
    /// The launcher's number. It is part of the names of its rounds' folders.
    number: u32,
    /// The processor's name as the run reads it. A program that an emulator executes for us may run without the emulator.
    processor: Option<String>,
}

#[derive(Serialize, Deserialize)]
enum Request {
    Round(Box<RoundRequest>),
    /// There are no more rounds. The scratch folder stays with the parent.
    End,
}

/// The launchers of a run: one at a time.
pub(crate) struct Pool {
    program: Option<PathBuf>,
    items: Vec<Item>,
    checker: Checker,
    scratch: PathBuf,
    pub(crate) launcher: Launcher,
    started: u32,
    /// Dropped after the launcher, because it inherits the launcher's orphans.
    _heir: Heir,
}

impl Pool {
    /// Starts the first launcher. It executes `program`, or forks if there is none or it cannot be executed. Call it
    /// while the process has one thread.
    ///
    /// # Errors
    /// If the system has no process or descriptor left.
    pub fn start(
        items: &[Item],
        checker: Checker,
        scratch: &Path,
        program: Option<&Path>,
    ) -> Result<Pool, MeasureError> {
        let heir = Heir::new();
        // Only this process knows what the command line named.
        let knows_all = items.iter().all(|item| item.operation.argument.is_none());
        let mut program = program.filter(|_| knows_all).map(Path::to_owned);
        let executed =
            program.as_deref().and_then(|program| Launcher::execute(program, items, checker, scratch, 0).ok());
        let launcher = match executed {
            Some(launcher) => launcher,
            None => {
                program = None;
                Launcher::fork(items, checker, scratch)?
            }
        };
        let items = items.to_vec();
        Ok(Pool { program, items, checker, scratch: scratch.into(), launcher, started: 1, _heir: heir })
    }

    /// Starts a new launcher in place of the old one, if launchers are executed. Otherwise the old one continues.
    pub fn renew(&mut self) {
        let Some(program) = &self.program else { return };
        let next = Launcher::execute(program, &self.items, self.checker, &self.scratch, self.started);
        if let Ok(next) = next {
            self.launcher = next;
            self.started += 1;
        }
    }

    /// The number of the current launcher, from 0.
    pub fn number(&self) -> u32 {
        self.started - 1
    }

    /// The number of launchers, and how they were started.
    pub fn launchers(&self) -> Launchers {
        Launchers { count: self.started, executed: self.program.is_some() }
    }
}

/// While this value lives, this process is the parent of every orphan below it. If a launcher is killed, its rounds
/// become our children, and we end them.
struct Heir;

impl Heir {
    fn new() -> Heir {
        children::inherit_orphans(true);
        Heir
    }
}

impl Drop for Heir {
    fn drop(&mut self) {
        children::inherit_orphans(false);
    }
}

/// The parent's end of one launcher.
pub(crate) struct Launcher {
    pid: libc::pid_t,
    /// Whether it may have started rounds.
    ready: bool,
    stream: BufReader<UnixStream>,
}

impl Launcher {
    fn fork(items: &[Item], checker: Checker, scratch: &Path) -> Result<Launcher, MeasureError> {
        let (ours, theirs) = UnixStream::pair().map_err(MeasureError::Launcher)?;
        // SAFETY: this process has one thread, as the function demands, so the child may do anything.
        match unsafe { libc::fork() } {
            -1 => Err(MeasureError::Launcher(std::io::Error::last_os_error())),
            0 => {
                drop(ours);
                serve(theirs, items, checker, scratch, 0);
                // SAFETY: leaves without running the parent's destructors, which belong to the parent.
                unsafe { libc::_exit(0) }
            }
            pid => {
                let mut launcher = Launcher::reached(pid, ours).map_err(MeasureError::Launcher)?;
                launcher.ready = true;
                Ok(launcher)
            }
        }
    }

    /// Executes `program` as a launcher and waits until it is ready.
    fn execute(
        program: &Path,
        items: &[Item],
        checker: Checker,
        scratch: &Path,
        number: u32,
    ) -> std::io::Result<Launcher> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = Command::new(program)
            .arg(LAUNCH)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let items = items.iter().map(|item| (item.operation.id.to_string(), item.point.clone())).collect();
        let mut launcher = Launcher::reached(child.id() as libc::pid_t, ours)?;
        let brief = Brief { items, checker, scratch: scratch.into(), number, processor: processor_name() };
        launcher.greet(&brief).inspect_err(|_| {
            // Whatever it is, it is no launcher, and must not be waited for.
            children::kill(launcher.pid);
        })?;
        Ok(launcher)
    }

    /// Sends a launcher what it needs to know, and waits until it reports that it is ready.
    fn greet(&mut self, brief: &Brief) -> std::io::Result<()> {
        /// A program that is not ready within this time is no launcher.
        const PATIENCE: Duration = Duration::from_secs(5);
        self.send(brief)?;
        self.stream.get_ref().set_read_timeout(Some(PATIENCE))?;
        let mut ready = String::new();
        self.stream.read_line(&mut ready)?;
        if ready.trim() != LAUNCH {
            return Err(ErrorKind::InvalidData.into());
        }
        self.ready = true;
        self.stream.get_ref().set_read_timeout(Some(LOOK))
    }

    fn reached(pid: libc::pid_t, ours: UnixStream) -> std::io::Result<Launcher> {
        ours.set_read_timeout(Some(LOOK))?;
        Ok(Launcher { pid, ready: false, stream: BufReader::new(ours) })
    }

    fn send(&mut self, what: &impl Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        self.stream.get_mut().write_all(&line)
    }

    pub fn round(&mut self, order: RoundRequest, signals: &Signals) -> Result<RoundEnd, Ended> {
        let gone = |error: std::io::Error| Ended::Broken(MeasureError::Launcher(error));
        self.send(&Request::Round(Box::new(order))).map_err(gone)?;
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

/// A round may hang for seconds. A signal must not wait for it.
const LOOK: Duration = Duration::from_millis(50);

impl Drop for Launcher {
    /// Waits until the launcher has ended. If the launcher was killed, ends its rounds.
    fn drop(&mut self) {
        let _ = self.send(&Request::End);
        let _ = self.stream.get_mut().shutdown(std::net::Shutdown::Both);
        if children::wait_for(self.pid) != Reaped::Exit(0) && self.ready {
            children::end_orphans();
        }
    }
}

/// Makes this process a launcher: a run started the program with [`LAUNCH`] to start its rounds. `find` is the
/// registry. Returns when the run has no more rounds.
///
/// # Errors
/// If no run is at the other end of standard input.
pub fn serve_rounds(find: fn(&str) -> Option<&'static Operation>) -> Result<(), String> {
    let not_ours = || format!("{LAUNCH} is howslow's own word, for the processes that it starts itself");
    let input = std::io::stdin().as_fd().try_clone_to_owned().map_err(|_| not_ours())?;
    let stream = UnixStream::from(input);
    let mut line = String::new();
    // The brief is one line. No request follows it before this process has reported that it is ready, so the buffer is empty
    // afterwards. The brief of the whole catalogue has more than 100 KB, too many to read byte by byte.
    BufReader::new(&stream).read_line(&mut line).map_err(|_| not_ours())?;
    let brief: Brief = serde_json::from_str(&line).map_err(|_| not_ours())?;
    if brief.processor != processor_name() {
        return Err("the run is on another processor than this program: one of the two is emulated".into());
    }
    let known = brief.items.into_iter().map(|(id, point)| find(&id).map(|operation| Item { operation, point }));
    let items: Vec<Item> = known.collect::<Option<_>>().ok_or("an operation of the run is not in this program")?;
    (&stream).write_all(format!("{LAUNCH}\n").as_bytes()).map_err(|error| error.to_string())?;
    serve(stream, &items, brief.checker, &brief.scratch, brief.number);
    Ok(())
}

/// The launcher's loop: a request, a round, an answer, until it has to end. If the parent ends without notice, it
/// also removes the scratch folder.
fn serve(stream: UnixStream, items: &[Item], checker: Checker, scratch: &Path, number: u32) {
    children::become_guard();
    if rounds(stream, items, checker, scratch, number).is_none() {
        let _ = std::fs::remove_dir_all(scratch);
    }
}

/// `None` if the parent has gone.
fn rounds(stream: UnixStream, items: &[Item], checker: Checker, scratch: &Path, launcher: u32) -> Option<()> {
    let mut orders = BufReader::new(stream.try_clone().ok()?);
    let mut answers = stream;
    let mut line = String::new();
    for number in 0_u64.. {
        line.clear();
        orders.read_line(&mut line).ok().filter(|length| *length > 0)?;
        let order = match serde_json::from_str(&line).ok()? {
            Request::Round(order) => order,
            Request::End => return Some(()),
        };
        let folders = Folders { own: scratch.join(format!("{launcher}-{number}")), shared: scratch.into() };
        let others = order.others.iter().map(|other| other.item);
        let chosen =
            std::iter::once(order.item).chain(others).map(|item| items.get(item)).collect::<Option<Vec<_>>>()?;
        let end = one_round(&chosen, &order, checker, &folders, &answers)?;
        let mut answer = serde_json::to_vec(&end).ok()?;
        answer.push(b'\n');
        answers.write_all(&answer).ok()?;
    }
    None
}

/// Runs the round in a child, and guards it. `None` if the parent has gone in the meantime.
fn one_round(
    items: &[&Item],
    order: &RoundRequest,
    checker: Checker,
    folders: &Folders,
    parent: &UnixStream,
) -> Option<RoundEnd> {
    let patience: f64 = items.iter().map(|item| item.operation.patience).sum();
    let patience = Duration::from_secs_f64(patience + 3.0 * order.plan.total_time() / 1e9);
    let end = guarded(patience, parent, || perform(items, order, checker, folders.clone()));
    let _ = std::fs::remove_dir_all(&folders.own);
    end.map(|end| {
        end.unwrap_or_else(|lost| match lost {
            Lost::Hung(_) => RoundEnd::Hung(lost.to_string()),
            _ => RoundEnd::Lost(lost.to_string()),
        })
    })
}

#[cfg(test)]
mod tests {
    use operation::Clock;

    use super::*;

    #[test]
    fn a_program_that_is_no_launcher_ends_no_other_child() {
        let mut other = Command::new("sleep").arg("60").spawn().expect("a child");
        let checker = Checker::recorded(Clock::recorded(20.0, 1.0));
        let end = Launcher::execute(Path::new("/bin/false"), &[], checker, Path::new("/nowhere"), 0);
        let lives = other.try_wait();
        let _ = other.kill().and_then(|()| other.wait());
        assert!(end.is_err() && matches!(lives, Ok(None)), "{lives:?}");
    }
}
