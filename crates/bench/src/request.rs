//! Who requests batches while a benchmark is prepared: howslow, the plain estimate, or a test that runs it once.

use crate::allocations::Allocations;
use crate::counter::Counter;
use crate::rounds::Took;

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

#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Ran(Took),
    /// Allocations, if the program counts them and one thread ran.
    Counted(Option<Allocations>),
}

/// Requests batches.
pub(crate) trait Requester {
    /// The set-up is done.
    fn ready(&mut self, counter: Option<Counter>);
    fn next(&mut self) -> Request;
    fn answer(&mut self, answer: Answer);
}

/// Serves requests until there are no more. `batch` runs iterations in this many threads and returns what they took.
pub(crate) fn serve(
    requester: &mut dyn Requester,
    counter: Option<Counter>,
    threads: usize,
    batch: &mut dyn FnMut(u64) -> Took,
) {
    requester.ready(counter);
    loop {
        let answer = match requester.next() {
            Request::Run(times) => Answer::Ran(batch(times)),
            // Which allocations lie in timed parts is not known of several threads.
            Request::Count(_) if threads > 1 => Answer::Counted(None),
            Request::Count(times) => Answer::Counted(crate::allocations::counted(|| {
                batch(times);
            })),
            Request::Drop => return,
        };
        requester.answer(answer);
    }
}
