//! Which harness a program is of, and how it is run for a short time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Who wrote the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Harness {
    /// A program that speaks howslow's protocol.
    Own,
    Criterion,
    Divan,
    Google,
    Go,
}

/// A text that every program of a harness contains; the last one if Google's is linked dynamically.
const MARKS: [(&str, Harness); 6] = [
    ("HOWSLOW_BENCH", Harness::Own),
    ("CRITERION_HOME", Harness::Criterion),
    ("DIVAN_MIN_TIME", Harness::Divan),
    ("benchmark_min_time", Harness::Google),
    ("test.benchtime", Harness::Go),
    ("_ZN9benchmark", Harness::Google),
];

/// Seconds of one benchmark in one run.
const SHORT: f64 = 0.1;

impl Harness {
    /// The harness of a program. A script is taken for one that speaks the protocol.
    pub fn of(program: &Path) -> Option<Harness> {
        let bytes = fs::read(program).ok()?;
        if !bytes.starts_with(b"\x7fELF") {
            return Some(Harness::Own);
        }
        MARKS.iter().find(|(mark, _)| contains(&bytes, mark.as_bytes())).map(|(_, harness)| *harness)
    }

    pub fn name(self) -> &'static str {
        match self {
            Harness::Own => "howslow-bench",
            Harness::Criterion => "criterion",
            Harness::Divan => "divan",
            Harness::Google => "Google Benchmark",
            Harness::Go => "go test",
        }
    }

    /// One short run of the benchmarks that these filters name.
    pub fn command(self, program: &Path, filters: &[String], folder: &Path) -> Command {
        let mut command = Command::new(program);
        let pattern = if filters.is_empty() { ".".to_owned() } else { filters.join("|") };
        let seconds = SHORT.to_string();
        match self {
            Harness::Own => {}
            Harness::Criterion => {
                command.args(["--bench", "--noplot", "--discard-baseline", "--warm-up-time", "0.02"]);
                command.args(["--sample-size", "10"]);
                command.args(["--nresamples", "1000", "--measurement-time", &seconds, &pattern]);
                command.env("CRITERION_HOME", folder);
            }
            Harness::Divan => {
                command.args(["--bench", "--color", "never", "--min-time", &seconds, "--max-time", &seconds]);
                command.args(filters);
            }
            Harness::Google => {
                command.args(["--benchmark_format=json", &format!("--benchmark_min_time={seconds}")]);
                command.arg(format!("--benchmark_filter={pattern}"));
            }
            Harness::Go => {
                command.args(["-test.run=^$", &format!("-test.benchtime={seconds}s"), "-test.count=1"]);
                command.arg(format!("-test.bench={pattern}"));
            }
        }
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

fn contains(bytes: &[u8], mark: &[u8]) -> bool {
    bytes.windows(mark.len()).any(|window| window == mark)
}
