//! Shapes of loops: a call that is tried once, a call that alternates between two values, a call that creates or consumes
//! something in every iteration.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use operation::{Failure, Loop, Pauses, repeat};
use rustix::process::{Resource, getrlimit};

use super::check::{answered, exactly};
use super::invoke::owned;

/// The most descriptors, mappings and the like that one batch creates or consumes: a quarter of the usual limit on open
/// files.
pub(crate) const STOCK: u64 = 256;

/// Files created in one batch, and batches of them in a round. On some file systems each file makes the next more
/// expensive.
pub(crate) const FILES: u64 = 16;

/// Handles on one value, for the closures of a loop.
pub(crate) fn handles<T, const N: usize>(value: T) -> [Rc<T>; N] {
    let value = Rc::new(value);
    std::array::from_fn(|_| Rc::clone(&value))
}

/// A loop, after one trial has shown that the kernel allows its calls. From then on a refusal is an error.
#[inline(never)]
pub(crate) fn tried(mut looped: Loop) -> Result<Loop, Failure> {
    looped.perform(1)?;
    Ok(looped)
}

/// A loop whose body may pause. Its pauses do not count.
#[inline(always)]
pub(crate) fn pausing(mut body: impl FnMut(&Pauses) -> Result<(), Failure> + 'static) -> Loop {
    let pauses = Pauses::calibrated();
    let waits = pauses.clone();
    repeat(move || body(&waits)).excluding(pauses)
}

/// A loop of a call that must return zero. The call is tried once first. Fails with the error of the first call.
#[inline(always)]
pub(crate) fn steady(request: impl FnMut() -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    steadily(0, request)
}

/// A loop of a call that must return this value. The call is tried once first. Fails with the error of the first call.
#[inline(always)]
pub(crate) fn steadily(
    wanted: usize,
    mut request: impl FnMut() -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    tried(repeat(move || exactly(wanted, request()?)))
}

/// A loop of a call that must return zero, and of what it works on: memory, descriptors and the like, which live as long.
/// The call is tried once first. Fails with the error of the first call.
#[inline(always)]
pub(crate) fn steady_with<M: 'static>(
    memory: M,
    request: impl FnMut(&mut M) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    steadily_with(0, memory, request)
}

/// The same, of a call that must return this value.
#[inline(always)]
pub(crate) fn steadily_with<M: 'static>(
    wanted: usize,
    mut memory: M,
    mut request: impl FnMut(&mut M) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    steadily(wanted, move || request(&mut memory))
}

/// A loop of two calls that undo each other, of which each counts. Both are tried once first.
#[inline(always)]
pub(crate) fn back_and_forth(turn: impl FnMut() -> Result<(), Failure> + 'static) -> Result<Loop, Failure> {
    Ok(tried(repeat(turn))?.unrolled(2))
}

/// A loop of an act on another part of `whole` in each iteration, which `before` prepares before the batch.
#[inline(always)]
pub(crate) fn refilled<W: 'static>(
    most: u64,
    whole: W,
    before: impl Fn(&W, usize) -> Result<(), Failure> + 'static,
    act: impl Fn(&W, usize) -> Result<(), Failure> + 'static,
) -> Result<Loop, Failure> {
    let [whole, filled] = handles(whole);
    let acts = numbered(move |turn| act(&whole, turn)).at_most(most);
    tried(acts.before(for_each(move |turn| before(&filled, turn))))
}

/// A loop of an act on another part of `whole` in each iteration, which `after` undoes after the batch.
#[inline(always)]
pub(crate) fn emptied<W: 'static>(
    most: u64,
    whole: W,
    act: impl Fn(&W, usize) -> Result<(), Failure> + 'static,
    after: impl Fn(&W, usize) -> Result<(), Failure> + 'static,
) -> Result<Loop, Failure> {
    let [whole, undone] = handles(whole);
    let [next, done] = handles(Cell::new(0));
    // Where several batches come before `after`, each goes on where the last one ended.
    let acts = Loop::new(move |times| {
        let first = next.get();
        next.set(first + times as usize);
        (first..next.get()).try_for_each(|turn| act(&whole, turn))
    });
    tried(acts.at_most(most).verify(move |_| (0..done.take()).try_for_each(|turn| after(&undone, turn))))
}

/// A loop of an act on another new thing in each iteration. `make` makes this number of them before a batch, and `check`
/// receives them after it.
#[inline(always)]
pub(crate) fn on_each<T: 'static>(
    mut make: impl FnMut(u64) -> Result<Vec<T>, Failure> + 'static,
    mut act: impl FnMut(&T) -> Result<(), Failure> + 'static,
    mut check: impl FnMut(Vec<T>) -> Result<(), Failure> + 'static,
) -> Loop {
    let [things, made, done] = handles(RefCell::new(Vec::new()));
    let acts = Loop::new(move |times| {
        let things = things.borrow();
        things.iter().take(times as usize).try_for_each(&mut act)
    });
    let acts = acts.before(move |times| {
        made.replace(make(times)?);
        Ok(())
    });
    acts.verify(move |_| check(done.take()))
}

/// A loop of a call that fails every time with the same one of these errors. Fails with any other error of the first
/// call, or its success.
pub(crate) fn refusing(
    errors: &'static [i32],
    mut request: impl FnMut() -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    match request() {
        Err(Failure::Errno { errno }) if errors.contains(&errno) => Ok(repeat(move || answered(errno, request()))),
        Err(other) => Err(other),
        Ok(_) => Err(Failure::wrong("a call succeeded that must be refused")),
    }
}

/// A loop of a call that must return zero, with two values in turn. The kernel may skip the work if a value is set that is
/// already set. Fails with the error of the first call.
#[inline(always)]
pub(crate) fn turning<V: Copy + 'static>(
    values: [V; 2],
    mut set: impl FnMut(V) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    let mut next = false;
    tried(repeat(move || {
        exactly(0, set(values[usize::from(next)])?)?;
        next = !next;
        Ok(())
    }))
}

/// The number of things that one batch creates or consumes, each of two descriptors at most. Raises the limit on
/// descriptors to the hard limit of this process.
pub(crate) fn at_once() -> u64 {
    const OTHERS: u64 = 64;
    if getrlimit(Resource::Nofile).current.is_some_and(|current| current < 2 * STOCK + OTHERS) {
        // If it cannot be raised, the batches are shorter.
        system::machine::raise_open_files();
    }
    let current = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (current.saturating_sub(OTHERS) / 2).clamp(1, STOCK)
}

/// A loop that receives the number of each iteration within its batch.
#[inline(always)]
pub(crate) fn numbered(mut body: impl FnMut(usize) -> Result<(), Failure> + 'static) -> Loop {
    Loop::new(move |times| (0..times as usize).try_for_each(&mut body))
}

/// Calls `body` for each iteration of a batch, before or after the batch.
pub(crate) fn for_each(
    mut body: impl FnMut(usize) -> Result<(), Failure> + 'static,
) -> impl FnMut(u64) -> Result<(), Failure> + 'static {
    move |times| (0..times as usize).try_for_each(&mut body)
}

/// A loop that creates one thing per iteration. They are dropped after the batch, outside the timed region.
#[inline(always)]
pub(crate) fn producing<T: 'static>(mut produce: impl FnMut() -> Result<T, Failure> + 'static) -> Loop {
    let [stock, made] = handles(RefCell::new(Vec::with_capacity(STOCK as usize)));
    Loop::new(move |times| {
        let mut stock = stock.borrow_mut();
        for _ in 0..times {
            stock.push(produce()?);
        }
        Ok(())
    })
    .at_most(at_once())
    .verify(move |times| {
        let made: Vec<T> = made.borrow_mut().drain(..).collect();
        exactly(times as usize, made.len())
    })
}

/// A loop of a call that opens a descriptor.
#[inline(always)]
pub(crate) fn opening(mut open: impl FnMut() -> Result<usize, Failure> + 'static) -> Result<Loop, Failure> {
    tried(producing(move || Ok(owned(open()?))))
}

/// A loop that consumes or transforms one thing per iteration. The things are created before the batch, and the results are
/// dropped after it, both outside the timed region.
#[inline(always)]
pub(crate) fn consuming<T: 'static, U: 'static>(
    mut make: impl FnMut() -> Result<T, Failure> + 'static,
    mut consume: impl FnMut(T) -> Result<U, Failure> + 'static,
) -> Loop {
    let [stock, made] = handles(RefCell::new(Vec::with_capacity(STOCK as usize)));
    let [results, finished] = handles(RefCell::new(Vec::with_capacity(STOCK as usize)));
    Loop::new(move |times| {
        let mut results = results.borrow_mut();
        for thing in stock.borrow_mut().drain(..times as usize) {
            results.push(consume(thing)?);
        }
        Ok(())
    })
    .at_most(at_once())
    .before(move |times| {
        let mut stock = made.borrow_mut();
        stock.clear();
        for _ in 0..times {
            stock.push(make()?);
        }
        Ok(())
    })
    .verify(move |times| {
        let finished: Vec<U> = finished.borrow_mut().drain(..).collect();
        exactly(times as usize, finished.len())
    })
}
