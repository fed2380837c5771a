//! One process of a bench program: started, asked, ended.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process_group};
use system::machine::scheduled_ns;

use super::lines::{Lines, NoLine};

const VERSION: &str = "1";
/// Names the program's two descriptors: the one to read, a comma, the one to write.
const PIPES: &str = "HOWSLOW_BENCH";
/// A text whose length moves the program's stack, and if it likes its heap.
const SHIFT: &str = "HOWSLOW_BENCH_SHIFT";
/// How many CPUs benchmarks of several threads may use: the program itself starts on one.
const CPUS: &str = "HOWSLOW_BENCH_CPUS";
/// A program that does not greet for this long is none of ours. Interpreters take a second to start on a busy machine.
const GREETING: Duration = Duration::from_secs(20);

/// Why a bench program cannot be used. Each is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    #[error("{program} cannot be started: {why}")]
    Start { program: String, why: String },
    #[error(
        "{0} is no bench program of howslow: it did not say so within {secs} s (docs/BENCH.md says what can be a bench program)",
        secs = GREETING.as_secs()
    )]
    Silent(String),
    #[error("{program} speaks version {theirs} of the protocol and this howslow version {VERSION}; update {older}")]
    Version {
        program: String,
        theirs: String,
        /// Which of the two is older.
        older: &'static str,
    },
    #[error("{program} {how} while it {did}{last}")]
    Died { program: String, how: String, did: String, last: String },
    #[error("{program} did not answer within {seconds} s while it {did}; --patience gives it more")]
    Late { program: String, seconds: f64, did: String },
    /// It reports a failure.
    #[error("{name}: {why}")]
    Failed { name: String, why: String },
    #[error("{program} answered '{answer}' while it {did}, which is not in the protocol (docs/BENCH.md)")]
    Garbled { program: String, answer: String, did: String },
}

/// A benchmark of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    /// True if it runs only when named.
    pub ignored: bool,
}

/// What a program says of a prepared benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Bytes that one iteration processes.
    pub bytes: Option<u64>,
    /// Items that one iteration processes.
    pub items: Option<u64>,
    pub threads: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ran {
    /// In ns.
    pub elapsed: f64,
    /// Processor time in ns, if the program says it.
    pub processor: Option<f64>,
}

/// A running bench program. Dropping it ends it, with its process group.
pub struct BenchProgram {
    shown: String,
    child: Child,
    requests: File,
    lines: Lines,
    patience: Duration,
    /// What it does now, for messages.
    did: String,
    name: String,
}

impl BenchProgram {
    /// Starts it and waits for its greeting. Its stack is moved by `shift` bytes. Benchmarks of several threads may use so many
    /// `cpus`. Fails if it is no bench program, or one of another version.
    pub fn start(program: &Path, shift: usize, cpus: usize, patience: Duration) -> Result<BenchProgram, BenchError> {
        let shown = program.display().to_string();
        let failed = |why: String| BenchError::Start { program: record::printable(&shown), why };
        let (requests, their_requests, answers, their_answers) = pipes().map_err(|error| failed(error.to_string()))?;
        let mut command = command_of(program);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .env(PIPES, format!("{},{}", their_requests.as_raw_fd(), their_answers.as_raw_fd()))
            .env(CPUS, cpus.to_string())
            .env(SHIFT, "x".repeat(shift));
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        drop((their_requests, their_answers));
        let Some(errors) = child.stderr.take().map(OwnedFd::from) else {
            return Err(failed("it has no standard error".into()));
        };
        let _ = fcntl_getfl(&errors).and_then(|flags| fcntl_setfl(&errors, flags | OFlags::NONBLOCK));
        let lines = Lines::of(answers, errors);
        let did = "started".to_owned();
        let mut started =
            BenchProgram { shown, child, requests: requests.into(), lines, patience, did, name: String::new() };
        started.greeted()?;
        Ok(started)
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn greeted(&mut self) -> Result<(), BenchError> {
        let patience = std::mem::replace(&mut self.patience, GREETING);
        let greeting = self.line();
        self.patience = patience;
        let greeting = match greeting {
            Err(BenchError::Late { program, .. }) => return Err(BenchError::Silent(program)),
            other => other?,
        };
        let mut words = greeting.split_whitespace();
        match (words.next(), words.next()) {
            (Some("howslow-bench"), Some(VERSION)) => Ok(()),
            (Some("howslow-bench"), Some(theirs)) => {
                let newer = theirs.parse::<f64>().is_ok_and(|theirs| theirs > 1.0);
                let older = if newer { "howslow" } else { "howslow-bench in the program" };
                Err(BenchError::Version { program: self.program(), theirs: record::printable(theirs), older })
            }
            _ => Err(self.garbled(&greeting)),
        }
    }

    pub fn list(&mut self) -> Result<Vec<Listed>, BenchError> {
        self.did = "listed its benchmarks".into();
        self.send("list")?;
        let mut all = Vec::new();
        loop {
            let line = self.line()?;
            match line.split_once(' ') {
                Some((word @ ("bench" | "ignored"), name)) => {
                    all.push(Listed { name: record::printable(name), ignored: word == "ignored" });
                }
                _ if line == "end" => return Ok(all),
                _ => return Err(self.garbled(&line)),
            }
        }
    }

    /// Sets a benchmark up, unless that fails or hangs.
    pub fn prepare(&mut self, name: &str) -> Result<Prepared, BenchError> {
        (self.did, self.name) = (format!("prepared {name}"), name.into());
        let line = self.answer(&format!("prepare {name}"), "ready")?;
        let number = |key: &str| value(&line, key);
        Ok(Prepared { bytes: number("bytes"), items: number("items"), threads: number("threads").unwrap_or(1) })
    }

    /// Runs iterations of the prepared benchmark. Fails if it fails or hangs.
    pub fn run(&mut self, times: u64) -> Result<Ran, BenchError> {
        if !self.did.starts_with("ran") {
            self.did = format!("ran {}", self.name);
        }
        let line = self.answer(&format!("run {times}"), "ran")?;
        match line.split_whitespace().next().and_then(|ns| ns.parse().ok()) {
            Some(elapsed) => Ok(Ran { elapsed, processor: value(&line, "cpu").map(|ns: u64| ns as f64) }),
            None => Err(self.garbled(&line)),
        }
    }

    /// Counts what iterations of the prepared benchmark allocate, after one that may do so only once. Returns their number, and in
    /// all of them the calls of the allocator, the bytes, and the bytes that are not given back; `None` if it does not count that.
    /// Fails if it fails or hangs.
    pub fn count(&mut self) -> Result<Option<(u64, [u64; 3])>, BenchError> {
        const COUNTED: u64 = 8;
        /// Of an iteration that takes longer, with its inputs, one is counted.
        const LONG: Duration = Duration::from_millis(20);
        let start = Instant::now();
        self.run(1)?;
        let times = if start.elapsed() > LONG { 1 } else { COUNTED };
        let line = self.answer(&format!("count {times}"), "counted")?;
        let [calls, bytes, kept] = ["allocations", "allocated", "kept"].map(|key| value(&line, key));
        Ok(calls.map(|calls| (times, [calls, bytes.unwrap_or(0), kept.unwrap_or(0)])))
    }

    /// The rest of an answer that begins with this word.
    fn answer(&mut self, request: &str, word: &str) -> Result<String, BenchError> {
        self.send(request)?;
        let line = self.line()?;
        if let Some(why) = line.strip_prefix("failed") {
            return Err(BenchError::Failed { name: self.name.clone(), why: record::printable(why.trim_start()) });
        }
        match line.strip_prefix(word) {
            Some(rest) if rest.is_empty() || rest.starts_with(' ') => Ok(rest.trim_start().to_owned()),
            _ => Err(self.garbled(&line)),
        }
    }

    fn send(&mut self, request: &str) -> Result<(), BenchError> {
        match self.requests.write_all(format!("{request}\n").as_bytes()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.died()),
        }
    }

    fn line(&mut self) -> Result<String, BenchError> {
        let child = &mut self.child;
        let mut waited = || child.try_wait().ok()?.is_none().then(|| waited_for_cpu(child.id()));
        match self.lines.next(self.patience, &mut waited) {
            Ok(line) => Ok(line),
            Err(NoLine::Ended) => Err(self.died()),
            Err(NoLine::TooLong) => Err(self.garbled("a line without an end")),
            Err(NoLine::Late) => Err(BenchError::Late {
                program: self.program(),
                seconds: self.patience.as_secs_f64(),
                did: self.did.clone(),
            }),
        }
    }

    fn program(&self) -> String {
        record::printable(&self.shown)
    }

    fn garbled(&self, answer: &str) -> BenchError {
        const SHOWN: usize = 60;
        let answer = record::printable(&answer.chars().take(SHOWN).collect::<String>());
        BenchError::Garbled { program: self.program(), answer, did: self.did.clone() }
    }

    fn died(&mut self) -> BenchError {
        /// A process that closed its pipes ends soon, or never.
        const SOON: u32 = 20;
        let ended = (0..SOON).find_map(|_| {
            let status = self.child.try_wait().ok().flatten();
            if status.is_none() {
                std::thread::sleep(Duration::from_millis(5));
            }
            status
        });
        let how = match ended.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => format!("ended with exit status {code}"),
            Some((None, signal)) => format!("was killed by signal {}", signal.unwrap_or(0)),
            None => "closed its pipes".into(),
        };
        let last = self.lines.last_error().map(|line| format!(": {}", record::printable(&line))).unwrap_or_default();
        BenchError::Died { program: self.program(), how, did: self.did.clone(), last }
    }
}

impl Drop for BenchProgram {
    fn drop(&mut self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How long a process has waited for a CPU since it began. Zero where the kernel does not report it.
fn waited_for_cpu(pid: u32) -> Duration {
    Duration::from_nanos(scheduled_ns(pid).map_or(0.0, |[_, waited]| waited) as u64)
}

/// A file of Python needs its interpreter, and not the right to be executed.
fn command_of(program: &Path) -> Command {
    if program.extension().is_none_or(|ending| ending != "py") {
        return Command::new(program);
    }
    let mut command = Command::new(std::env::var_os("HOWSLOW_PYTHON").unwrap_or_else(|| "python3".into()));
    command.arg(program);
    command
}

/// Both ends of a pipe for requests and of one for answers, ours first. Ours are closed by exec, and that of the answers does not wait
/// to be read; programs inherit theirs.
fn pipes() -> rustix::io::Result<(OwnedFd, OwnedFd, OwnedFd, OwnedFd)> {
    let (their_requests, requests) = pipe_with(PipeFlags::CLOEXEC)?;
    let (answers, their_answers) = pipe_with(PipeFlags::CLOEXEC)?;
    fcntl_setfl(&answers, fcntl_getfl(&answers)? | OFlags::NONBLOCK)?;
    fcntl_setfd(&their_requests, FdFlags::empty())?;
    fcntl_setfd(&their_answers, FdFlags::empty())?;
    Ok((requests, their_requests, answers, their_answers))
}

/// The number of `key=number` among the words of a line.
fn value<T: std::str::FromStr>(line: &str, key: &str) -> Option<T> {
    let found = line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    found.and_then(|number| number.parse().ok())
}
