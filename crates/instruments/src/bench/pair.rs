//! One pair of processes, one of each side: blocks of four batches in the order A B B A, or B A A B.

use std::path::PathBuf;
use std::time::Duration;

use catalogue::bench::{BenchError, BenchProgram, spread};
use fastrand::Rng;
use measure::{CoreMoment, QuietCore};
use rustix::thread::{CpuSet, sched_getaffinity};

/// What a pair is to do.
pub(super) struct PairOrder {
    pub programs: [PathBuf; 2],
    pub name: String,
    /// For its blocks.
    pub seconds: f64,
    /// Iterations of a batch, as an earlier pair found.
    pub times: Option<u64>,
    pub patience: f64,
    pub all_cpus: bool,
    /// Starts the other side first, and begins blocks with it.
    pub swapped: bool,
    pub seed: u64,
}

/// Iterations of a batch, whether the process was pinned, the blocks (ns per iteration of both sides, and whether they were
/// undisturbed), and what both sides allocate per iteration. Plain data, as it comes from another process.
pub(super) type PairTaken = (u64, bool, Vec<(f64, f64, bool)>, [Option<(f64, f64, f64)>; 2]);

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

impl PairOrder {
    /// Does it. The process ends afterwards, so its affinity may change.
    pub fn take(&self, moments: &mut QuietCore) -> Result<PairTaken, String> {
        self.run(moments).map_err(|error| error.to_string())
    }

    fn run(&self, moments: &mut QuietCore) -> Result<PairTaken, BenchError> {
        let mut random = Rng::with_seed(self.seed);
        let allowed = sched_getaffinity(None).unwrap_or_default();
        let pinned = self.all_cpus || moments.settle(&mut random);
        let patience = Duration::from_secs_f64(self.patience);
        let mut started = |side: usize| BenchProgram::start(&self.programs[side], random.usize(..SHIFTS), patience);
        let mut sides = if self.swapped {
            let other = started(1)?;
            [started(0)?, other]
        } else {
            [started(0)?, started(1)?]
        };
        let mut allocations = [None; 2];
        for (side, kept) in sides.iter_mut().zip(&mut allocations) {
            self.set_up(side, &allowed)?;
            if self.times.is_none() {
                *kept = counted(side)?;
            }
        }
        let times = match self.times {
            Some(times) => times,
            None => fitting_times(&mut sides)?,
        };
        let blocks = self.blocks(&mut sides, times, moments)?;
        Ok((times, pinned, blocks, allocations))
    }

    fn set_up(&self, side: &mut BenchProgram, allowed: &CpuSet) -> Result<(), BenchError> {
        let ready = side.prepare(&self.name)?;
        if ready.threads > 1 {
            spread(side, allowed);
        }
        Ok(())
    }

    fn blocks(
        &self,
        sides: &mut [BenchProgram; 2],
        times: u64,
        moments: &QuietCore,
    ) -> Result<Vec<(f64, f64, bool)>, BenchError> {
        let start = moments.now();
        let mut waited = 0.0;
        let mut blocks = Vec::new();
        // The first touch of everything.
        let warm = sides[0].run(times.div_ceil(8))?;
        if warm.elapsed < LONG {
            sides[1].run(times.div_ceil(8))?;
        }
        loop {
            let spent = moments.now() - start;
            if spent >= self.seconds && !blocks.is_empty() {
                return Ok(blocks);
            }
            let mut before = moments.check();
            let begin = moments.now();
            while !moments.is_quiet(before) && waited < WAITING * spent && moments.now() - begin < LONGEST_WAIT {
                before = moments.check();
            }
            waited += moments.now() - begin;
            blocks.push(self.block(sides, times, moments, before)?);
        }
    }

    /// One block: base and other in ns per iteration, and whether all of it was undisturbed.
    fn block(
        &self,
        sides: &mut [BenchProgram; 2],
        times: u64,
        moments: &QuietCore,
        mut before: CoreMoment,
    ) -> Result<(f64, f64, bool), BenchError> {
        let mut each = [[0.0; 2]; 2];
        let mut quiet = true;
        let order = if self.swapped { [1, 0, 0, 1] } else { [0, 1, 1, 0] };
        for (leg, side) in order.into_iter().enumerate() {
            let ran = sides[side].run(times)?;
            let after = moments.check();
            let away = ran.processor.map_or(0.0, |processor| ran.elapsed - processor);
            quiet &= moments.was_quiet(before, after) && away <= TAKEN.0 + TAKEN.1 * ran.elapsed;
            before = after;
            each[side][usize::from(leg > 1)] = ran.elapsed / times as f64;
        }
        // The geometric mean: a drift of either sign cancels.
        let [base, other] = each.map(|[one, two]| (one * two).sqrt());
        Ok((base, other, quiet))
    }
}

/// What an iteration allocates, after one that may do so only once.
fn counted(side: &mut BenchProgram) -> Result<Option<(f64, f64, f64)>, BenchError> {
    const COUNTED: u64 = 4;
    let first = side.run(1)?;
    let times = if first.elapsed > LONG { 1 } else { COUNTED };
    let all = side.count(times)?;
    let each = |count: u64| count as f64 / times as f64;
    Ok(all.map(|all| (each(all.calls), each(all.bytes), each(all.kept))))
}

/// Iterations whose batch is long enough on both sides.
fn fitting_times(sides: &mut [BenchProgram; 2]) -> Result<u64, BenchError> {
    /// A batch of the empty loop has a million iterations.
    const MOST: u64 = 1 << 40;
    let mut times = 1;
    loop {
        let took = sides[0].run(times)?.elapsed;
        // Twice, because the first may only have been cold.
        let took = if took < LONG { took.min(sides[1].run(times)?.elapsed) } else { took };
        if took >= BATCH || times >= MOST {
            return Ok(times);
        }
        // Never far beyond, as the first batches are cold.
        let factor = (BATCH * 1.2 / took.max(1.0)).clamp(1.5, 16.0);
        times = ((times as f64 * factor).ceil() as u64).min(MOST);
    }
}
