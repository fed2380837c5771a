//! Bench programs: user-supplied programs that run the code to be timed when asked, over a protocol of lines (docs/BENCH.md).
//! A benchmark is measured like any operation; [`BenchProgram`] is one such program, for whoever times two of them in lockstep.

mod lines;
mod program;

use std::path::{Path, PathBuf};
use std::time::Duration;

use operation::{Failure, Loop, Operation, Setting, TermOf, Took, Usage, processor_time};
use record::Estimate;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::user::HUNG_REMEDY;
use crate::user::command::Cpus;

pub use program::{BenchError, BenchProgram, Listed, Prepared, Ran};

/// What a round needs of a benchmark.
struct Benchmark {
    program: PathBuf,
    name: String,
    patience: Duration,
    cpus: Cpus,
    /// The CPUs of benchmarks with several threads, and how many they may use.
    all: CpuSet,
    usable: usize,
}

/// The loop around nothing, which every program has.
pub const EMPTY: &str = "the loop of the program";
/// Its name in the protocol.
const EMPTY_NAME: &str = "-";

/// What an iteration processes and allocates, as tallies of its cost. Kept is what it does not give back.
pub const BYTES: &str = "bytes";
pub const ITEMS: &str = "items";
/// Calls of the allocator.
pub const ALLOCATIONS: &str = "allocations";
pub const ALLOCATED: &str = "bytes allocated";
/// Bytes that it does not give back.
pub const KEPT: &str = "bytes kept";

/// How a benchmark is run.
#[derive(Clone, Copy)]
pub struct BenchOptions {
    /// Seconds after which a batch counts as hung.
    pub patience: f64,
    /// The typical figure is for those that wait.
    pub quoted: Estimate,
    pub cpus: Cpus,
}

/// The operation that runs this benchmark of a program, by the name of the benchmark. `terms` are subtracted.
pub fn benchmark(program: &Path, name: &str, running: BenchOptions, terms: &'static [TermOf]) -> &'static Operation {
    let BenchOptions { patience, quoted, cpus } = running;
    let benchmark = Benchmark {
        program: program.into(),
        name: if name == EMPTY { EMPTY_NAME } else { name }.into(),
        patience: Duration::from_secs_f64(patience),
        cpus,
        all: rustix::thread::sched_getaffinity(None).unwrap_or_default(),
        usable: usable(),
    };
    Box::leak(Box::new(Operation {
        // Few, and they live as long as the process.
        id: Box::leak(name.into()),
        summary: "an iteration of the benchmark, in a process of the bench program",
        per: "iteration",
        quoted,
        terms,
        // Each request may take as long, and a round makes five at least, after its set-up.
        patience: 7.0 * patience,
        hung_remedy: HUNG_REMEDY,
        memory: u64::MAX,
        argument: Some(Box::leak(Box::new(benchmark))),
        prepare: |setting: &Setting| prepared(setting, setting.argument()?),
        ..Operation::DEFAULT
    }))
}

/// How many CPUs this process may use, before it is pinned to one.
pub fn usable() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Lets a process that has prepared a benchmark of several threads use all of these CPUs, and this process as well.
pub fn spread(program: &BenchProgram, cpus: &CpuSet) {
    let _ = sched_setaffinity(Some(program.pid()), cpus);
    let _ = sched_setaffinity(None, cpus);
}

fn prepared(setting: &Setting, benchmark: &'static Benchmark) -> Result<Loop, Failure> {
    let failed = |error: BenchError| Failure::wrong(error.to_string());
    let shift = (setting.seed() % 256) as usize;
    if benchmark.cpus == Cpus::All {
        // The program and the threads that it starts inherit it.
        let _ = sched_setaffinity(None, &benchmark.all);
    }
    let mut program =
        BenchProgram::start(&benchmark.program, shift, benchmark.usable, benchmark.patience).map_err(failed)?;
    let ready = program.prepare(&benchmark.name).map_err(failed)?;
    if ready.threads > 1 {
        spread(&program, &benchmark.all);
    }
    for (tally, count) in [(BYTES, ready.bytes), (ITEMS, ready.items)] {
        if let Some(count) = count {
            setting.tally(tally).pass(count);
        }
    }
    // Before the batches, which are long enough to repeat what a first iteration does once.
    if let Some((times, all)) = program.count().map_err(failed)? {
        for (tally, count) in [ALLOCATIONS, ALLOCATED, KEPT].into_iter().zip(all) {
            setting.tally(tally).passes(times, count);
        }
    }
    Ok(Loop::self_timed(move |times| {
        let pid = program.pid().as_raw_pid();
        let before = processor_time(pid);
        let ran = program.run(times).map_err(failed)?;
        let used = || before.zip(processor_time(pid)).map(|(before, after)| after - before);
        // More than the elapsed time is that of other threads, or of what lies between the timed parts.
        let user = ran.processor.or_else(used).filter(|used| *used <= ran.elapsed).unwrap_or(ran.elapsed);
        Ok(Took { elapsed: ran.elapsed, usage: Usage { user, ..Usage::default() } })
    }))
}
