//! What can be typed, and what is refused before anything is measured.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::file::FileAsked;

const STATUS: &str = "\
RUN is a file, @1 (the newest kept run), @2 ..., the beginning of a kept run's id, or a book (pdp-11-24, cascade-lake).
Exit status: 0 done; 1 failed; 2 misused; 3 done, but an operation asked for by name was skipped;
130 interrupted (what was measured is printed, and kept only by -o).
Environment: HOWSLOW_DATA folder for kept runs (else XDG_DATA_HOME), TMPDIR scratch files, NO_COLOR no colours.";

/// What every operation of this computer costs, why, and what a change would buy.
///
/// Without a verb: measures the headline operations, in about fifteen seconds.
#[derive(Debug, Parser)]
#[command(name = "howslow", version, after_help = STATUS, args_conflicts_with_subcommands = true)]
pub(crate) struct Command {
    #[command(flatten)]
    pub how: How,
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure the operations that patterns name
    Run(RunAsked),
    /// Time routines and commands of your own
    Time(TimeAsked),
    /// The operations there are
    List(ListAsked),
    /// Print a run again
    Show(ShowAsked),
    /// How many times dearer each cost is in one run than in another, and which differences are more than noise
    Compare(CompareAsked),
    /// What costs consist of: derived costs, parts and what they leave unexplained
    Explain(ExplainAsked),
    /// What a program's work takes on a machine, from how often it does what
    Predict(PredictAsked),
    /// A paper's tables and sentences, tested on this machine
    Study(StudyAsked),
    /// How much of a file is in memory, put it out, write it
    File(FileAsked),
    /// The runs kept, newest first
    History(JsonAsked),
    /// What will make numbers noisy or missing on this machine
    Doctor(JsonAsked),
    /// Print the JSON Schema of a run document
    Schema,
    /// Print shell completions
    Completions {
        /// For this shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all of them into a folder
    Man {
        /// The folder, which must exist
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// How to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How to measure")]
pub(crate) struct How {
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
    /// Write the run document to this file too
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON instead of the page
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunAsked {
    /// Ids, families or globs, optionally at a point: memory.copy, pipe, 'syscall.*', 'pipe.*@size=4KiB,distance=other';
    /// or a system call: openat2
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// At every point, not only the headline ones; without patterns: every operation
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub how: How,
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
pub(crate) struct TimeAsked {
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
    pub how: How,
}

#[derive(Debug, Args)]
pub(crate) struct ListAsked {
    /// As `howslow run` takes them; with --syscalls also a call's name, a glob over names, or a number
    #[arg(value_name = "PATTERN")]
    pub patterns: Vec<String>,
    /// Every system call of this architecture: the operation that times it, or why none does
    #[arg(long)]
    pub syscalls: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowAsked {
    /// A file, @1, the beginning of a kept run's id, or a book
    pub run: String,
    /// Print the run document
    #[arg(long)]
    pub json: bool,
}

const COMPARED: &str = "\
The first RUN is the base: a ratio is the cost in another run over that in the base, above 1 slower.
A difference is a change where the ratio's interval excludes 1, chance is ruled out for all costs
together, and it exceeds what the machine shows against itself; every other is the same.
Examples: howslow compare @2 @1
          howslow compare @1 pdp-11-24 --sort ratio
          howslow compare before.json after.json later.json --only 'pipe.*' --changed
          howslow compare @2 @1 --mix mine.toml --measured @2=1.2ms --measured @1=1.5ms
Exit status: 0 done; 1 a run could not be read; 2 misused: one run only, an unknown run, a pattern
that means nothing here, runs that have nothing in common, one that lacks what the mix needs.";

#[derive(Debug, Args)]
#[command(after_help = COMPARED)]
pub(crate) struct CompareAsked {
    /// Two runs or more, the base first: a file, @1, the beginning of a kept run's id, or a book
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub runs: Vec<String>,
    /// Only these costs: an id, family or glob, optionally at a point; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Order of the rows
    #[arg(long, value_enum, default_value_t = Order::Family)]
    pub sort: Order,
    /// Only rows that differ by more than noise
    #[arg(long)]
    pub changed: bool,
    /// The least difference that counts as a change, whatever the noise
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = share, allow_hyphen_values = true)]
    pub threshold: f64,
    /// Costs are the same where the whole interval of their ratio lies within this share of 1
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share, allow_hyphen_values = true)]
    pub margin: f64,
    /// Compare all costs in times or in clock cycles [default: cycles for what follows the clock, on one kind of processor]
    #[arg(long = "in", value_name = "UNIT", value_enum)]
    pub unit: Option<Unit>,
    /// Compare operations of different versions too
    #[arg(long)]
    pub ignore_versions: bool,
    /// Split each other run's ratio to the base into factors, on the work of this mix: a file, or one of howslow's
    #[arg(long, value_name = "MIX")]
    pub mix: Option<String>,
    /// What a unit of the mix's work took on a run: RUN=1.2ms, or RUN=RUN that has the mix's whole; may be repeated
    #[arg(long, value_name = "RUN=TIME", requires = "mix")]
    pub measured: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Order of a comparison's rows.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Order {
    /// The dearest ratio first
    Ratio,
    /// By id and point
    Name,
    /// By family, as in the base
    Family,
}

/// What costs are compared in.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Unit {
    /// Time
    Ns,
    /// Core cycles
    Cycles,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainAsked {
    /// A file, @1, the beginning of a kept run's id, or a book
    pub run: String,
    /// Only these costs of the run, part by part: an id, family or glob, optionally at a point
    #[arg(value_name = "OPERATION")]
    pub operation: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const PREDICTED: &str = "\
MIX is a TOML file, or a mix that comes with howslow: call-save-return, true, echo (docs/PREDICT.md).
CHANGE is an operation or pattern, =, and what its cost is supposed to become: a time (70ns), more or
less time (+5us, -590ns), a factor (x0.5), or the RUN whose cost to take.
Examples: howslow predict true --on @1
          howslow predict mine.toml --on @1 @2 --measured @1=1.2ms --what-if 'syscall.*=x0.5'
          howslow predict mine.toml --on @1 --what-if memory.load@set=32MiB=70ns
          howslow predict call-save-return --on multics-645 multics-6180 --factors
Exit status: 0 done; 1 failed; 2 misused: also a run that lacks what the mix needs; 3 done without it (--partial).";

/// The state of a machine that prices are of.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ByState {
    /// While the core was ours alone
    Quiet,
    /// Whatever else the machine was doing
    Typical,
}

#[derive(Debug, Args)]
#[command(after_help = PREDICTED, arg_required_else_help = true)]
pub(crate) struct PredictAsked {
    /// How often a unit of work does what: a file, or a mix that comes with howslow
    #[arg(value_name = "MIX", required = true)]
    pub mixes: Vec<String>,
    /// The runs whose costs to take
    #[arg(long, value_name = "RUN", required = true, num_args = 1..)]
    pub on: Vec<String>,
    /// Suppose that a cost were another; may be repeated, and applies in the order given
    #[arg(long, value_name = "CHANGE")]
    pub what_if: Vec<String>,
    /// What a unit of work took: 1.2ms, or the run that has the mix's whole; RUN=1.2ms where there are several runs
    #[arg(long, value_name = "TIME")]
    pub measured: Vec<String>,
    /// The state whose prices to take: undisturbed, as costs are quoted, or as programs get it that share the machine
    #[arg(long, value_name = "STATE", value_enum, default_value_t = ByState::Quiet)]
    pub by: ByState,
    /// Split the ratio of two runs, or of two mixes, into factors
    #[arg(long, conflicts_with_all = ["what_if", "partial"])]
    pub factors: bool,
    /// Predict without what a run lacks
    #[arg(long)]
    pub partial: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StudyAsked {
    /// The paper
    #[arg(value_name = "PAPER", value_parser = ["rsx", "6180", "mpe", "all"])]
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
    pub how: How,
}

#[derive(Debug, Args)]
pub(crate) struct JsonAsked {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Parses the command line; help, version and misuse end the program here, with status 0 or 2.
pub(crate) fn parse() -> Command {
    Command::parse()
}

trait Whole: std::str::FromStr + PartialOrd + From<u8> {}
impl<T: std::str::FromStr + PartialOrd + From<u8>> Whole for T {}

fn whole<T: Whole>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| "say a whole number, 0 or more, that is not absurdly large".into())
}

fn at_least_one<T: Whole>(text: &str) -> Result<T, String> {
    let number: T = whole(text)?;
    if number < T::from(1) { Err("say a whole number of at least 1".into()) } else { Ok(number) }
}

/// `1%`, `0.5 %` as a share.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match number {
        Some(number) if number > 0.0 && number <= 100.0 => Ok(number / 100.0),
        _ => Err("say a percentage above 0% and up to 100%, such as 1%".into()),
    }
}

/// `60s`, `2m`, `1m 30s`, `500ms` as seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.trim().parse::<jiff::SignedDuration>().map(|time| time.as_secs_f64());
    match seconds {
        Ok(seconds) if seconds > 0.0 && seconds <= 7.0 * 86_400.0 => Ok(seconds),
        _ => Err("say a time above 0 and up to a week with its unit, such as 500ms, 60s or 5m".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Command::command().debug_assert();
    }

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share(" 0.5 %"), Ok(0.005));
        assert_eq!(seconds("90s"), Ok(90.0));
        assert_eq!(seconds("1m 30s"), Ok(90.0));
        assert_eq!(seconds("500ms"), Ok(0.5));
        for nonsense in ["", "1", "0%", "-1%", "nan%", "inf%", "101%", "%", "1 percent"] {
            assert!(share(nonsense).is_err(), "{nonsense}");
        }
        for nonsense in ["", "60", "0s", "-1s", "nan", "1e99s", "soon", "9999999h", "8d"] {
            assert!(seconds(nonsense).is_err(), "{nonsense}");
        }
    }
}
