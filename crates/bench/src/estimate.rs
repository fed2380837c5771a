//! Plain times, for where howslow is not installed; and one run of everything, for `cargo test --benches`.

use std::time::{Duration, Instant};

use crate::allocations::Allocations;
use crate::bencher::Bencher;
use crate::counter::Counter;
use crate::entry::Benchmark;
use crate::request::{Answer, Request, Requester};

/// Time for one benchmark.
const BUDGET: Duration = Duration::from_millis(500);
/// The shortest batch.
const BATCH: Duration = Duration::from_millis(1);

/// Finds a count, takes batches until the time is over, and counts allocations once.
#[derive(Default)]
struct Plain {
    times: u64,
    counted: bool,
    start: Option<Instant>,
    /// ns per iteration of each batch.
    batches: Vec<f64>,
    allocations: Option<Allocations>,
    counter: Option<Counter>,
}

impl Plain {
    fn is_late(&self) -> bool {
        self.start.is_some_and(|start| start.elapsed() > BUDGET)
    }
}

impl Requester for Plain {
    fn ready(&mut self, counter: Option<Counter>) {
        (self.counter, self.start, self.times) = (counter, Some(Instant::now()), 1);
    }

    fn next(&mut self) -> Request {
        match (self.is_late() && !self.batches.is_empty(), self.counted) {
            (true, true) => Request::Drop,
            (true, false) => {
                self.counted = true;
                Request::Count(1)
            }
            (false, _) => Request::Run(self.times),
        }
    }

    fn answer(&mut self, answer: Answer) {
        match answer {
            // What is not timed, such as making inputs, may take much longer.
            Answer::Ran(took)
                if took.elapsed < BATCH && self.batches.is_empty() && !self.is_late() && self.times < 1 << 40 =>
            {
                self.times *= 2;
            }
            Answer::Ran(took) => self.batches.push(took.elapsed.as_nanos() as f64 / self.times as f64),
            Answer::Counted(allocations) => self.allocations = allocations,
        }
    }
}

struct Once {
    ran: bool,
}

impl Requester for Once {
    fn ready(&mut self, _: Option<Counter>) {}

    fn next(&mut self) -> Request {
        if self.ran { Request::Drop } else { Request::Run(1) }
    }

    fn answer(&mut self, _: Answer) {
        self.ran = true;
    }
}

/// Runs a benchmark once, as a test. Returns false if it never said what to run.
pub(crate) fn once(benchmark: &Benchmark) -> bool {
    let mut once = Once { ran: false };
    benchmark.run(Bencher::new(&mut once, benchmark.threads));
    once.ran
}

/// One line about a benchmark.
pub(crate) fn plain(benchmark: &Benchmark) -> String {
    let mut plain = Plain::default();
    benchmark.run(Bencher::new(&mut plain, benchmark.threads));
    plain.batches.sort_by(f64::total_cmp);
    let Some(&least) = plain.batches.first() else {
        return format!("{}: it never called a method of its Bencher", benchmark.name);
    };
    let median = plain.batches[plain.batches.len() / 2];
    let rate = plain.counter.map(|counter| match counter {
        Counter::Bytes(bytes) => format!("  {:.1} MB/s", bytes as f64 / median * 1e3),
        Counter::Items(items) => format!("  {:.3} M items/s", items as f64 / median * 1e3),
    });
    let allocations = plain.allocations.map(|all| format!("  {} allocations, {} B", all.calls, all.allocated));
    let (rate, allocations) = (rate.unwrap_or_default(), allocations.unwrap_or_default());
    format!("{}: {} (least {}){rate}{allocations}", benchmark.name, shown(median), shown(least))
}

fn shown(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.3} ns"),
        ns if ns < 1e6 => format!("{:.3} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.3} ms", ns / 1e6),
        ns => format!("{:.3} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds::Took;

    #[test]
    fn the_count_grows_until_a_batch_is_long_enough_and_stays() {
        let ran = |micros| Answer::Ran(Took { elapsed: Duration::from_micros(micros), processor: None });
        let mut plain = Plain::default();
        plain.ready(None);
        // However long the test takes, the time is not over.
        plain.start = Instant::now().checked_add(Duration::from_secs(3600));
        for times in [1, 2, 4] {
            assert_eq!(plain.next(), Request::Run(times));
            plain.answer(ran(10));
        }
        assert_eq!(plain.next(), Request::Run(8));
        plain.answer(ran(2000));
        plain.answer(ran(10));
        assert_eq!((plain.times, plain.batches.clone()), (8, vec![250_000.0, 1250.0]));
        plain.start = Instant::now().checked_sub(2 * BUDGET);
        assert_eq!([plain.next(), plain.next()], [Request::Count(1), Request::Drop]);
    }

    #[test]
    fn inputs_that_take_all_the_time_end_the_growth() {
        let start = Instant::now().checked_sub(2 * BUDGET);
        let mut plain = Plain { times: 4, start, ..Plain::default() };
        plain.answer(Answer::Ran(Took { elapsed: Duration::from_micros(1), processor: None }));
        assert_eq!((plain.next(), plain.batches), (Request::Count(1), vec![250.0]));
    }
}
