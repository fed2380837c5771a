//! Rounds in real processes: a round that crashes, hangs, multiplies or is killed is lost, and leaves nothing behind.
//!
//! The harness runs the tests one after the other in its only thread, because measuring forks.

mod apart;
mod count;
mod crew;
mod faults;
mod kills;
mod stuck;
mod support;

use std::panic::catch_unwind;
use std::process::ExitCode;

/// Runs the tests whose names have one of the words of the command line, or all; with `--list`, names them.
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let lists = words.iter().any(|word| word == "--list");
    let words: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let tests = [apart::tests(), faults::tests(), count::tests(), crew::tests(), kills::tests(), stuck::tests()];
    let mut failed = 0;
    for (name, run) in tests.concat() {
        if !words.is_empty() && !words.iter().any(|word| name.contains(*word)) {
            continue;
        }
        if lists {
            println!("{name}: test");
            continue;
        }
        let result = match catch_unwind(run) {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err("it panicked".into()),
        };
        println!(
            "test {name} ... {}",
            result.as_ref().map_or_else(|error| format!("FAILED: {error}"), |()| "ok".into())
        );
        failed += u32::from(result.is_err());
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
