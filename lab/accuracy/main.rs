//! How good the instrument is, in figures: `cargo bench --manifest-path lab/Cargo.toml [-- NAME...]`. Prints and asserts
//! nothing: the figures depend on who else uses the machine, so a person judges them.

mod assembly;
mod busy;
mod compilation;
mod coverage;
mod disturbance;
mod figures;
mod filter;
mod fio;
mod hidden;
mod independent;
mod interference;
mod latency;
mod memory;
mod perf;
mod prefetch;
mod repeat;
mod sensitivity;
mod slow_disk;
mod speed;
mod stress;
mod systems;
mod tool;
mod truth;
mod two_systems;
mod wakeups;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};

use tool::Howslow;

/// How good the instrument is, in figures.
#[derive(Parser)]
#[command(name = "cargo bench --manifest-path lab/Cargo.toml --bench accuracy --")]
struct Asked {
    /// Which benches; all of them where none is named
    names: Vec<Bench>,
    /// How often each of them repeats what it does, instead of its own number
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    times: Option<u32>,
    /// Seconds that each single run of howslow, and of what it is compared with, may take, instead of the bench's own
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    budget: Option<u32>,
    /// Coverage, interference: the folder of documents (*.json) to look at, instead of measuring
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["keep", "busy"])]
    from: Option<PathBuf>,
    /// Coverage: the folder that its runs are written to
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Independent, hidden, terminals: only operations whose id or point contains this. Systems: only commands whose name does
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Independent: also what howslow quotes, against loops timed before and after its runs
    #[arg(long)]
    quoted: bool,
    /// Sensitivity: whole headline runs, instead of the system calls alone
    #[arg(long)]
    headline: bool,
    /// Coverage: compile something beside the runs
    #[arg(long)]
    busy: bool,
    /// Independent: be one of two processes that take turns
    #[arg(long, hide = true, num_args = 5)]
    side: Vec<String>,
    /// What cargo says when it benches; under `cargo test` it does not, and nothing is measured
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Bench {
    /// Time and memory of the headline run, time of `howslow list`
    Speed,
    /// A system call against a loop written by hand; instructions in cycles
    Truth,
    /// Random loads and passes over memory against loops written by hand, by level
    Memory,
    /// How far whole headline runs scatter
    Repeat,
    /// How far howslow and `perf bench` scatter in the same window
    Perf,
    /// How far figures move when another program keeps a CPU busy
    Busy,
    /// Coverage, time and scatter beside stress-ng's system calls
    Stress,
    /// Whether prefetch by arithmetic is the best there is, on the disk here and on a slow one
    Prefetch,
    /// Four real commands predicted native and under an emulator
    Systems,
    /// The file readers beside fio with the same engine, block size and state
    Fio,
    /// Whether intervals hold other runs' figures and equal runs compare as equal, over whole headline runs
    Coverage,
    /// Whether a call made 5 % dearer on purpose is told
    Sensitivity,
    /// Charged and hidden processor time beside the kernel's account of idle time
    Hidden,
    /// How far cells of the interference matrix repeat
    Interference,
    /// Operations of every family against loops written by hand that share no code with them
    Independent,
    /// Whether a CPU's disturbances on purpose are found by `howslow noise`
    Disturbance,
    /// Rates of terminals beside a loop that shares no code with them
    Terminals,
    /// Percentiles of wake-ups beside cyclictest's
    Wakeups,
    /// Percentiles of direct reads of 4 KiB beside fio's
    Latency,
}

/// How much of it.
struct Extent {
    times: Option<u32>,
    budget: Option<u32>,
    from: Option<PathBuf>,
    keep: Option<PathBuf>,
    only: Option<String>,
    quoted: bool,
    headline: bool,
    busy: bool,
}

impl Extent {
    fn times(&self, usual: u32) -> u32 {
        self.times.unwrap_or(usual)
    }

    fn budget(&self, usual: u32) -> Duration {
        Duration::from_secs(self.budget.unwrap_or(usual).into())
    }
}

impl Bench {
    fn perform(self, howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
        match self {
            Bench::Speed => speed::speed(howslow, extent),
            Bench::Truth => truth::truth(howslow, extent),
            Bench::Memory => memory::memory(extent),
            Bench::Repeat => repeat::repeat(howslow, extent),
            Bench::Perf => perf::perf(howslow, extent),
            Bench::Busy => busy::busy(howslow, extent),
            Bench::Stress => stress::stress(howslow, extent),
            Bench::Prefetch => prefetch::prefetch(howslow, extent),
            Bench::Systems => systems::systems(extent),
            Bench::Fio => fio::fio(extent),
            Bench::Coverage => coverage::coverage(howslow, extent),
            Bench::Sensitivity => sensitivity::sensitivity(howslow, extent),
            Bench::Hidden => hidden::hidden(howslow, extent),
            Bench::Interference => interference::interference(howslow, extent),
            Bench::Independent => independent::independent(howslow, extent),
            Bench::Disturbance => disturbance::disturbance(extent),
            Bench::Terminals => independent::terminals(extent),
            Bench::Wakeups => wakeups::wakeups(extent),
            Bench::Latency => latency::latency(extent),
        }
    }
}

fn main() -> anyhow::Result<()> {
    let asked = Asked::parse();
    if !asked.bench {
        println!("nothing is measured here; `cargo bench --manifest-path lab/Cargo.toml` measures");
        return Ok(());
    }
    if !asked.side.is_empty() {
        independent::serve(&asked.side);
        return Ok(());
    }
    let extent = Extent {
        times: asked.times,
        budget: asked.budget,
        from: asked.from,
        keep: asked.keep,
        only: asked.only,
        quoted: asked.quoted,
        headline: asked.headline,
        busy: asked.busy,
    };
    let names = if asked.names.is_empty() { Bench::value_variants() } else { asked.names.as_slice() };
    for bench in names {
        let name = bench.to_possible_value().map(|value| value.get_name().to_string()).unwrap_or_default();
        println!("\n== {name}");
        let start = Instant::now();
        bench.perform(&Howslow::new()?, &extent)?;
        println!("{name} took {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}
