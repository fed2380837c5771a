//! Two bench programs in lockstep: batches of both alternate on one CPU, in rounds of new processes, and what was seen at the same
//! moment is compared. How blocks become a verdict is `analysis::lockstep`.

mod round;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use analysis::lockstep::Block;
use analysis::statistics::median;
use catalogue::bench::{BenchProgram, usable};
use fastrand::Rng;
use measure::{MeasureError, Progress, QuietCore, Signals};
use system::guard::apart;

use round::RoundOrder;

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
    pub name: String,
    /// The blocks of each round: of a pair of processes, and of its mirror, if there was one.
    pub rounds: Vec<[Vec<Block>; 2]>,
    /// What both allocate per iteration, if they count it: calls, bytes, and bytes that are not given back.
    pub allocations: [Option<[f64; 3]>; 2],
    /// Why there is nothing, or no more.
    pub failure: Option<String>,
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

/// Rounds of each benchmark, fewer if the set-up takes long: what differs by chance from process to process is averaged over them.
const ROUNDS: u32 = 24;

impl RacedBenchmark {
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.rounds.iter().flatten().flatten()
    }

    /// The median times of an iteration of both sides, in ns.
    pub fn medians(&self) -> Option<[f64; 2]> {
        let median_of = |side: fn(&Block) -> f64| median(self.blocks().map(side));
        Some([median_of(|block| block.base)?, median_of(|block| block.other)?])
    }
}

/// The benchmarks of a program, by name, with whether each runs only when named. Forks. Fails with one sentence if it
/// is no bench program.
pub fn listed(program: &std::path::Path, patience: f64) -> Result<Vec<(String, bool)>, String> {
    /// A greeting, and a list.
    const LONGEST: Duration = Duration::from_secs(60);
    let request = || -> Result<Vec<(String, bool)>, String> {
        let patience = Duration::from_secs_f64(patience);
        let mut running = BenchProgram::start(program, 0, usable(), patience).map_err(|error| error.to_string())?;
        let all = running.list().map_err(|error| error.to_string())?;
        Ok(all.into_iter().map(|listed| (listed.name, listed.ignored)).collect())
    };
    apart(LONGEST, request).unwrap_or_else(|lost| Err(format!("{}: {lost}", program.display())))
}

/// Runs both in lockstep until the time is over. Forks: call it while the process has one thread. Fails if this process
/// may not use the CPU.
pub fn race(plan: &RacePlan, on_progress: &mut dyn FnMut(&Progress)) -> Result<Race, MeasureError> {
    let signals = Signals::watch();
    let running = |name: &String| {
        let benchmark = RacedBenchmark { name: name.clone(), ..RacedBenchmark::default() };
        Running { benchmark, times: None, spent: 0.0 }
    };
    let mut course = Course {
        plan,
        moments: QuietCore::learn(plan.cpu, plan.width)?,
        random: Rng::with_seed(plan.seed),
        state: plan.names.iter().map(running).collect(),
        pinned: true,
    };
    let mut interrupted = None;
    'all: for pass in 0..ROUNDS {
        let mut order: Vec<usize> = (0..plan.names.len()).collect();
        course.random.shuffle(&mut order);
        for (place, index) in order.into_iter().enumerate() {
            interrupted = signals.come();
            if interrupted.is_some() {
                break 'all;
            }
            on_progress(&course.progress(pass, place, index));
            let failed = course.round(pass, index);
            interrupted = signals.come();
            // A signal to all processes also ends those of the round.
            if let Some(why) = failed.filter(|_| interrupted.is_none()) {
                course.state[index].benchmark.failure = Some(why);
            }
        }
    }
    let benchmarks = course.state.into_iter().map(|running| running.benchmark).collect();
    Ok(Race { benchmarks, interrupted, pinned: course.pinned })
}

struct Course<'p> {
    plan: &'p RacePlan,
    moments: QuietCore,
    random: Rng,
    state: Vec<Running>,
    pinned: bool,
}

struct Running {
    benchmark: RacedBenchmark,
    /// Iterations of a batch.
    times: Option<u64>,
    /// Seconds.
    spent: f64,
}

impl Course<'_> {
    fn progress(&self, pass: u32, place: usize, index: usize) -> Progress {
        let count = self.state.len() as u32;
        let left: f64 = self.state.iter().map(|running| (self.plan.each_s - running.spent).max(0.0)).sum();
        Progress {
            item: self.state[index].benchmark.name.clone(),
            done: pass * count + place as u32,
            total: ROUNDS * count,
            left: Duration::from_secs_f64(left),
        }
    }

    /// Runs one round, unless the benchmark has had its time or has failed. Returns why it failed.
    fn round(&mut self, pass: u32, index: usize) -> Option<String> {
        /// Fewer rounds say nothing of what differs between them.
        const LEAST_ROUNDS: u32 = 2;
        let (plan, running) = (self.plan, &mut self.state[index]);
        let is_over = running.spent >= plan.each_s && pass >= LEAST_ROUNDS;
        if running.benchmark.failure.is_some() || is_over {
            return None;
        }
        let slice = ((plan.each_s - running.spent) / f64::from(ROUNDS - pass)).max(0.0);
        let program = |side: usize| plan.sides[side][pass as usize % plan.sides[side].len()].clone();
        let order = RoundOrder {
            programs: [program(0), program(1)],
            name: running.benchmark.name.clone(),
            seconds: slice,
            longest: plan.each_s / 2.0,
            times: running.times,
            patience: plan.patience,
            all_cpus: plan.all_cpus,
            swapped: pass % 2 == 1,
            seed: self.random.u64(..),
        };
        let began = Instant::now();
        // A batch that hangs is given up inside; this is for what hangs elsewhere.
        let patience = Duration::from_secs_f64(slice + 16.0 * plan.patience + 60.0);
        let moments = &mut self.moments;
        let taken = apart(patience, || order.take(moments).map_err(|error| error.to_string()));
        let taken = taken.unwrap_or_else(|lost| Err(lost.to_string()));
        running.spent += began.elapsed().as_secs_f64();
        match taken {
            Ok((times, pinned, blocks, allocations)) => {
                running.times = Some(times);
                self.pinned &= pinned;
                running.benchmark.rounds.push(blocks);
                let known = running.benchmark.allocations.iter_mut();
                known.zip(allocations).for_each(|(known, taken)| *known = known.or(taken));
                None
            }
            Err(why) => Some(why),
        }
    }
}
