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

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let tests: Vec<Trial> =
        [apart::tests(), faults::tests(), count::tests(), crew::tests(), kills::tests(), stuck::tests()]
            .into_iter()
            .flatten()
            .collect();
    libtest_mimic::run(&arguments, tests).exit();
}
