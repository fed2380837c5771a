//! What the tests of all crates share: a test that cannot run here reports what is missing; programs that tests write and execute;
//! fleets of machines.
//!
//! ```should_panic
//! // Where HOWSLOW_EVERY_TEST is set, as in CI, a test that cannot run fails.
//! # // SAFETY: this program has one thread.
//! # unsafe { std::env::set_var("HOWSLOW_EVERY_TEST", "1") };
//! howslow_testing::not_tested!("strace is not installed; apt-get install {}", "strace");
//! ```
#![forbid(unsafe_code)]

pub mod fleet;

use std::fmt::Arguments;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT};

/// If this variable is set, every test must run: a test that cannot run fails.
const EVERY_TEST: &str = "HOWSLOW_EVERY_TEST";

/// The variable that names the parts of the tests that are left to `.ci/nightly`, such as `systems slurm`.
const LATER: &str = "HOWSLOW_LATER";

/// True if this part is left to `.ci/nightly`; prints so.
pub fn is_for_later(part: &str) -> bool {
    let later = std::env::var(LATER).is_ok_and(|parts| parts.split(' ').any(|named| named == part));
    if later {
        eprintln!("left to .ci/nightly {part}");
    }
    later
}

/// Reports that something could not be tested and what would make it testable, and panics where every test must run.
#[macro_export]
macro_rules! not_tested {
    ($($why:tt)*) => {
        $crate::report(format_args!($($why)*))
    };
}

/// Reports that one of the many things that a test goes over cannot be had on this machine: a point for more CPUs, a call that
/// this kernel lacks. The test runs without it, in CI too.
#[macro_export]
macro_rules! left_out {
    ($($why:tt)*) => {
        eprintln!("left out: {}", format_args!($($why)*))
    };
}

/// What `not_tested!` does.
///
/// # Panics
/// If `HOWSLOW_EVERY_TEST` is set.
pub fn report(why: Arguments<'_>) {
    assert!(std::env::var_os(EVERY_TEST).is_none(), "{EVERY_TEST} is set, and this could not be tested: {why}");
    eprintln!("not tested: {why}");
}

/// Makes Ctrl-C and hang-ups reach what a test starts, also where the tests run in the background of a script or under `nohup`: a shell that
/// has no terminal starts such a command with SIGINT and SIGQUIT ignored, `nohup` with SIGHUP, and its children inherit that. A handler of
/// this process ends with `exec`.
///
/// # Panics
/// If this process may not handle a signal.
pub fn interruptible() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    for signal in [SIGHUP, SIGINT, SIGQUIT] {
        if ignored.is_some_and(|signals| signals >> (signal - 1) & 1 == 1) {
            signal_hook::flag::register(signal, Arc::default()).expect("a handler");
        }
    }
}

/// Writes an executable file of these bytes.
///
/// Another process writes it. A test that wrote it itself would now and then fail to execute it ("Text file busy"): a child
/// that another thread of the tests starts meanwhile holds the file open for writing until it executes its own program.
///
/// # Panics
/// If it cannot be written.
pub fn executable(path: &Path, mut bytes: impl Read) {
    let mut command = Command::new("install");
    let installing = command.args(["-m", "755", "/dev/stdin"]).arg(path).stdin(Stdio::piped()).spawn();
    let mut installing = installing.expect("install starts");
    std::io::copy(&mut bytes, &mut installing.stdin.take().expect("a pipe")).expect("it reads");
    assert!(installing.wait().expect("our child").success(), "{} was not written", path.display());
}
