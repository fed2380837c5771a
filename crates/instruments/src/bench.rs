//! Two bench programs in lockstep: batches of both alternate on one CPU, in pairs of new processes, and what was seen at the same
//! moment is compared. How blocks become a verdict is `analysis::lockstep`.

mod pair;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use analysis::lockstep::Block;
use analysis::statistics::median;
use catalogue::bench::BenchProgram;
use fastrand::Rng;
use measure::{MeasureError, Moments, Progress, Signals};
use system::guard::apart;

use pair::{PairOrder, PairTaken};

/// What to compare.
pub struct RacePlan {
    /// The programs of both sides. Several of one side differ in the order of their functions, and take turns.
    pub sides: [Vec<PathBuf>; 2],
    /// The benchmarks, which both have.
    pub names: Vec<String>,
    /// Seconds for each benchmark.
    pub each_s: f64,
    /// Seconds after which a batch counts as hung.
    pub patience: f64,
    /// Lets programs use all CPUs.
    pub all_cpus: bool,
    /// The only CPU to use.
    pub cpu: Option<u32>,
    /// The width of an undisturbed core that earlier runs have seen.
    pub width: Option<f64>,
    /// Of the order and of what is moved.
    pub seed: u64,
}

/// What was seen of one benchmark.
#[derive(Clone, Debug, Default)]
pub struct RacedBenchmark {
    /// Its name.
    pub name: String,
    /// The blocks of each pair of processes.
    pub rounds: Vec<Vec<Block>>,
    /// What both allocate per iteration, if they count it.
    pub allocations: [Option<AllocatedEach>; 2],
    /// Why there is nothing, or no more.
    pub failure: Option<String>,
}

/// What an iteration allocates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllocatedEach {
    /// Calls.
    pub calls: f64,
    /// Bytes.
    pub bytes: f64,
    /// Bytes that it does not give back.
    pub kept: f64,
}

/// All that was seen.
pub struct Race {
    /// In the order of the plan.
    pub benchmarks: Vec<RacedBenchmark>,
    /// The signal that ended it early.
    pub interrupted: Option<i32>,
    /// False if this process may not be pinned to a CPU.
    pub pinned: bool,
}

/// Pairs of processes for each benchmark: what differs by chance from process to process is averaged over them.
const PAIRS: u32 = 8;

impl RacedBenchmark {
    /// The median times of an iteration of both sides, in ns.
    pub fn medians(&self) -> Option<[f64; 2]> {
        let of = |side: fn(&Block) -> f64| median(self.rounds.iter().flatten().map(side));
        Some([of(|block| block.base)?, of(|block| block.other)?])
    }
}

/// The benchmarks of a program, by name, with whether each runs only when named. Forks.
///
/// # Errors
/// One sentence if it is no bench program.
pub fn listed(program: &std::path::Path, patience: f64) -> Result<Vec<(String, bool)>, String> {
    /// A greeting, and a list.
    const LONGEST: Duration = Duration::from_secs(60);
    let ask = || -> Result<Vec<(String, bool)>, String> {
        let patience = Duration::from_secs_f64(patience);
        let mut running = BenchProgram::start(program, 0, patience).map_err(|error| error.to_string())?;
        let all = running.list().map_err(|error| error.to_string())?;
        Ok(all.into_iter().map(|listed| (listed.name, listed.ignored)).collect())
    };
    apart(LONGEST, ask).unwrap_or_else(|lost| Err(format!("{}: {lost}", program.display())))
}

/// Runs both in lockstep until the time is over. Forks: call it while the process has one thread.
///
/// # Errors
/// If this process may not use the CPU.
pub fn race(plan: &RacePlan, on_progress: &mut dyn FnMut(&Progress)) -> Result<Race, MeasureError> {
    let signals = Signals::watch();
    let mut moments = Moments::learn(plan.cpu, plan.width)?;
    let mut random = Rng::with_seed(plan.seed);
    let mut benchmarks: Vec<RacedBenchmark> =
        plan.names.iter().map(|name| RacedBenchmark { name: name.clone(), ..RacedBenchmark::default() }).collect();
    let (mut times, mut spent) = (BTreeMap::new(), vec![0.0; benchmarks.len()]);
    let (mut pinned, mut interrupted) = (true, None);
    let total = PAIRS * benchmarks.len() as u32;
    'all: for pass in 0..PAIRS {
        let mut order: Vec<usize> = (0..benchmarks.len()).collect();
        random.shuffle(&mut order);
        for (done, index) in order.into_iter().enumerate() {
            interrupted = signals.come();
            if interrupted.is_some() {
                break 'all;
            }
            let benchmark = &mut benchmarks[index];
            // One whose iterations are long has had its time after fewer pairs.
            if benchmark.failure.is_some() || (spent[index] >= plan.each_s && pass > 1) {
                continue;
            }
            let left = Duration::from_secs_f64((plan.each_s - spent.iter().sum::<f64>() / spent.len() as f64).max(0.0));
            let left = left.mul_f64(spent.len() as f64);
            let done = pass * plan.names.len() as u32 + done as u32;
            on_progress(&Progress { item: benchmark.name.clone(), done, total, left });
            let slice = (plan.each_s - spent[index]) / f64::from(PAIRS - pass);
            let program = |side: usize| plan.sides[side][pass as usize % plan.sides[side].len()].clone();
            let order = PairOrder {
                programs: [program(0), program(1)],
                name: benchmark.name.clone(),
                seconds: slice.max(0.0),
                times: times.get(&index).copied(),
                patience: plan.patience,
                all_cpus: plan.all_cpus,
                swapped: pass % 2 == 1,
                seed: random.u64(..),
            };
            let began = Instant::now();
            // A hung batch is given up inside; this is for what hangs elsewhere.
            let patience = Duration::from_secs_f64(slice.max(0.0) + 8.0 * plan.patience + 60.0);
            let taken = apart(patience, || order.take(&mut moments)).unwrap_or_else(|lost| Err(lost.to_string()));
            spent[index] += began.elapsed().as_secs_f64();
            interrupted = signals.come();
            match taken {
                Ok(taken) => {
                    times.insert(index, taken.0);
                    pinned &= taken.1;
                    benchmark.take_in(taken);
                }
                Err(_) if interrupted.is_some() => break 'all,
                Err(why) => benchmark.failure = Some(why),
            }
        }
    }
    Ok(Race { benchmarks, interrupted, pinned })
}

impl RacedBenchmark {
    fn take_in(&mut self, (_, _, blocks, allocations): PairTaken) {
        let block = |(base, other, quiet): (f64, f64, bool)| Block { base, other, quiet };
        self.rounds.push(blocks.into_iter().map(block).collect());
        for (known, taken) in self.allocations.iter_mut().zip(allocations) {
            *known = known.or(taken.map(|(calls, bytes, kept)| AllocatedEach { calls, bytes, kept }));
        }
    }
}
