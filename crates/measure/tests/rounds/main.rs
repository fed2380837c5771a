//! Rounds in real processes: what crashes, hangs, multiplies or is killed loses its round and leaves nothing behind.
//!
//! The harness runs one test after the other in the only thread there is: taking costs forks.

mod apart;
mod count;
mod faults;
mod kills;
mod stuck;
mod support;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let tests: Vec<Trial> = [apart::tests(), faults::tests(), count::tests(), kills::tests(), stuck::tests()]
        .into_iter()
        .flatten()
        .collect();
    libtest_mimic::run(&arguments, tests).exit();
}
