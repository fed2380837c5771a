//! What of a call, and of a page fault, the kernel's samples find in user mode. While the kernel returns to a program, interrupts are
//! off (`exit_to_user_mode` in kernel/entry/common.c), so that a timer that expires then is handled when the program runs: the ticks by
//! which processor time is split take the way back for user time. A timer of this thread samples the same in far less time.

use std::time::{Duration, Instant};

use system::perf::{PerfEvent, Record, SampledEvent};

use super::touched::Touched;

/// The processor time between two samples, in ns, and how long is sampled. Fewer than so many samples show nothing: a thread that hardly
/// gets a processor is sampled again, but not without end.
const PERIOD: u64 = 50_000;
const LENGTH: Duration = Duration::from_millis(30);
const FEW: u64 = 100;
const TIMES: usize = 20;
/// The ring in which samples wait.
const BUFFER: usize = 64 << 10;
/// The bits of a record's flags that hold the mode, and user mode (include/uapi/linux/perf_event.h).
const MODE: u16 = 7;
const USER: u16 = 2;

/// What samples show of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfCall {
    /// What user mode is charged of it, in ns.
    pub return_ns: f64,
    /// What a sample takes, in ns.
    pub sample_ns: f64,
}

/// `call` is one call, `nothing` what surrounds it. `None` if this process may not sample itself.
pub(super) fn of_call(call: fn(), nothing: fn()) -> Option<OfCall> {
    /// Calls of a batch, in which some samples fall.
    const CALLS: u32 = 4000;
    let batch = |work: fn()| {
        let begin = Instant::now();
        (0..CALLS).for_each(|_| work());
        begin.elapsed().as_nanos() as f64
    };
    let quickest = |work: fn()| (0..10).map(|_| batch(work)).fold(f64::INFINITY, f64::min);
    let bare = quickest(call);
    let mut sampled = f64::INFINITY;
    let share = user_share(|| sampled = sampled.min(batch(call)))?;
    let return_ns = (share * bare - quickest(nothing)) / f64::from(CALLS);
    let samples = sampled / PERIOD as f64;
    Some(OfCall { return_ns: return_ns.max(0.0), sample_ns: ((sampled - bare) / samples).max(0.0) })
}

/// What user mode is charged of a page fault, in ns. The instruction that is repeated after it takes next to nothing.
pub(super) fn of_fault(memory: &mut Touched) -> Option<f64> {
    let share = user_share(|| {
        memory.fault_ns();
    })?;
    let each = (0..8).map(|_| memory.round_ns()).fold(f64::INFINITY, f64::min);
    Some(share * each)
}

/// The part of the samples that find this thread in user mode while it does this work again and again.
fn user_share(mut work: impl FnMut()) -> Option<f64> {
    let clock = PerfEvent { flags: PerfEvent::DISABLED, ..PerfEvent::cpu_clock(PERIOD) };
    let mut sampler = SampledEvent::new(clock.open(0, -1).ok()?, BUFFER).ok()?;
    let (mut user, mut all) = (0, 0);
    for _ in 0..TIMES {
        sampler.enable(true).ok()?;
        let begun = Instant::now();
        while begun.elapsed() < LENGTH {
            work();
        }
        sampler.enable(false).ok()?;
        let found = modes(&mut sampler);
        (user, all) = (user + found[0], all + found[1]);
        if all >= FEW {
            return Some(user as f64 / all as f64);
        }
    }
    None
}

/// How many samples found user mode, and how many there are.
fn modes(sampler: &mut SampledEvent) -> [u64; 2] {
    let mut counts = [0; 2];
    while let Some(record) = sampler.next_record() {
        if record.kind == Record::SAMPLE {
            counts[0] += u64::from(record.flags & MODE == USER);
            counts[1] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work that makes no call, and long enough that the clocks between do not count, should they be calls.
    fn computing() {
        for turn in 0..10_000 {
            let _ = std::hint::black_box(turn);
        }
    }

    fn calling() {
        let _ = rustix::process::getppid();
    }

    #[test]
    fn the_way_back_to_the_program_is_sampled_as_its_own_time() {
        let Some(found) = of_call(calling, || {}) else {
            return testing::not_tested!("this process may not sample itself; run the tests as root");
        };
        // Returning takes some instructions, of which one loads many registers; a call takes far less than 10 us.
        assert!(found.return_ns > 1.0 && found.return_ns < 10_000.0, "{found:?}");
        assert!(found.sample_ns < 1e6, "{found:?}");
        // Interrupts of a busy host find the kernel too, in any program.
        let [computes, calls] = [computing, calling].map(|work| user_share(work).expect("samples"));
        assert!(computes > calls, "a program that computes is in user mode: {computes}, one that calls {calls}");
    }
}
