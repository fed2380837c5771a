//! What counting by programs costs a call: a thread makes calls while the programs are attached and while they are not. They
//! have tables of their own, so that nothing of it is in the bill.

use std::io;
use std::thread;
use std::time::Instant;

use rustix::fs::{Access, access};
use rustix::process::getppid;

use analysis::statistics::median;

use super::added::{Added, are_enough};
use super::touched::Touched;
use super::{sampled, switched};
use crate::bpf::{Counting, Programs, Whom, keep_statistics};
use crate::counts::{Call, Counts};
use crate::target::Options;
use crate::usage::this_thread;

/// Calls of a batch, which takes about 0.1 ms.
const CALLS: u32 = 100;
/// The memory in bytes that is written between two calls: what the first cache of a core holds.
const OWN: usize = 32 << 10;
/// The quickest of this many batches is taken, so that other programs matter less.
const BATCHES: u32 = 3;
/// Batches by which samples are timed: some 15 of these.
const SAMPLED_BATCHES: usize = 10;
/// The calls of [`plain`] and [`named`].
#[cfg(target_arch = "x86_64")]
const MADE: [i64; 2] = [libc::SYS_getppid, libc::SYS_access];
#[cfg(not(target_arch = "x86_64"))]
const MADE: [i64; 2] = [libc::SYS_getppid, libc::SYS_faccessat];
/// Records for the thread that makes the calls.
const RECORDS: usize = 16;

/// What being counted by these programs adds to a call. Pairs are left out when the time is over.
/// Fails if the programs cannot be loaded, attached, or run on demand.
pub(crate) fn counted_calls(whom: Whom, options: &Options) -> io::Result<Added> {
    let (mut counting, programs) = Counting::new(whom, RECORDS, options)?;
    counting.attach_end(&programs)?;
    let timed = || alternate(&mut counting, &programs);
    thread::scope(|scope| scope.spawn(timed).join()).unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}

/// The pairs, of which every other one begins with what is counted, so that a drift of the machine adds to neither.
fn alternate(counting: &mut Counting, programs: &Programs) -> io::Result<Added> {
    programs.enrol()?;
    let (mut entry_ns, mut fault_entry_ns) = ([Vec::new(), Vec::new()], Vec::new());
    let mut sampled = Counts::default();
    let mut memory = Touched::new()?;
    let begun = Instant::now();
    let mut added = Added { method: "calls of its own, alternately counted and not", ..Added::default() };
    let mut attached = None;
    batch(plain);
    batch(named);
    while !are_enough(added.plain.len(), begun.elapsed()) {
        let pair = added.plain.len();
        let (mut times, mut unused, mut inside) = ([[0.0; 2]; 2], [0.0; 2], [None; 2]);
        for turn in 0..2 {
            let is_counted = (pair + turn) % 2 == 1;
            match is_counted {
                true if attached.is_none() => attached = Some(programs.attach_calls()?),
                true => {}
                false => attached = None,
            }
            times[usize::from(is_counted)] = [quickest(plain), quickest(named)];
            unused[usize::from(is_counted)] = quickest(nothing);
            if is_counted && let Some(_sampling) = programs.attach_sampling() {
                counting.sample_few()?;
                added.sampled.push(quickest(plain) - times[1][0]);
                let seen = sampled_batches(counting, || {
                    batch(plain);
                    batch(named);
                })?;
                inside = MADE.map(|call| mean_sample_ns(&seen, call));
                sampled.add(&seen);
            }
        }
        let [bare, counted] = times;
        added.plain.push(counted[0] - bare[0]);
        added.named.push(counted[1] - bare[1]);
        let unused = unused[0].min(unused[1]);
        for ((found, bare), inside) in entry_ns.iter_mut().zip(bare).zip(inside) {
            found.extend(inside.map(|inside| bare - unused - inside));
        }
        // Attaching takes a while.
        if pair % 2 == 1 {
            continue;
        }
        let bare = quickest_fault(&mut memory);
        if let Some(_sampling) = programs.attach_faults() {
            let _pages = programs.attach_pages();
            counting.sample_few()?;
            added.fault.push(quickest_fault(&mut memory) - bare);
            let seen = sampled_batches(counting, || {
                memory.fault_ns();
            })?;
            fault_entry_ns.extend(seen.faults.mean_ns().map(|(inside, _)| bare - inside));
        }
    }
    drop(attached);
    // What another program does to one pair does not matter to the median of them.
    let [plain_entry, named_entry] = entry_ns.map(median);
    (added.entry_ns, added.fault_entry_ns) = (plain_entry.zip(named_entry), median(fault_entry_ns));
    added.behind_samples_ns = sampled.in_program_ns();
    added.in_program_ns = in_program_ns(programs).ok();
    [added.switch_ns, added.wake_ns] = switched::of_switches(programs).unwrap_or_default();
    let of_call = sampled::of_call(plain, nothing);
    added.call_return_ns = of_call.map(|call| call.return_ns);
    added.mode_ns = of_call.map_or(0.0, |call| call.sample_ns);
    added.fault_return_ns = sampled::of_fault(&mut memory);
    Ok(added)
}

fn mean_sample_ns(counts: &Counts, call: i64) -> Option<f64> {
    counts.samples.get(&Call::Native(call as u16))?.mean_ns().map(|(mean, _)| mean)
}

/// What was counted of some batches of this thread: other tasks come and go meanwhile. One of many calls is sampled, as in programs: what
/// a sample needs is colder then than where all are.
fn sampled_batches(counting: &mut Counting, mut batch: impl FnMut()) -> io::Result<Counts> {
    let own = this_thread();
    let mut sums = [Counts::default(), Counts::default()];
    for (turn, all) in sums.iter_mut().enumerate() {
        (0..turn * SAMPLED_BATCHES).for_each(|_| batch());
        let tasks = counting.running()?;
        tasks.iter().filter(|task| task.thread == own).for_each(|task| all.add(&task.counts));
    }
    let [before, mut timed] = sums;
    timed.subtract(&before);
    Ok(timed)
}

/// The time of one page fault in ns.
fn quickest_fault(memory: &mut Touched) -> f64 {
    (0..BATCHES).map(|_| memory.fault_ns()).fold(f64::INFINITY, f64::min)
}

/// What the kernel's statistics have of a run of the program at each call, in ns. They are kept for a moment only: they take
/// time themselves.
fn in_program_ns(programs: &Programs) -> io::Result<f64> {
    let _counted = programs.attach_calls()?;
    let _kept = keep_statistics()?;
    let before = programs.ran()?;
    quickest(plain);
    Ok(programs.ran()?.mean_ns_since(before))
}

/// The time of one call in ns.
fn quickest(call: fn()) -> f64 {
    (0..BATCHES).map(|_| batch(call)).fold(f64::INFINITY, f64::min)
}

/// What a program does between its calls takes the place of what counting touches.
fn batch(call: fn()) -> f64 {
    let mut own = vec![0_u8; OWN];
    let begin = Instant::now();
    for turn in 0..CALLS {
        call();
        own.fill(turn as u8);
        std::hint::black_box(&mut own);
    }
    begin.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

/// A call as programs make it: by a function that returns, which on some processors makes it and its counting dearer.
#[inline(never)]
fn plain() {
    let _ = std::hint::black_box(getppid());
}

/// No call: what a batch takes beside its calls.
#[inline(never)]
fn nothing() {}

/// A call as programs make it, with a name.
#[inline(never)]
fn named() {
    let _ = std::hint::black_box(access(c"/dev/null", Access::EXISTS));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Detail;

    #[test]
    fn being_counted_costs_time_and_is_reported_with_an_interval() {
        for detail in [Detail::All, Detail::Numbers] {
            let options = Options { detail, stacks: true, ..Options::default() };
            let added = counted_calls(Whom::Announced, &options);
            let Some(added) = crate::tested(added, "no program can be loaded") else { return };
            // Samples show what lies outside of them.
            assert_eq!(added.entry_ns.is_some(), detail == Detail::All, "{added:?}");
            let all = detail == Detail::All;
            assert_eq!(added.behind_samples_ns.is_some_and(|ns| ns > 0.0), all, "the clock is read twice: {added:?}");
            assert_eq!([added.switch_ns > 0.0, added.wake_ns > 0.0], [all; 2], "both threads were woken: {added:?}");
            let cost = added.cost(1.0, [0.0; 2], None).expect("pairs");
            let probe = cost.probe.expect("enough pairs, however busy the machine is");
            assert!(probe.low_ns <= probe.per_call_ns && probe.per_call_ns <= probe.high_ns, "{probe:?}");
            assert!(probe.per_call_ns > 0.0, "{probe:?}");
            assert!(cost.in_program_ns.is_none_or(|inside| inside > 0.0), "{cost:?}");
        }
    }
}
