//! One round: two pairs of processes, of one process of each side. Batches have the order A B B A; two of them are a block.
//!
//! The kernel gives out last what was freed last. So the process that first touches its memory gets other pages than the second,
//! and a next pair gets the same two sets of pages: of two equal processes, one was up to 15 % slower in loads from 16 MiB, pair
//! after pair. The second pair of a round is therefore the mirror of the first: side for side it starts, moves its stack, touches
//! its memory, runs and ends in the other order. What came to one side then comes to the other, and cancels in the mean.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use analysis::lockstep::Block;
use catalogue::bench::{BenchError, BenchProgram, spread, usable};
use fastrand::Rng;
use measure::QuietCore;
use rustix::thread::{CpuSet, sched_getaffinity};

pub(super) struct RoundOrder {
    pub programs: [PathBuf; 2],
    pub name: String,
    /// For all of it.
    pub seconds: f64,
    /// If the first pair takes longer, there is no second one.
    pub longest: f64,
    /// Iterations of a batch, as an earlier round found.
    pub times: Option<u64>,
    pub patience: f64,
    pub all_cpus: bool,
    /// Begins with the other side.
    pub swapped: bool,
    pub seed: u64,
}

/// Iterations of a batch, whether the process was pinned, the blocks of both pairs, and what both sides allocate per iteration.
/// Plain data, as it comes from another process.
pub(super) type RoundTaken = (u64, bool, [Vec<Block>; 2], [Option<[f64; 3]>; 2]);

/// What is the same for both pairs of a round.
struct Common {
    allowed: CpuSet,
    usable: usize,
    /// How far the stack is moved in the process that starts first, and in the second.
    shifts: [usize; 2],
    times: Option<u64>,
    allocations: [Option<[f64; 3]>; 2],
}

/// A batch of this many ns is long beside its request and answer (10 µs), and short beside what a neighbour lasts.
const BATCH: f64 = 400e3;
/// A batch that long needs no second one to find its count, and no warm-up.
const LONG: f64 = 20e6;
/// What other tasks may take of a batch: the resolution of the accounts in ns, and a share for the kernel's own work.
const TAKEN: (f64, f64) = (4e3, 0.03);
/// The share of the time that may be spent on waiting for an undisturbed core, and the longest such wait in seconds.
const WAITING: f64 = 0.3;
const LONGEST_WAIT: f64 = 0.003;
/// Moves of the stack and the heap in steps of 16 bytes, up to a page.
const SHIFTS: usize = 256;

impl RoundOrder {
    /// Does it. The process ends afterwards, so its affinity may change.
    pub fn take(&self, moments: &mut QuietCore) -> Result<RoundTaken, BenchError> {
        let mut random = Rng::with_seed(self.seed);
        let allowed = sched_getaffinity(None).unwrap_or_default();
        let usable = usable();
        let pinned = self.all_cpus || moments.settle(&mut random);
        let shifts = [random.usize(..SHIFTS), random.usize(..SHIFTS)];
        let mut common = Common { allowed, usable, shifts, times: self.times, allocations: [None; 2] };
        let order = if self.swapped { [1, 0] } else { [0, 1] };
        let start = moments.now();
        let first = self.pair(order, start + self.seconds / 2.0, &mut common, moments)?;
        let blocks = if moments.now() - start > self.longest {
            [first, Vec::new()]
        } else {
            let [one, other] = order;
            let mirror = self.pair([other, one], start + self.seconds, &mut common, moments)?;
            [first, mirror]
        };
        Ok((common.times.unwrap_or(1), pinned, blocks, common.allocations))
    }

    /// A pair of processes, which does all in this order of the sides and ends them in the reverse order.
    fn pair(
        &self,
        order: [usize; 2],
        until: f64,
        common: &mut Common,
        moments: &QuietCore,
    ) -> Result<Vec<Block>, BenchError> {
        let began = moments.now();
        let patience = Duration::from_secs_f64(self.patience);
        // Locals are dropped in the reverse order.
        let start = |which: usize| {
            BenchProgram::start(&self.programs[order[which]], common.shifts[which], common.usable, patience)
        };
        let (mut first, mut second) = (start(0)?, start(1)?);
        for (side, program) in [(order[0], &mut first), (order[1], &mut second)] {
            let ready = program.prepare(&self.name)?;
            if ready.threads > 1 {
                spread(program, &common.allowed);
            }
            if common.times.is_none() {
                let each = |(times, all): (u64, [u64; 3])| all.map(|count| count as f64 / times as f64);
                common.allocations[side] = program.count()?.map(each);
            }
        }
        let mut both = [&mut first, &mut second];
        let times = match common.times {
            Some(times) => times,
            None => fitting_times(&mut both)?,
        };
        common.times = Some(times);
        // The first touch of everything.
        if both[0].run(times.div_ceil(8))?.elapsed < LONG {
            both[1].run(times.div_ceil(8))?;
        }
        // Where the set-up is long, as much time again shows more than another set-up would.
        let set_up = moments.now() - began;
        let until = until.max(moments.now() + set_up);
        let blocks = blocks(&mut both, times, moments, until)?;
        let swap = |Block { base, other, quiet }: Block| match order {
            [0, _] => Block { base, other, quiet },
            _ => Block { base: other, other: base, quiet },
        };
        Ok(blocks.into_iter().map(swap).collect())
    }
}

/// Blocks until this moment, at least two, in which the order of the processes alternates.
fn blocks(
    both: &mut [&mut BenchProgram; 2],
    times: u64,
    moments: &QuietCore,
    until: f64,
) -> Result<Vec<Block>, BenchError> {
    let start = moments.now();
    let mut waited = 0.0;
    let mut blocks = Vec::new();
    loop {
        let begin = moments.now();
        if begin >= until && blocks.len() >= 2 {
            return Ok(blocks);
        }
        let mut before = moments.check();
        let may_wait = waited < WAITING * (begin - start);
        while !moments.is_quiet(before) && may_wait && moments.now() - begin < LONGEST_WAIT {
            before = moments.check();
        }
        waited += moments.now() - begin;
        let (mut each, mut quiet) = ([0.0; 2], true);
        let order = if blocks.len() % 2 == 0 { [0, 1] } else { [1, 0] };
        for which in order {
            let ran = both[which].run(times)?;
            let after = moments.check();
            let away = ran.processor.map_or(0.0, |processor| ran.elapsed - processor);
            quiet &= moments.was_quiet(before, after) && away <= TAKEN.0 + TAKEN.1 * ran.elapsed;
            before = after;
            each[which] = ran.elapsed / times as f64;
        }
        blocks.push(Block { base: each[0], other: each[1], quiet });
    }
}

/// Iterations whose batch is long enough on both sides, or takes long with what is not timed, such as making inputs.
fn fitting_times(both: &mut [&mut BenchProgram; 2]) -> Result<u64, BenchError> {
    /// A batch of the empty loop has a million iterations.
    const MOST: u64 = 1 << 40;
    let mut times = 1;
    loop {
        let (mut took, mut whole) = (f64::INFINITY, f64::INFINITY);
        for side in both.iter_mut() {
            let start = Instant::now();
            let ran = side.run(times)?;
            took = took.min(ran.elapsed);
            whole = whole.min(start.elapsed().as_nanos() as f64);
            // Twice otherwise, because the first may only have been cold. One that waited for its CPU took less of it.
            if ran.processor.map_or(took, |used| used.min(took)) >= LONG {
                return Ok(times);
            }
        }
        if took >= BATCH || whole >= LONG || times >= MOST {
            return Ok(times);
        }
        // Never far beyond, as the first batches are cold.
        let factor = (BATCH * 1.2 / took.max(1.0)).min(LONG / whole).clamp(1.5, 16.0);
        times = ((times as f64 * factor).ceil() as u64).min(MOST);
    }
}
