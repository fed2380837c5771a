//! Counting by ptrace(2): a thread of howslow follows every call. Needs no right beyond that to debug what is watched, but
//! each call stops the program twice.
//!
//! There is no filter of seccomp(2) here, with which a program would stop at chosen calls only. Every call is to be counted, so
//! it would save nothing; without privilege it takes no_new_privs, which changes what the program may do; and it
//! stays with the program, whose calls would fail once howslow is gone.

mod names;
mod refusal;
mod status;
mod sys;
mod tracing;

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use record::Usage;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use system::machine::TaskStat;

use crate::cgroup::numbers_in;
use crate::target::Detail;
use crate::task::Task;
use crate::usage;
pub(crate) use status::{process_of, tracer_of};
use tracing::{Board, locked};

/// The tracer answers a new command at once, unless it is gone.
const ANSWERED: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Threads that are followed. Dropping it lets them go at their next event, as does the end of this process, however it ends.
#[derive(Debug)]
pub(crate) struct Tracer {
    board: Arc<Mutex<Board>>,
}

/// The other end of a command that is about to be started.
#[derive(Debug)]
pub(crate) struct Awaited {
    board: Arc<Mutex<Board>>,
    seized: mpsc::Receiver<Result<(), String>>,
}

impl Tracer {
    /// Follows a process, and everything that it creates from now on. The error is a sentence: why it cannot be followed.
    pub(crate) fn attach(process: u32, detail: Detail) -> Result<Tracer, String> {
        let board: Arc<Mutex<Board>> = Arc::default();
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::clone(&board);
        let follow = move || {
            let attached = attach_all(&shared, process);
            let go_on = attached.is_ok();
            let _ = sender.send(attached);
            if go_on {
                tracing::follow(&shared, detail);
            }
        };
        spawn(follow)?;
        receiver.recv().unwrap_or_else(|_| Err("the tracer has ended".into()))?;
        Ok(Tracer { board })
    }

    /// Gets ready to follow a command: the new process calls the function before it executes its program.
    /// The error is a sentence: why it cannot be followed.
    pub(crate) fn await_command(
        detail: Detail,
    ) -> Result<(Awaited, impl FnMut() -> io::Result<()> + Send + Sync + 'static), String> {
        let pipe = || io::pipe().map_err(|error| format!("there is no pipe: {error}"));
        let ((mut id_reader, id_writer), (answered, mut answer)) = (pipe()?, pipe()?);
        let (sender, seized) = mpsc::channel();
        let board: Arc<Mutex<Board>> = Arc::default();
        let shared = Arc::clone(&board);
        spawn(move || {
            let mut id = [0; 4];
            if id_reader.read_exact(&mut id).is_err() {
                return;
            }
            let id = u32::from_ne_bytes(id);
            locked(&shared).admit(id, id, true);
            let seized = sys::seize(id).map_err(|error| refusal::sentence(id, &error));
            let go_on = seized.is_ok();
            let _ = sender.send(seized);
            let _ = answer.write_all(&[u8::from(go_on)]);
            if go_on {
                tracing::follow(&shared, detail);
            }
        })?;
        let (id_writer, answered) = (OwnedFd::from(id_writer), OwnedFd::from(answered));
        let send_id = move || {
            let id = rustix::process::getpid().as_raw_nonzero().get();
            rustix::io::write(&id_writer, &id.to_ne_bytes())?;
            // If howslow was killed meanwhile, no answer comes.
            let mut ready = [PollFd::new(&answered, PollFlags::IN)];
            let mut followed = [0];
            match poll(&mut ready, Some(&ANSWERED))? {
                0 => Err(io::ErrorKind::TimedOut.into()),
                _ if rustix::io::read(&answered, &mut followed)? == 0 || followed == [0] => Err(Errno::PERM.into()),
                _ => Ok(()),
            }
        };
        Ok((Awaited { board, seized }, send_id))
    }

    /// The tasks that ended since the last call, with what they used.
    pub(crate) fn ended(&self) -> Vec<Task> {
        std::mem::take(&mut locked(&self.board).ended)
    }

    /// The tasks that run.
    pub(crate) fn running(&self) -> Vec<Task> {
        locked(&self.board).running()
    }

    /// How often what is watched was stopped.
    pub(crate) fn stops(&self) -> u64 {
        locked(&self.board).stops
    }

    /// Lets everything go, at its next event.
    pub(crate) fn detach(&self) {
        locked(&self.board).over = true;
    }

    /// How the command ended, once: the tracer learns it instead of the process that started it.
    pub(crate) fn take_end(&self) -> Option<(ExitStatus, Usage)> {
        locked(&self.board).command_ended.take()
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        self.detach();
    }
}

impl Awaited {
    /// The tracer of the command that was started. The error is a sentence: why it is not followed. Then it executes no program.
    pub(crate) fn started(self) -> Result<Tracer, String> {
        self.seized.recv().unwrap_or_else(|_| Err("the command did not tell its number".into()))?;
        Ok(Tracer { board: self.board })
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let built = thread::Builder::new().name("tracer".into()).spawn(work);
    built.map(|_| ()).map_err(|error| format!("there is no thread: {error}"))
}

/// Follows all threads of a process: again and again, until no new one is found.
fn attach_all(board: &Mutex<Board>, process: u32) -> Result<(), String> {
    let own = usage::this_thread();
    loop {
        let threads = numbers_in(&format!("/proc/{process}/task"));
        let new: Vec<u32> = threads.into_iter().filter(|thread| !locked(board).knows(*thread)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for thread in new {
            locked(board).admit(process, thread, false);
            match sys::seize(thread) {
                Ok(()) => sys::interrupt(thread).map_err(|error| refusal::sentence(process, &error))?,
                // It ended, or the one that created it is followed already, and so is it.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => locked(board).dismiss(thread),
                Err(_) if tracer_of(thread) == Some(own) => {}
                // The first thread has ended before the others: nothing comes of it any more.
                Err(_) if TaskStat::of_thread(process, thread).is_some_and(|stat| stat.has_ended()) => {}
                Err(error) => return Err(refusal::sentence(process, &error)),
            }
        }
    }
}
