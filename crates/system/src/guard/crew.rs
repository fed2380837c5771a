//! Workers beside this process: they work until ordered to end, while this process does something else. A guard of their own
//! stands between: it ends all of them when this process ends, however it ends, and notes why one of them has.

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, WaitOptions};

use crate::guard::children;
use crate::guard::ending::{death, limit, quietly};
use crate::guard::lost::Lost;
use crate::guard::post::Post;
use crate::guard::wait::{cannot_fork, ready};
use crate::mapped::Mapped;

/// Workers, and the memory that they share with this process. Dropping it ends all of them and whatever they have started.
pub struct Crew {
    guard: libc::pid_t,
    stream: UnixStream,
    board: Arc<Board>,
}

impl Crew {
    /// Starts `count` workers. Each runs `work` with its number and its post, which returns why it has ended. `when_gone`
    /// runs once all of them are ended, and only if this process has gone before it could do that itself.
    /// Forks: call it while the process has one thread. Fails if the system has no memory, descriptor or process left.
    pub fn start(count: usize, work: impl Fn(usize, &Post) -> String, when_gone: impl FnOnce()) -> Result<Crew, Lost> {
        let board = Arc::new(Board::new(count).map_err(|error| Lost::NoMemory(error.to_string()))?);
        let (ours, theirs) = UnixStream::pair().map_err(|error| Lost::NoSocket(error.to_string()))?;
        // SAFETY: this process has one thread, as the function demands, so the child may do anything.
        match unsafe { libc::fork() } {
            -1 => Err(cannot_fork()),
            0 => {
                drop(ours);
                children::become_guard();
                watch(start_all(&board, &work), &board, &theirs);
                // What the parent sends before it goes is that it goes on purpose.
                if !end_requested(&theirs) {
                    when_gone();
                }
                // SAFETY: leaves without running the parent's destructors, which belong to the parent.
                unsafe { libc::_exit(0) }
            }
            guard => Ok(Crew { guard, stream: ours, board }),
        }
    }

    pub fn post(&self, number: usize) -> &Post {
        self.board.post(number)
    }

    pub fn count(&self) -> usize {
        self.board.count
    }

    /// Why a worker has ended; `None` while it works. If the guard itself is gone, so are all workers.
    pub fn ended(&self, number: usize) -> Option<String> {
        self.post(number)
            .ended()
            .or_else(|| is_closed(&self.stream, Duration::ZERO).then(|| Lost::Unguarded.to_string()))
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let _ = std::io::Write::write_all(&mut &self.stream, b"e");
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        children::wait_for(self.guard);
    }
}

/// In the guard: starts the workers, and returns the numbers and ids of those that live. One that cannot be started has ended.
fn start_all(board: &Arc<Board>, work: &impl Fn(usize, &Post) -> String) -> Vec<(usize, libc::pid_t)> {
    let start = |number: usize| {
        let post = board.post(number);
        // SAFETY: the guard has one thread, so the child may do anything.
        match unsafe { libc::fork() } {
            -1 => {
                post.end(&cannot_fork().to_string());
                None
            }
            0 => {
                children::become_round();
                // Nothing beyond the standard descriptors.
                children::keep_only(2);
                limit(Resource::Core, 0);
                let other = Arc::clone(board);
                let panicked = move |lost: Lost| other.post(number).end(&lost.to_string());
                post.end(&quietly(|| work(number, post), panicked));
                // SAFETY: leaves without running the guard's destructors, which belong to the guard.
                unsafe { libc::_exit(0) }
            }
            pid => Some((number, pid)),
        }
    };
    (0..board.count).filter_map(start).collect()
}

/// In the guard: waits until the parent requests its end or is gone, notes workers that end before, and ends the others.
fn watch(mut alive: Vec<(usize, libc::pid_t)>, board: &Board, parent: &UnixStream) {
    const LOOK: Duration = Duration::from_millis(20);
    while !is_closed(parent, LOOK) {
        alive.retain(|&(number, pid)| match children::reap(pid, WaitOptions::NOHANG) {
            None => true,
            Some(how) => {
                board.post(number).end(&death(how).to_string());
                // What it has started is in its group, or is the guard's own child by now.
                children::kill_group(pid);
                false
            }
        });
    }
    alive.iter().for_each(|&(_, pid)| children::kill_group(pid));
    children::end_orphans();
}

/// True if the other end is closed within this time.
fn is_closed(stream: &UnixStream, at_most: Duration) -> bool {
    ready([(stream.as_raw_fd(), libc::POLLRDHUP)], at_most) == [true]
}

/// True if the parent has sent that it ends the crew.
fn end_requested(parent: &UnixStream) -> bool {
    let mut byte = [0];
    let _ = parent.set_nonblocking(true);
    std::io::Read::read(&mut &*parent, &mut byte).is_ok_and(|length| length == 1)
}

/// Memory that this process and its children share: one post for each worker.
struct Board {
    memory: Mapped,
    count: usize,
}

impl Board {
    fn new(count: usize) -> std::io::Result<Board> {
        Ok(Board { memory: Mapped::shared(count.max(1) * size_of::<Post>())?, count })
    }

    fn post(&self, number: usize) -> &Post {
        assert!(number < self.count, "there are {} workers", self.count);
        // SAFETY: the memory holds `count` posts.
        let post = unsafe { self.memory.start::<Post>().add(number) };
        // SAFETY: it lives as long as the board; all bits zero is a valid post, which consists of atomics only.
        unsafe { post.as_ref() }
    }
}
