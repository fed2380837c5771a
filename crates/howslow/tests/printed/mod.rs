//! The run that a command printed as JSON.

use std::process::Output;

use record::Run;

/// The run; the exit status says whether all of it was measured.
pub fn run_of(output: &Output) -> Run {
    let run = record::run_from_bytes(&output.stdout);
    let run = run.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(output.status.code(), Some(if run.skipped.is_empty() { 0 } else { 3 }), "{:?}", run.skipped);
    run
}
