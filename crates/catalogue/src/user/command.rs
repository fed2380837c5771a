//! User-supplied commands: one run from fork to end, measured like any operation. It belongs to no family, because it is
//! made from the words of the command line. The do-nothing command, started in the same way, is its baseline. What must happen
//! before and after each run is not timed.

use std::ffi::{CString, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use operation::{Failure, Loop, Operation, Setting, Usage, repeat, term};
use record::{EXIT_STATUS, Estimate, PEAK_MEMORY};
use rustix::fs::Access;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use system::guard::{Lost, apart_until};

use crate::kit::library::access;
use crate::kit::{NOT_STARTED, Shared, do_nothing, ensure, fork};
use crate::user::HUNG_REMEDY;
use crate::user::steps::with_steps;
pub use crate::user::steps::{Around, make_cold, shell};

/// Starting a program that does nothing, in the way commands are started, and waiting for it: a part of every command.
pub const NOTHING: Operation = Operation::DEFAULT
    .named(
        "command.nothing",
        "start a program that does nothing in the same way as a timed command, and wait for it (fork, execve, \
            wait)",
    )
    .per("run")
    .prepare(|setting| {
        let program = do_nothing(setting)?;
        prepared(
            &Command {
                arguments: vec![program.clone()],
                program,
                on_failure: OnFailure::Refuse,
                cpus: None,
                warm: false,
                around: Around::default(),
            },
            setting,
        )
    });

/// What an exit status other than 0 means for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// The command failed to do its work.
    Refuse,
    Ignore,
}

/// The CPUs that a command may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpus {
    /// The CPU its round is pinned to, like every operation.
    One,
    /// Any CPU that this process may use.
    All,
}

#[derive(Clone, Copy, Debug)]
pub struct CommandOptions {
    /// The seconds after which a round, or the trial before all rounds, counts as hung.
    pub patience: f64,
    pub on_failure: OnFailure,
    pub cpus: Cpus,
    /// The figure to quote, unless the trial chooses it.
    pub quoted: Option<Estimate>,
    /// True if rounds need no warm-up, because every run of it is timed beside one of another command.
    pub in_lockstep: bool,
}

pub struct TriedCommand {
    pub operation: &'static Operation,
    /// Processor time over elapsed time in the trial. A value above 1 means that it keeps several CPUs busy.
    pub busy: f64,
}

/// Why a command cannot be timed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error("the command is empty; say its name and its arguments")]
    Empty,
    #[error("{0}: no such program{1}")]
    NotFound(String, &'static str),
    #[error("{program} cannot be executed: {why}")]
    NotExecutable { program: String, why: String },
    /// The trial run failed.
    #[error("{0}")]
    Failed(String),
    /// The trial run took too long.
    #[error("{0}")]
    Hung(String),
}

/// What a round needs of a command.
#[derive(Clone)]
struct Command {
    program: CString,
    arguments: Vec<CString>,
    on_failure: OnFailure,
    /// The CPUs it may use, unless it must stay on the round's.
    cpus: Option<CpuSet>,
    /// True if it takes so long that the trial is warm-up enough.
    warm: bool,
    around: Around,
}

/// The operation that runs this command line, under this name, after one trial run in a separate process. `around` happens
/// around every run, also around the trial. Fails if the program does not exist or cannot be executed, or if its trial
/// or what happens around it fails or hangs; or if `stop` has ended the trial.
pub fn command(
    name: &str,
    words: &[OsString],
    running: CommandOptions,
    around: Around,
    stop: &dyn Fn() -> bool,
) -> Result<TriedCommand, CommandError> {
    let first = words.first().filter(|first| !first.is_empty()).ok_or(CommandError::Empty)?;
    let program = found(first)?;
    let whole = |text: &OsStr| {
        CString::new(text.as_bytes())
            .map_err(|_| CommandError::Failed("a word of the command holds a zero byte".into()))
    };
    let command = Command {
        arguments: words.iter().map(|word| whole(word)).collect::<Result<_, _>>()?,
        program: whole(program.as_os_str())?,
        on_failure: running.on_failure,
        cpus: (running.cpus == Cpus::All).then(usable).transpose()?,
        warm: false,
        around,
    };
    let (elapsed, busy) = match apart_until(stop, Duration::from_secs_f64(running.patience), || trial(&command)) {
        Ok(Ok(measured)) => measured,
        Ok(Err((0, why))) => return Err(CommandError::Failed(why)),
        Ok(Err((_, why))) => return Err(CommandError::NotExecutable { program: program.display().to_string(), why }),
        Err(lost @ Lost::Hung(_)) => return Err(CommandError::Hung(lost.to_string())),
        Err(lost) => return Err(CommandError::Failed(lost.to_string())),
    };
    let command = Command { warm: elapsed > LONGER || running.in_lockstep, ..command };
    let is_typical = elapsed > LONG || busy < BUSY || running.cpus == Cpus::All;
    let quoted = running.quoted.unwrap_or(if is_typical { Estimate::Typical } else { Estimate::Quiet });
    let operation = Operation {
        // These strings come from the command line, so they are few and live as long as the process.
        id: Box::leak(name.into()),
        summary: "one run of the command, from fork to wait, with its output discarded",
        per: "run",
        quoted,
        terms: const { &[term(1.0, NOTHING.id)] },
        // Which calls a command makes is the user's business.
        memory: u64::MAX,
        patience: running.patience,
        hung_remedy: HUNG_REMEDY,
        argument: Some(Box::leak(Box::new(command))),
        prepare: |setting: &Setting| prepared(setting.argument()?, setting),
        ..Operation::DEFAULT
    };
    Ok(TriedCommand { operation: Box::leak(Box::new(operation)), busy })
}

/// The CPUs that this process may use. Without them a command that may use all of them would stay on the round's.
fn usable() -> Result<CpuSet, CommandError> {
    sched_getaffinity(None)
        .map_err(|error| CommandError::Failed(format!("the CPUs it may use cannot be read: {error}")))
}

/// A longer run is quoted by its typical time: the checks around it say nothing about neighbours during it.
const LONG: f64 = 0.02;
/// A run this long is a whole round by itself. A warm-up in every round would only multiply the time.
const LONGER: f64 = 0.1;
/// A run that keeps the CPU busy for a smaller share of its time waits for a timer, a device or another process.
const BUSY: f64 = 0.8;

/// The program that a command's first word means: a path if it contains a slash, otherwise searched for along PATH.
pub(crate) fn found(word: &OsStr) -> Result<PathBuf, CommandError> {
    let shown = word.to_string_lossy().into_owned();
    if word.as_bytes().contains(&b'/') {
        let path = PathBuf::from(word);
        return match refusal(&path) {
            None => Ok(path),
            Some(Errno::NOENT | Errno::NOTDIR) => Err(CommandError::NotFound(shown, "")),
            Some(why) => Err(CommandError::NotExecutable { program: shown, why: why.to_string() }),
        };
    }
    // The default of execvp if PATH is not set.
    let folders = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let candidates: Vec<PathBuf> = std::env::split_paths(&folders).map(|folder| folder.join(word)).collect();
    if let Some(program) = candidates.iter().find(|candidate| refusal(candidate).is_none()) {
        return Ok(program.clone());
    }
    match candidates.iter().find(|candidate| candidate.is_file()) {
        Some(file) => Err(CommandError::NotExecutable {
            program: file.display().to_string(),
            why: "you have no permission to".into(),
        }),
        None => Err(CommandError::NotFound(shown, " in any folder of PATH (built into the shell? try sh -c '...')")),
    }
}

/// Why this cannot be executed, as far as can be known without trying.
fn refusal(path: &Path) -> Option<Errno> {
    match std::fs::metadata(path) {
        Ok(kind) if kind.is_dir() => Some(Errno::ISDIR),
        _ => access(path, Access::EXEC_OK).err(),
    }
}

/// Runs the command once. Returns the seconds elapsed, and processor time over elapsed time. An error contains the error
/// number of a program that could not be executed, or 0.
fn trial(command: &Command) -> Result<(f64, f64), (i32, String)> {
    let plain = |failure: Failure| (0, failure.to_string());
    let run = Run::of(command).map_err(plain)?;
    let Around { prepare, conclude, .. } = &command.around;
    shell("--prepare", prepare.as_deref()).map_err(|why| (0, why))?;
    make_cold(&command.around.cold).map_err(|why| (0, why))?;
    let before = Usage::of_reaped_children();
    let start = Instant::now();
    let (status, _) = run.once().map_err(plain)?;
    let elapsed = start.elapsed().as_secs_f64();
    let used = Usage::of_reaped_children().since(before);
    let busy = (used.user + used.system) / 1e9 / elapsed;
    match run.refused.load(Ordering::SeqCst) {
        // A negative one is not the program's fault.
        ..=0 => run.judge(status).map_err(plain)?,
        errno => return Err((errno, refused(errno))),
    }
    shell("--conclude", conclude.as_deref()).map_err(|why| (0, why))?;
    Ok((elapsed, busy))
}

fn prepared(command: &Command, setting: &Setting) -> Result<Loop, Failure> {
    let run = Run::of(command)?;
    let (memory, ended) = (setting.tally(PEAK_MEMORY), setting.tally(EXIT_STATUS));
    let work = repeat(move || {
        let (status, peak) = run.once()?;
        memory.pass(peak);
        ended.pass(match libc::WIFSIGNALED(status) {
            true => 128 + libc::WTERMSIG(status) as u64,
            false => libc::WEXITSTATUS(status) as u64,
        });
        run.judge(status)
    });
    let work = if command.warm { work.skip_warmup() } else { work };
    Ok(with_steps(work, &command.around))
}

/// A command that is ready to be run repeatedly.
struct Run {
    command: Command,
    /// The addresses of its arguments, with a null at the end.
    pointers: Vec<*const c_char>,
    /// The error number if the child could not execute the program; negative if it could not open its input.
    refused: Shared<AtomicI32>,
    input: Option<CString>,
}

impl Run {
    fn of(command: &Command) -> Result<Run, Failure> {
        let command = command.clone();
        let texts = command.arguments.iter().map(|argument| argument.as_ptr());
        let pointers = texts.chain([std::ptr::null()]).collect();
        let input = command.around.input.as_ref().map(|path| CString::new(path.as_os_str().as_bytes()));
        let input = input.transpose().map_err(|_| Failure::wrong("the name of --input holds a zero byte"))?;
        Ok(Run { command, pointers, refused: Shared::new(AtomicI32::new(0))?, input })
    }

    /// Runs it and returns its wait status, and the most memory that it or a child of it had at once, in bytes.
    fn once(&self) -> Result<(c_int, u64), Failure> {
        let child = fork(|| {
            if let Some(cpus) = &self.command.cpus {
                let _ = sched_setaffinity(None, cpus);
            }
            if let Some(input) = &self.input {
                // SAFETY: the path ends in null.
                let file = unsafe { libc::open(input.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
                // SAFETY: concerns this process alone; the descriptor has just been opened.
                if file < 0 || unsafe { libc::dup2(file, 0) } < 0 {
                    let errno = std::io::Error::last_os_error().raw_os_error();
                    self.refused.store(-errno.unwrap_or(libc::EINVAL), Ordering::SeqCst);
                    return NOT_STARTED;
                }
            }
            // SAFETY: the path and the list end in null; the environment is that of this process; it returns only if it
            // fails.
            unsafe { libc::execv(self.command.program.as_ptr(), self.pointers.as_ptr()) };
            let errno = std::io::Error::last_os_error().raw_os_error();
            self.refused.store(errno.unwrap_or(libc::EINVAL), Ordering::SeqCst);
            NOT_STARTED
        })?;
        ended(child)
    }

    #[inline]
    fn judge(&self, status: c_int) -> Result<(), Failure> {
        if status == 0 { Ok(()) } else { self.judge_failure(status) }
    }

    #[cold]
    fn judge_failure(&self, status: c_int) -> Result<(), Failure> {
        let errno = self.refused.load(Ordering::SeqCst);
        ensure(errno >= 0, || {
            let input = self.command.around.input.as_deref().unwrap_or(Path::new(""));
            format!("--input {}: {}", input.display(), std::io::Error::from_raw_os_error(-errno))
        })?;
        ensure(errno == 0, || refused(errno))?;
        if self.command.on_failure == OnFailure::Ignore {
            return Ok(());
        }
        let how = match libc::WIFSIGNALED(status) {
            true => format!("was killed by signal {}", libc::WTERMSIG(status)),
            false => format!("ended with exit status {}", libc::WEXITSTATUS(status)),
        };
        Err(Failure::wrong(format!("it {how}; --ignore-failure times it nevertheless")))
    }
}

/// Waits for a child. Returns its wait status and its largest resident set in bytes.
fn ended(child: libc::pid_t) -> Result<(c_int, u64), Failure> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointers are to a status and a whole rusage.
    while unsafe { libc::wait4(child, &mut status, 0, usage.as_mut_ptr()) } != child {
        let error = std::io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error.into());
        }
    }
    // SAFETY: all bits zero is a valid rusage, and the call only writes valid ones.
    let usage = unsafe { usage.assume_init() };
    Ok((status, usage.ru_maxrss as u64 * 1024))
}

fn refused(errno: i32) -> String {
    let error = std::io::Error::from_raw_os_error(errno);
    match errno {
        libc::ENOEXEC => format!("{error}: a script needs a first line such as #!/bin/sh, a program this architecture"),
        _ => error.to_string(),
    }
}
