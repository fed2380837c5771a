//! What a benchmark is given: it states what to run, on what inputs, and gives the control to whoever requests batches.

use std::future::Future;
use std::mem::needs_drop;
use std::pin::Pin;

use crate::counter::Counter;
use crate::request::{Requester, serve};
use crate::rounds::{self, Outputs, TimedPart, Took};

/// Runs the code to be timed. What a benchmark does before it calls a method of this is set-up; what it does afterwards is
/// tear-down.
pub struct Bencher<'a> {
    requester: &'a mut dyn Requester,
    counter: Option<Counter>,
    threads: usize,
}

/// A [`Bencher`] whose iterations have inputs.
pub struct Inputs<'a, M> {
    bencher: Bencher<'a>,
    make: M,
}

/// A future that an executor is given.
type Boxed<'f> = Pin<Box<dyn Future<Output = ()> + 'f>>;

impl<'a> Bencher<'a> {
    pub(crate) fn new(requester: &'a mut dyn Requester, threads: usize) -> Bencher<'a> {
        Bencher { requester, counter: None, threads }
    }

    /// States what one iteration processes, so that a rate is shown.
    pub fn counter(self, counter: impl Into<Counter>) -> Bencher<'a> {
        Bencher { counter: Some(counter.into()), ..self }
    }

    /// Makes an input for every iteration, outside the timing.
    // Without a bound, so that the compiler finds out whether a closure may be called from several threads.
    pub fn with_inputs<M>(self, make: M) -> Inputs<'a, M> {
        Inputs { bencher: self, make }
    }

    /// Times `work`. Its output is dropped outside the timing.
    pub fn bench<O>(self, work: impl Fn() -> O + Sync) {
        match self.threads {
            1 => self.bench_local(&work),
            _ => self.in_threads(&|times| rounds::plain(times, &mut &work)),
        }
    }

    /// Times `work`, which may change what it captures, in one thread.
    pub fn bench_local<O>(self, mut work: impl FnMut() -> O) {
        self.serve_in_one_thread(&mut |times| rounds::plain(times, &mut work));
    }

    /// Times futures. `block_on` runs a future to its end, such as `|future| runtime.block_on(future)`; it runs once for
    /// many iterations.
    pub fn bench_async<O, F: Future<Output = O>>(self, block_on: impl FnMut(Boxed<'_>), mut work: impl FnMut() -> F) {
        self.with_inputs(|| ()).bench_async(block_on, |()| work());
    }

    /// Times `work` on a copy of an argument of the attribute. One that owns something is copied outside the timing; any other is
    /// copied in the loop, which costs less there than a list of copies.
    #[doc(hidden)]
    pub fn bench_argument<I: Clone + Sync, O>(self, argument: &I, work: impl Fn(I) -> O + Sync) {
        if needs_drop::<I>() {
            self.with_inputs(|| argument.clone()).bench_values(work);
        } else {
            self.bench(|| work(argument.clone()));
        }
    }

    fn in_threads(self, batch: &(dyn Fn(u64) -> Took + Sync)) {
        let threads = self.threads;
        serve(self.requester, self.counter, threads, &mut |times| rounds::threaded(threads, &|| batch(times)));
    }

    fn serve_in_one_thread(self, batch: &mut dyn FnMut(u64) -> Took) {
        assert!(
            self.threads == 1,
            "with threads = ..., call bench, bench_values or bench_refs: this method runs one thread"
        );
        serve(self.requester, self.counter, 1, batch);
    }
}

impl<'a, M> Inputs<'a, M> {
    /// States what one iteration processes.
    pub fn counter(self, counter: impl Into<Counter>) -> Inputs<'a, M> {
        Inputs { bencher: self.bencher.counter(counter), ..self }
    }

    /// States what one iteration processes, by an input.
    pub fn input_counter<I, C: Into<Counter>>(mut self, count: impl FnOnce(&I) -> C) -> Inputs<'a, M>
    where
        M: FnMut() -> I,
    {
        let counter = count(&(self.make)());
        self.counter(counter)
    }

    /// Times `work` on inputs that it takes.
    pub fn bench_values<I, O>(self, work: impl Fn(I) -> O + Sync)
    where
        M: Fn() -> I + Sync,
    {
        let Inputs { bencher, make } = self;
        match bencher.threads {
            1 => Inputs { bencher, make }.bench_local_values(&work),
            _ => bencher.in_threads(&|times| rounds::on_values(times, &mut &make, &mut &work)),
        }
    }

    /// Times `work` on inputs that it borrows. They are dropped outside the timing.
    pub fn bench_refs<I, O>(self, work: impl Fn(&mut I) -> O + Sync)
    where
        M: Fn() -> I + Sync,
    {
        let Inputs { bencher, make } = self;
        match bencher.threads {
            1 => Inputs { bencher, make }.bench_local_refs(&work),
            _ => bencher.in_threads(&|times| rounds::on_refs(times, &mut &make, &mut |input: &mut I| work(input))),
        }
    }

    /// [`Inputs::bench_values`] in one thread, with a `work` that may change what it captures.
    pub fn bench_local_values<I, O>(mut self, mut work: impl FnMut(I) -> O)
    where
        M: FnMut() -> I,
    {
        self.bencher.serve_in_one_thread(&mut |times| rounds::on_values(times, &mut self.make, &mut work));
    }

    /// [`Inputs::bench_refs`] in one thread, with a `work` that may change what it captures.
    pub fn bench_local_refs<I, O>(mut self, mut work: impl FnMut(&mut I) -> O)
    where
        M: FnMut() -> I,
    {
        self.bencher.serve_in_one_thread(&mut |times| rounds::on_refs(times, &mut self.make, &mut work));
    }

    /// Times futures, each with an input; see [`Bencher::bench_async`]. Inputs are made outside the timing.
    pub fn bench_async<I, O, F: Future<Output = O>>(
        mut self,
        mut block_on: impl FnMut(Boxed<'_>),
        mut work: impl FnMut(I) -> F,
    ) where
        M: FnMut() -> I,
    {
        let mut batch = |part| {
            let mut inputs: Vec<I> = (0..part).map(|_| (self.make)()).collect();
            let mut took = Took::NOTHING;
            // Timed inside of the future, so that entering and leaving the executor is not.
            block_on(Box::pin(async {
                let mut outputs = Outputs::with_room(part);
                let timed = TimedPart::begin();
                for input in inputs.drain(..) {
                    outputs.keep(work(input).await);
                }
                took = timed.end();
            }));
            took
        };
        self.bencher.serve_in_one_thread(&mut |times| rounds::in_parts::<(I, O)>(times, &mut batch));
    }
}
