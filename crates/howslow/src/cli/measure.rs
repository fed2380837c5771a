//! What the verbs that measure can be told: `run`, `time`, `study`, and `howslow` without a verb.

use std::path::PathBuf;

use analysis::study::STUDIES;
use clap::Args;
use clap::builder::PossibleValuesParser;
use record::Arrivals;

use super::value::{arrivals, at_least_one, seconds, share, whole};

/// How to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How to measure")]
pub(crate) struct MeasureArgs {
    /// Iterations per batch, instead of as many as a tenth of a millisecond holds
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>, allow_hyphen_values = true)]
    pub count: Option<u64>,
    /// Fresh processes per cost, at least [default: 6]
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>, allow_hyphen_values = true)]
    pub rounds: Option<u32>,
    /// Half the width of the 95 % interval at which a cost needs no more rounds
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = share, allow_hyphen_values = true)]
    pub precision: f64,
    /// Time the whole run may take [default: 13.5s; 60s with patterns; 175s with --full; 30s for `time`]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub budget: Option<f64>,
    /// Take so many whole runs, and tell how far each cost scatters between them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000), conflicts_with = "output")]
    pub repeat: Option<u32>,
    /// Measure on this CPU only
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub cpu: Option<u32>,
    /// Seed of the order, the offsets and the bootstrap
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_hyphen_values = true)]
    pub seed: Option<u64>,
    /// Time single iterations as well: p50, p90, p99, p99.9 and p99.99, each with an interval [budget: 60s]
    #[arg(long)]
    pub tails: bool,
    /// With --tails: iterations are asked for so often, whether or not the one before is done, at equal distances or, with
    /// `,poisson`, at random; waiting counts in the response time
    #[arg(long, value_name = "RATE[,poisson]", value_parser = arrivals, requires = "tails", allow_hyphen_values = true)]
    pub arrivals: Option<Arrivals>,
    /// With --tails: write the percentile curves into this folder, as SVG
    #[arg(long, value_name = "DIR", requires = "tails")]
    pub svg: Option<PathBuf>,
    /// Write the run document to this file too
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON instead of the page
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Ids, families or globs, optionally at a point: memory.copy, pipe, 'syscall.*', 'pipe.*@size=4KiB,distance=other';
    /// or a system call: openat2
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// At every point, not only the headline ones; without patterns: every operation
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

const TIMED: &str = "\
A routine is `void NAME(void)`, called once per iteration; one whose name ends in _times is
`void NAME_times(uint64_t)` and does so many iterations itself. A command runs with its input and
output on /dev/null, and costs what it takes beyond starting a program that does nothing.
Everything named is interleaved round by round, each round in a new process.
Examples: howslow time ./mine.so:sum ./mine.so:sum_fast_times
          howslow time -- sort words.txt
          howslow time -c 'sort words.txt' -c 'sort -u words.txt'
Exit status: 0 done; 1 nothing named could be timed; 2 misused: no such file, routine or program;
3 some of them could not be timed.";

#[derive(Debug, Args)]
#[command(after_help = TIMED, arg_required_else_help = true)]
pub(crate) struct TimeArgs {
    /// Routines of shared objects: ./mine.so:routine
    #[arg(value_name = "FILE:ROUTINE")]
    pub routines: Vec<String>,
    /// A command, its words split as the shell splits them; may be repeated
    #[arg(short, long = "command", value_name = "COMMAND")]
    pub commands: Vec<String>,
    /// One more command, as it stands
    #[arg(last = true, value_name = "COMMAND")]
    pub words: Vec<String>,
    /// Time a command whatever its exit status is
    #[arg(long)]
    pub ignore_failure: bool,
    /// Let a command use every CPU, instead of the one that its round is pinned to
    #[arg(long)]
    pub all_cpus: bool,
    /// Quote the typical time, for what waits for a timer, a device or another process
    #[arg(long)]
    pub waits: bool,
    /// Give a round up after this time [default: a tenth of the budget; 10m for a command]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub patience: Option<f64>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// The paper
    #[arg(value_name = "PAPER", value_parser = papers())]
    pub paper: String,
    /// Measure also what takes minutes: for mpe every method over 256 MiB
    #[arg(long)]
    pub full: bool,
    /// Take the costs of this run, instead of measuring what the study needs
    #[arg(long, value_name = "RUN", conflicts_with_all = ["count", "rounds", "precision", "budget", "cpu", "seed", "output", "full"])]
    pub run: Option<String>,
    /// For mpe: instead of the tables, tune prefetch as its postscript does, on this file or one made for it [budget: 30s]
    #[arg(long, value_name = "PATH", num_args = 0..=1, conflicts_with_all = ["run", "full", "count", "rounds", "precision", "cpu", "seed", "output"])]
    pub prefetch: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// The studies there are, and a word for all of them.
fn papers() -> PossibleValuesParser {
    PossibleValuesParser::new(STUDIES.iter().map(|study| study.name).chain([ALL]))
}

/// Asks for every study.
pub(crate) const ALL: &str = "all";
