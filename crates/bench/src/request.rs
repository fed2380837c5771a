//! Who requests batches while a benchmark is prepared: howslow, the plain estimate, or a test that runs it once.

use std::time::Duration;

use crate::allocations::Allocations;
use crate::counter::Counter;

/// What a prepared benchmark has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Time this many iterations.
    Run(u64),
    /// Count the allocations of this many iterations.
    Count(u64),
    /// Nothing more.
    Drop,
}

/// What it answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// Elapsed time.
    Ran(Duration),
    /// Allocations, if the program counts them.
    Counted(Option<Allocations>),
}

/// Requests batches.
pub(crate) trait Requester {
    /// The set-up is done.
    fn ready(&mut self, counter: Option<Counter>);
    /// The next request.
    fn next(&mut self) -> Request;
    /// The answer to it.
    fn answer(&mut self, answer: Answer);
}

/// Serves requests until there are no more. `batch` runs iterations and returns what they took.
pub(crate) fn serve(requester: &mut dyn Requester, counter: Option<Counter>, batch: &mut dyn FnMut(u64) -> Duration) {
    requester.ready(counter);
    loop {
        let answer = match requester.next() {
            Request::Run(times) => Answer::Ran(batch(times)),
            Request::Count(times) => Answer::Counted(crate::allocations::counted(|| {
                batch(times);
            })),
            Request::Drop => return,
        };
        requester.answer(answer);
    }
}
