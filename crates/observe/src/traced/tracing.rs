//! The tracer's thread: waits for events of the watched threads, and counts.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use record::Usage;
use rustix::time::ClockId;

use super::names::{Folders, Returned, creates};
use super::status;
use super::sys::{self, AtCall, Event, Resume};
use crate::call_names::{NARROW_EXITS, is_interruption};
use crate::counts::Call;
use crate::target::Detail;
use crate::task::Task;
use crate::usage::{self, now_ns};

/// The architectures whose calls have the numbers of this one (include/uapi/linux/audit.h, `AUDIT_ARCH_*`).
#[cfg(target_arch = "x86_64")]
const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const NATIVE: u32 = 0xc000_00b7;
/// Numbers beyond are no call's.
const CALLS: u64 = crate::naming::CALLS as u64;

/// A watched thread.
#[derive(Debug, Default)]
struct Tracee {
    task: Task,
    /// False until it executes the command.
    counted: bool,
    /// The call that it is in.
    inside: Option<Call>,
    /// The arguments of that call.
    arguments: [u64; 3],
    /// True if it is to create a file that was not there when it began.
    creates: bool,
    /// The call before.
    last: Option<Call>,
    /// That call and its error, if a signal interrupted it and the thread may end before it is in its program again.
    interrupted: Option<(Call, u16)>,
    /// Those of its process.
    folders: Arc<Mutex<Folders>>,
}

/// What the tracer and its reader share.
#[derive(Debug, Default)]
pub(super) struct Board {
    running: HashMap<u32, Tracee>,
    pub ended: Vec<Task>,
    /// Threads that ran before their creation was reported. They may have ended by then.
    unreported: HashSet<u32>,
    next: u64,
    /// The process that was started as the command.
    command: Option<u32>,
    pub command_ended: Option<(ExitStatus, Usage)>,
    /// Events of all threads that stopped them.
    pub stops: u64,
    /// Everything is to be left alone.
    pub over: bool,
}

/// What is shared. A panic of the other side leaves it as it is.
pub(super) fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// A new thread to watch.
    pub(super) fn admit(&mut self, process: u32, thread: u32, is_command: bool) {
        self.next += 1;
        let task = Task { id: self.next, process, thread, begin_ns: now_ns(ClockId::Monotonic), ..Task::default() };
        if is_command {
            self.command = Some(process);
        }
        let others = self.running.values().find(|other| other.task.process == process);
        let folders = others.map(|other| Arc::clone(&other.folders)).unwrap_or_default();
        self.running.insert(thread, Tracee { task, counted: !is_command, folders, ..Tracee::default() });
    }

    /// A thread that could not be watched.
    pub(super) fn dismiss(&mut self, thread: u32) {
        self.running.remove(&thread);
    }

    /// The threads that are watched.
    pub(super) fn knows(&self, thread: u32) -> bool {
        self.running.contains_key(&thread)
    }

    /// The tasks that run.
    pub(super) fn running(&self) -> Vec<Task> {
        let counted = self.running.values().filter(|tracee| tracee.counted);
        counted.map(|tracee| Task { name: name(&tracee.task), ..tracee.task.clone() }).collect()
    }

    /// An event of a thread. Returns how it goes on, and with which signal; nothing if it has ended.
    fn handle(&mut self, thread: u32, event: Event, detail: Detail) -> Option<(Resume, i32)> {
        if let Event::Ended(status, used) = event {
            self.end(thread, status, used);
            return None;
        }
        if !self.knows(thread) {
            self.unreported.insert(thread);
            self.admit(status::process_of(thread).unwrap_or(thread), thread, false);
        }
        match event {
            Event::Created => self.created(thread),
            Event::Executed => self.executed(thread, detail),
            _ => {}
        }
        self.stops += 1;
        let tracee = self.running.get_mut(&thread)?;
        tracee.task.stops += 1;
        let onward = if tracee.counted { Resume::ToCall } else { Resume::ToEvent };
        match event {
            Event::Call => tracee.at_call(detail),
            Event::Signal(signal) => {
                if tracee.counted && acts(thread, signal) {
                    *tracee.task.counts.signals.entry(signal as u16).or_default() += 1;
                }
                return Some((onward, signal));
            }
            Event::GroupStop => return Some((Resume::Listen, 0)),
            Event::Ending if !tracee.counted => {
                // The command could not be executed; who started it waits for it.
                self.dismiss(thread);
                return Some((Resume::Detached, 0));
            }
            Event::Ending => {
                if detail == Detail::All {
                    tracee.count_unreturned();
                }
                tracee.task.usage = usage::of_thread(tracee.task.process, thread);
                tracee.task.name = name(&tracee.task);
            }
            _ => {}
        }
        Some((onward, 0))
    }

    /// The thread created another.
    fn created(&mut self, thread: u32) {
        if let Ok(new) = sys::message(thread) {
            self.note_child(thread, new);
        }
    }

    /// The thread created this new one.
    fn note_child(&mut self, thread: u32, new: u32) {
        let Some(creator) = self.running.get_mut(&thread) else { return };
        let (id, process, folders) = (creator.task.id, creator.task.process, Arc::clone(&creator.folders));
        creator.task.counts.forks += 1;
        if !self.unreported.remove(&new) && !self.knows(new) {
            let is_thread = fs::exists(format!("/proc/{process}/task/{new}")).unwrap_or(false);
            self.admit(if is_thread { process } else { new }, new, false);
        }
        if let Some(tracee) = self.running.get_mut(&new) {
            let copied = || Arc::new(Mutex::new(locked(&folders).clone()));
            tracee.folders = if tracee.task.process == process { folders } else { copied() };
        }
        let running = self.running.get_mut(&new).map(|tracee| &mut tracee.task);
        let ended = self.ended.iter_mut().rev().find(|task| task.thread == new);
        if let Some(created) = running.or(ended) {
            created.parent = Some(id);
        }
    }

    /// The thread executed a program, so it is its process's only one, under the number of the process.
    fn executed(&mut self, thread: u32, detail: Detail) {
        let former = sys::message(thread).unwrap_or(thread);
        self.take_over(thread, former);
        if let Some(tracee) = self.running.get_mut(&thread) {
            tracee.task.counts.execs += 1;
            if !tracee.counted {
                tracee.counted = true;
                let call = Call::Native(libc::SYS_execve as u16);
                tracee.inside = Some(call);
                if detail == Detail::Numbers {
                    tracee.task.counts.calls.entry(call).or_default().count += 1;
                }
            }
        }
    }

    /// The thread with the former number is the first of its process now. The others were killed; who created it may have been, before
    /// that was reported.
    fn take_over(&mut self, thread: u32, former: u32) {
        if former == thread {
            return;
        }
        let Some(mut tracee) = self.running.remove(&former) else { return };
        tracee.task.thread = thread;
        if let Some(first) = self.running.remove(&thread) {
            tracee.task.counts.add(&first.task.counts);
            tracee.task.stops += first.task.stops;
        }
        tracee.task.counts.forks += u64::from(self.unreported.remove(&former));
        self.running.insert(thread, tracee);
    }

    fn end(&mut self, thread: u32, status: ExitStatus, used: Usage) {
        use std::os::unix::process::ExitStatusExt;
        if self.command == Some(thread) {
            self.command_ended = Some((status, used));
        }
        let Some(mut tracee) = self.running.remove(&thread).filter(|tracee| tracee.counted) else { return };
        // Every thread of a process ends by it, and the process gets it once.
        if status.signal() == Some(libc::SIGKILL) && thread == tracee.task.process {
            *tracee.task.counts.signals.entry(libc::SIGKILL as u16).or_default() += 1;
        }
        tracee.task.end_ns = Some(now_ns(ClockId::Monotonic));
        self.ended.push(tracee.task);
    }
}

impl Tracee {
    fn at_call(&mut self, detail: Detail) {
        let thread = self.task.thread;
        // Entry and exit alternate, so where the result does not matter, the exit need not be looked at.
        if detail == Detail::Numbers && self.inside.take().is_some() {
            return;
        }
        match sys::call(thread) {
            Ok(AtCall::Entry { number, arguments, architecture }) => {
                self.arguments = arguments;
                self.enter(number, architecture, detail);
            }
            Ok(AtCall::Exit(result)) => self.leave(result),
            // It was killed meanwhile.
            Ok(AtCall::Other) | Err(_) => {}
        }
    }

    fn enter(&mut self, number: u64, architecture: u32, detail: Detail) {
        let call = match number {
            // Numbers are those of 32 bits.
            _ if architecture != NATIVE => Call::Narrow(u16::try_from(number).unwrap_or(u16::MAX)),
            0..CALLS => Call::Native(number as u16),
            _ => Call::beyond(number as u32),
        };
        self.inside = Some(call);
        self.interrupted = None;
        let creating =
            |call| matches!(call, Call::Native(number) if creates(self.task.thread, number, &self.arguments));
        self.creates = detail == Detail::All && creating(call);
        if ends(call) || detail == Detail::Numbers {
            self.task.counts.calls.entry(call).or_default().count += 1;
        }
    }

    fn leave(&mut self, result: Result<u64, u16>) {
        let Some(call) = self.inside.take() else { return };
        let counts = &mut self.task.counts;
        if let Call::Native(number) = call {
            let call = Returned { number, arguments: self.arguments, result, creates: self.creates };
            locked(&self.folders).note(self.task.thread, &call, counts);
        }
        // What a handler's return leaves in the register is what was there before.
        const HANDLER_RETURNS: [Call; 3] =
            [Call::Native(libc::SYS_rt_sigreturn as u16), Call::Narrow(173), Call::Narrow(119)];
        let returns = !HANDLER_RETURNS.contains(&call);
        match result {
            Ok(value) if returns => {
                let times = counts.calls.entry(call).or_default();
                times.results = times.results.wrapping_add(value);
            }
            Err(error) if returns => {
                *counts.errors.entry((call, error)).or_default() += 1;
                self.interrupted = is_interruption(error).then_some((call, error));
            }
            _ => {}
        }
        self.count(call);
    }

    fn count(&mut self, call: Call) {
        let counts = &mut self.task.counts;
        counts.calls.entry(call).or_default().count += 1;
        if let Some(last) = self.last.replace(call) {
            *counts.pairs.entry((last, call)).or_default() += 1;
        }
    }

    /// The thread ends. A call that it is in was made and did not fail: its program sees no result. Nor does it see that a signal
    /// interrupted the call, if this signal ends it.
    fn count_unreturned(&mut self) {
        if let Some(call) = self.inside.take().filter(|call| !ends(*call)) {
            self.count(call);
        }
        if let Some(error) = self.interrupted.take() {
            let errors = &mut self.task.counts.errors;
            if let Some(count) = errors.get_mut(&error) {
                *count -= 1;
            }
            errors.retain(|_, count| *count > 0);
        }
    }
}

/// True if the call ends its task: it does not return, so it is counted when it begins.
fn ends(call: Call) -> bool {
    match call {
        Call::Native(number) => [libc::SYS_exit, libc::SYS_exit_group].contains(&i64::from(number)),
        Call::Narrow(number) => NARROW_EXITS.contains(&number),
        Call::Short(_) | Call::Unknown(_) => false,
    }
}

/// Handles events until nothing is left to watch, or the board shows that it is over. What is still watched then is let go by
/// the kernel when this thread ends.
pub(super) fn follow(board: &Arc<Mutex<Board>>, detail: Detail) {
    loop {
        let (thread, event) = match sys::wait() {
            Ok(found) => found,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let mut board = locked(board);
        let (onward, over) = (board.handle(thread, event, detail), board.over);
        if let Some((how, signal)) = onward {
            // A signal that was taken from the kernel is handed back in any case.
            sys::resume(thread, if over { Resume::Detached } else { how }, signal);
        }
        if over {
            return;
        }
    }
}

/// True if a signal does something: a watched process stops at those that it ignores, too.
fn acts(thread: u32, signal: i32) -> bool {
    let mask = |key: &str| status::line(thread, key).and_then(|mask| u64::from_str_radix(&mask, 16).ok()).unwrap_or(0);
    let bit = 1_u64.checked_shl(signal as u32 - 1).unwrap_or(0);
    let ignored_unless_caught = [libc::SIGCHLD, libc::SIGURG, libc::SIGWINCH, libc::SIGCONT].contains(&signal);
    mask("SigIgn:") & bit == 0 && (!ignored_unless_caught || mask("SigCgt:") & bit != 0)
}

fn name(task: &Task) -> String {
    let name = usage::name(task.process, task.thread);
    if name.is_empty() { task.name.clone() } else { name }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    /// The kernel may report all of a short process before the call that created it.
    #[test]
    fn a_process_that_ended_before_its_creation_was_reported_is_no_second_one() {
        let mut board = Board::default();
        board.admit(1, 1, false);
        board.unreported.insert(2);
        board.admit(2, 2, false);
        board.end(2, ExitStatus::from_raw(0), Usage::default());
        let creator = board.running[&1].task.id;
        board.note_child(1, 2);
        assert!(!board.knows(2), "it has ended");
        assert_eq!(board.ended[0].parent, Some(creator));
        board.note_child(1, 3);
        assert_eq!(board.running[&3].task.parent, Some(creator), "one that has yet to run");
        assert_eq!(board.running[&1].task.counts.forks, 2);
        board.admit(1, 4, false);
        board.end(4, ExitStatus::from_raw(9), Usage::default());
        board.end(1, ExitStatus::from_raw(9), Usage::default());
        let kills = board.ended.iter().filter_map(|task| task.counts.signals.get(&9));
        assert_eq!(kills.sum::<u64>(), 1, "a process is killed once");
    }

    /// The creator of a thread is killed by it before the kernel reported the creation.
    #[test]
    fn a_thread_that_takes_its_process_over_before_its_creation_was_reported_was_created() {
        for reported in [true, false] {
            let mut board = Board::default();
            board.admit(1, 1, false);
            board.unreported.insert(2);
            board.admit(1, 2, false);
            if reported {
                board.note_child(1, 2);
            }
            board.take_over(1, 2);
            assert_eq!((board.running.len(), board.running[&1].task.counts.forks), (1, 1), "reported: {reported}");
            assert!(board.unreported.is_empty());
        }
    }
}
