//! The program's side of the protocol with howslow: lines over two pipes, described in docs/BENCH.md.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{FromRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::bencher::Bencher;
use crate::counter::Counter;
use crate::entry::{self, Benchmark};
use crate::request::{Answer, Request, Requester};

/// howslow names its two descriptors here: the one to read, a comma, and the one to write.
pub(crate) const PIPES: &str = "HOWSLOW_BENCH";
/// howslow moves the heap by this many times 16 bytes, and the stack by the length of the text.
const SHIFT: &str = "HOWSLOW_BENCH_SHIFT";
/// The loop around nothing.
const EMPTY: &str = "-";

struct Pipes {
    requests: BufReader<File>,
    answers: File,
    /// True while a benchmark is prepared.
    ready: bool,
    threads: usize,
}

/// Serves howslow until it has no more requests.
///
/// # Errors
/// If the descriptors are not there.
pub(crate) fn serve(descriptors: &str) -> Result<(), String> {
    let mut pipes = Pipes::open(descriptors)?;
    if let Some(shift) = std::env::var_os(SHIFT) {
        std::mem::forget(vec![1_u8; shift.len() * 16]);
    }
    pipes.send(&format!("howslow-bench 1 rust {}", env!("CARGO_PKG_VERSION")));
    let all = entry::all();
    while let Some(line) = pipes.line() {
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("list", _) => {
                for benchmark in &all {
                    let ignored = if benchmark.ignored { "ignored" } else { "bench" };
                    pipes.send(&format!("{ignored} {}", benchmark.name));
                }
                pipes.send("end");
            }
            ("prepare", EMPTY) => pipes.run(&Benchmark::empty()),
            ("prepare", name) => match all.iter().find(|benchmark| benchmark.name == name) {
                Some(benchmark) => pipes.run(benchmark),
                None => pipes.send("failed there is no such benchmark"),
            },
            ("quit", _) => break,
            _ => pipes.send("failed no such request"),
        }
    }
    Ok(())
}

impl Pipes {
    fn open(descriptors: &str) -> Result<Pipes, String> {
        let wrong = || format!("{PIPES}={descriptors}: howslow sets it to two descriptors; unset it to run by hand");
        let numbers = descriptors.split_once(',').and_then(|(one, two)| Some((one.parse().ok()?, two.parse().ok()?)));
        let (requests, answers): (RawFd, RawFd) =
            numbers.filter(|(one, two)| *one > 2 && *two > 2 && one != two).ok_or_else(wrong)?;
        // Copies are closed where the benchmark starts other programs.
        let own = |number: RawFd| {
            // SAFETY: whoever set the variable hands this descriptor over, and nothing else here uses it.
            let given = unsafe { File::from_raw_fd(number) };
            // A descriptor that is not open cannot be copied, and must not be closed.
            let copy = given.try_clone();
            if copy.is_err() {
                std::mem::forget(given);
            }
            copy.map_err(|_| wrong())
        };
        let (requests, answers) = (own(requests)?, own(answers)?);
        Ok(Pipes { requests: BufReader::new(requests), answers, ready: false, threads: 1 })
    }

    /// The next request; `None` if howslow has gone.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.requests.read_line(&mut line).unwrap_or(0);
        (read > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    fn send(&mut self, line: &str) {
        // If howslow has gone, the next request shows it.
        let _ = self.answers.write_all(format!("{line}\n").as_bytes());
    }

    /// Prepares a benchmark and serves requests for it. A panic is reported as the answer to the request that met it.
    fn run(&mut self, benchmark: &Benchmark) {
        (self.ready, self.threads) = (false, benchmark.threads);
        let bencher_of = |pipes: &mut Pipes| benchmark.run(Bencher::new(pipes, benchmark.threads));
        match catch_unwind(AssertUnwindSafe(|| bencher_of(self))) {
            Ok(()) if self.ready => self.send("dropped"),
            Ok(()) => self.send("failed it returned without calling a method of its Bencher"),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
                let text = text.unwrap_or("without a message").replace(char::is_control, " ");
                self.send(&format!("failed it panicked: {text}"));
            }
        }
    }
}

impl Requester for Pipes {
    fn ready(&mut self, counter: Option<Counter>) {
        self.ready = true;
        let counter = counter.map(|counter| format!(" {counter}")).unwrap_or_default();
        self.send(&format!("ready threads={}{counter}", self.threads));
    }

    fn next(&mut self) -> Request {
        loop {
            let Some(line) = self.line() else { return Request::Drop };
            let (word, count) = line.split_once(' ').unwrap_or((&line, ""));
            match (word, count.parse()) {
                ("run", Ok(times)) => return Request::Run(times),
                ("count", Ok(times)) => return Request::Count(times),
                ("drop", _) => return Request::Drop,
                _ => self.send("failed no such request"),
            }
        }
    }

    fn answer(&mut self, answer: Answer) {
        let line = match answer {
            Answer::Ran(took) => {
                let used = took.processor.map(|used| format!(" cpu={used}"));
                format!("ran {}{}", took.elapsed.as_nanos(), used.unwrap_or_default())
            }
            Answer::Counted(None) => "counted".into(),
            Answer::Counted(Some(all)) => {
                format!("counted allocations={} allocated={} kept={}", all.calls, all.allocated, all.kept)
            }
        };
        self.send(&line);
    }
}
