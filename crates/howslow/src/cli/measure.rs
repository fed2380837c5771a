//! The arguments of the verbs that measure: `run`, `time`, `study`, and `howslow` without a verb.

use std::path::PathBuf;

use analysis::study::STUDIES;
use clap::builder::PossibleValuesParser;
use clap::{Args, FromArgMatches};
use clap_complete::ArgValueCompleter;
use instruments::interference::Load;
use record::Arrivals;

use super::bench::BenchArgs;
use super::bill::BillGrowth;
use super::interference::load;
use super::value::{arrivals, at_least_one, between, label, seconds, share, whole};
use crate::complete;

/// How to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "How to measure")]
pub(crate) struct MeasureArgs {
    /// Iterations per batch, instead of as many as fit a tenth of a millisecond
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>, allow_hyphen_values = true)]
    pub count: Option<u64>,
    /// Fresh processes per cost, at least this many [default: 6]
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>, allow_hyphen_values = true)]
    pub rounds: Option<u32>,
    /// A cost gets no more rounds once half the width of its 95 % interval is below this share
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = share, allow_hyphen_values = true)]
    pub precision: f64,
    /// Time the whole run may take [default: 9s; 60s with patterns; 175s with --full; 30s for `time`, 20s for `crossover`, 1.5s a cost for `scaling`]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub budget: Option<f64>,
    /// With `run`, or without a verb: measure this many whole runs, and show how much each cost scatters between them
    #[arg(long, value_name = "N", value_parser = between::<2, 1000>, conflicts_with_all = ["output", "svg"])]
    pub repeat: Option<u32>,
    /// Measure on this CPU only
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_hyphen_values = true)]
    pub cpu: Option<u32>,
    /// Measure beside this work, at work for a share of the time: disk-reads@50%, memory@same, compute@25%@sibling
    /// (`howslow interference --help` lists the kinds); may be repeated
    #[arg(long, value_name = "KIND[@DOSE][@PLACE]", value_parser = load)]
    pub beside: Vec<Load>,
    /// Name the run: RUN then takes this name, and the newest run that has it is meant
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub label: Option<String>,
    /// Use the rounds of this run instead of new ones
    #[arg(long, value_name = "RUN", hide = true)]
    pub replay: Option<String>,
    /// Seed of the order, the offsets and the bootstrap
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_hyphen_values = true)]
    pub seed: Option<u64>,
    /// Time single iterations as well: p50, p90, p99, p99.9 and p99.99, each with an interval
    #[arg(long, conflicts_with = "csv")]
    pub tails: bool,
    /// With --tails: iterations are asked for so often, whether or not the one before is done, at equal distances or, with
    /// `,poisson`, at random; waiting counts in the response time
    #[arg(long, value_name = "RATE[,poisson]", value_parser = arrivals, requires = "tails", allow_hyphen_values = true)]
    pub arrivals: Option<Arrivals>,
    /// Write charts into this folder, as SVG: the percentile curves of --tails, or the chart of the verb
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Also write the run document to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Fail with status 1 if the run cannot be kept; without it, that is a warning
    #[arg(long)]
    pub keep: bool,
    /// Print every cost, and each doubt and reason by itself
    #[arg(long)]
    pub all: bool,
    /// Print JSON instead of the page
    #[arg(long)]
    pub json: bool,
    /// With --json: without the samples
    #[arg(long, requires = "json", conflicts_with = "csv")]
    pub summary: bool,
    /// Print CSV instead of the page: one row a cost, one column an axis
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

impl Default for MeasureArgs {
    /// Those of a command line that says nothing.
    fn default() -> MeasureArgs {
        let matches = MeasureArgs::augment_args(clap::Command::new("howslow")).get_matches_from(["howslow"]);
        MeasureArgs::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// What a page of a run shows it beside.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AgainstArgs {
    /// Add a column: how many times the cost of this reference machine or run each cost is
    #[arg(long, value_name = "REFERENCE", conflicts_with_all = ["json", "csv", "repeat"], add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub against: Option<String>,
}

const MEASURED: &str = "\
Examples:
  howslow run pipe memory.copy
  howslow run 'pipe.*@size=4KiB,distance=other' --budget 20s
  howslow run syscall.getppid --label before -o before.json
  howslow run syscall.read.null syscall.write.null --ratio
  howslow run syscall:read openat2 --tails --svg charts
  howslow run memory --full --csv > memory.csv
Exit status: 0 done; 1 failed; 2 misused: no such operation, point or CPU, or a budget that is too short; 3 done, but an \
operation asked for by name was skipped; 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = MEASURED)]
pub(crate) struct RunArgs {
    /// Ids, families or globs, optionally at a point: memory.copy, pipe, 'syscall.*', 'pipe.*@size=4KiB,distance=other';
    /// a number of your own within the bounds that `howslow list` tells: poll.poll@descriptors=10000; or a system call:
    /// openat2
    #[arg(value_name = "PATTERN", add = ArgValueCompleter::new(complete::operations))]
    pub patterns: Vec<String>,
    /// At every point, not only the headline ones; without patterns: every operation
    #[arg(long)]
    pub full: bool,
    /// Let the batches of these 2 to 8 costs alternate, and print how many times as long each takes as that of the first pattern:
    /// what disturbs both cancels
    #[arg(long, requires = "patterns", conflicts_with_all = ["repeat", "tails", "csv"])]
    pub ratio: bool,
    #[command(flatten)]
    pub beside: AgainstArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

const TIME_USAGE: &str = "\
howslow time [OPTIONS] -- <COMMAND>...
       howslow time [OPTIONS] -c <COMMAND> [-c <COMMAND>]...
       howslow time [OPTIONS] <FILE:ROUTINE>...
       howslow time [OPTIONS] --bench <OLD> [<NEW>]";

const TIMED: &str = "\
A routine is `void NAME(void)`, called once per iteration. If its name ends in _times, it is `void NAME_times(uint64_t)` and \
does that number of iterations itself. A command runs with its input and output on /dev/null; the cost of starting a program \
that does nothing is subtracted. Several routines or commands run in lockstep, A B B A, until the ratio is as \
precise as --precision or the budget is spent. The page begins with who is faster and by how much.

There is no shell between, unless --shell is given: --shell -c 'sort words.txt | uniq -c'. The options --setup, --prepare, \
--conclude and --cleanup are commands for a shell. {NAME} stands for a value of --parameter in all of them, in commands and \
in routines; a command is timed for each combination of the values of its parameters. All of --setup happens before the \
first round: what it makes for one value must not replace what it makes for another (-o prog-{level}).

Examples:
  howslow time ./mine.so:sum ./mine.so:sum_fast_times
  howslow time -- sort words.txt
  howslow time -c 'sort words.txt' -c 'sort -u words.txt'
  howslow time --parameter size=1M,64M -c 'sort -S {size} words.txt'
  howslow time --cold words.txt -- sort words.txt
  howslow time -L threads 1,2,4 --all-cpus -c 'sort --parallel {threads} words.txt' --export-json times.json
  howslow time -c './old input' -c './new input' --fail-on-counts more-calls
  howslow time --prepare 'howslow file evict a' --prepare 'cat a' -c 'wc a' -c 'wc -l a' --json
  howslow time --bench old/benches/sums new/benches/sums --fail-on slower

Exit status: 0 done; 1 nothing could be timed, or --setup or --cleanup failed; 2 misused: no such file, routine or program; \
3 some of them could not be timed; \
4 the gate of --fail-on or --fail-on-counts failed.";

#[derive(Debug, Args)]
#[command(after_help = TIMED, arg_required_else_help = true, override_usage = TIME_USAGE)]
pub(crate) struct TimeArgs {
    /// Routines of shared objects: ./mine.so:routine
    #[arg(value_name = "FILE:ROUTINE")]
    pub routines: Vec<String>,
    /// A command line, split into words as a shell does; may be repeated
    #[arg(short, long = "command", value_name = "COMMAND")]
    pub commands: Vec<String>,
    /// One more command, already split into words
    #[arg(last = true, value_name = "COMMAND")]
    pub words: Vec<String>,
    /// Time a command whatever its exit status
    #[arg(long)]
    pub ignore_failure: bool,
    /// Let a command use every CPU, not only the one that its round is pinned to
    #[arg(long)]
    pub all_cpus: bool,
    /// Quote the typical time, for work that waits for a timer, a device or another process
    #[arg(long)]
    pub waits: bool,
    /// Give up a round after this time [default: a tenth of the budget; 10m for a command; 30s for a batch of a bench program]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub patience: Option<f64>,
    /// The values of {NAME} in commands and routines; if repeated, every combination
    #[arg(long, value_name = "NAME=V1,V2,...")]
    pub parameter: Vec<String>,
    /// The same as --parameter, in two words
    #[arg(short = 'L', value_names = ["NAME", "V1,V2,..."], num_args = 2)]
    pub list: Vec<String>,
    /// Give the text of each -c to this shell, instead of splitting it [default: sh]
    #[arg(long, value_name = "SHELL", num_args = 0..=1, default_missing_value = "sh", require_equals = true)]
    pub shell: Option<String>,
    /// The standard input of commands, instead of /dev/null
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Evict this file from memory before every run of a command, outside the timing; may be repeated
    #[arg(long, value_name = "FILE")]
    pub cold: Vec<PathBuf>,
    /// Of two or more commands: run each once more, counted, and print how calls, faults and switches changed from the first
    #[arg(long)]
    pub counts: bool,
    /// Exit status 4 if one of these grew from the first command to another: more-calls, more-faults, more-switches; implies
    /// --counts
    #[arg(long, value_name = "GROWTH", value_enum, value_delimiter = ',', hide_possible_values = true)]
    pub fail_on_counts: Vec<BillGrowth>,
    /// Write the times of all runs in hyperfine's JSON
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// The one that the others are compared with, timed as well [default: the fastest]
    #[arg(long, value_name = "COMMAND")]
    pub reference: Option<String>,
    /// Once for each command, before all rounds
    #[arg(long, value_name = "COMMAND")]
    pub setup: Option<String>,
    /// Before every timed run of a command, outside the timing: once for all commands, or once for each in their order
    #[arg(long, value_name = "COMMAND")]
    pub prepare: Vec<String>,
    /// After every timed run of a command, outside the timing: once for all commands, or once for each
    #[arg(long, value_name = "COMMAND")]
    pub conclude: Vec<String>,
    /// Once for each command, after all rounds, also after a failure
    #[arg(long, value_name = "COMMAND")]
    pub cleanup: Option<String>,
    #[command(flatten)]
    pub bench: BenchArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

const STUDIED: &str = "\
Examples:
  howslow study rsx
  howslow study 6180 --run @1
  howslow study mpe --full --svg figures
  howslow study all --json > studies.json
Exit status: 0 done, whichever sentences hold; what could not be measured is in the tables with its reason; 1 failed; \
2 misused: no such paper or run; 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = STUDIED)]
pub(crate) struct StudyArgs {
    /// The paper
    #[arg(value_name = "PAPER", value_parser = papers())]
    pub paper: String,
    /// Also measure what takes minutes: for mpe every method over 256 MiB
    #[arg(long)]
    pub full: bool,
    /// Use the costs of this run, instead of measuring what the study needs
    #[arg(long, value_name = "RUN", add = ArgValueCompleter::new(complete::runs), conflicts_with_all = ["count", "rounds", "precision", "budget", "cpu", "beside", "seed", "output", "full", "repeat", "tails", "arrivals", "label", "keep"])]
    pub run: Option<String>,
    /// For mpe: instead of the tables, tune prefetch as its postscript does, on this file or on one created for it [budget: 30s]
    #[arg(long, value_name = "PATH", num_args = 0..=1, conflicts_with_all = ["run", "full", "all", "count", "rounds", "precision", "cpu", "beside", "seed", "output", "svg", "repeat", "tails", "arrivals", "label", "keep"])]
    pub prefetch: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

const CHECKED: &str = "\
An add, a multiplication and a load from the first cache take a known number of cycles; a system call and a pipe take what plain \
loops take; two runs that differ in nothing do not differ; nothing stays behind. No run is kept.
Examples:
  howslow self-test
  howslow self-test --budget 1m --json
Exit status: 0 pass; 1 nothing could be measured; 2 misused; 3 no check failed, and some cannot be done here or now; 4 a check \
failed; 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = CHECKED)]
pub(crate) struct SelfTestArgs {
    /// Time that both runs together may take; plain loops take a third of it more, 2 s to 6 s
    #[arg(long, value_name = "TIME", default_value = "18s", value_parser = seconds, allow_hyphen_values = true)]
    pub budget: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const SCALED: &str = "\
Examples:
  howslow scaling
  howslow scaling --budget 5m --svg charts
  howslow scaling --run @1
Exit status: 0 done; 1 failed, or nothing could be measured; 2 misused: no such run; 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = SCALED)]
pub(crate) struct ScalingArgs {
    /// Take the costs of this run, instead of measuring
    #[arg(long, value_name = "RUN", add = ArgValueCompleter::new(complete::runs), conflicts_with_all = ["count", "rounds", "precision", "budget", "cpu", "beside", "seed", "output", "repeat", "tails", "arrivals", "label", "keep"])]
    pub run: Option<String>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// The names of the studies, and a word for all of them.
fn papers() -> PossibleValuesParser {
    PossibleValuesParser::new(STUDIES.iter().map(|study| study.name).chain([ALL]))
}

/// Selects every study.
pub(crate) const ALL: &str = "all";
