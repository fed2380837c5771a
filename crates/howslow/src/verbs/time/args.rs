//! The arguments of `howslow time`.

use std::path::PathBuf;

use analysis::compare::FailOn;
use clap::Args;

use crate::cli::measure::MeasureArgs;
use crate::cli::value::{between, seconds, share};
use crate::verbs::bill::args::BillGrowth;

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

/// Time routines and commands of your own
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
    #[arg(long, conflicts_with_all = ["json", "csv"])]
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

/// Bench programs instead of routines and commands.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Bench programs (docs/BENCH.md)")]
pub(crate) struct BenchArgs {
    /// Measure the benchmarks of this program; with an old and a new one, compare them in lockstep: programs of howslow-bench, and
    /// those of criterion, divan, Google Benchmark and go test -c
    #[arg(long, value_name = "PROGRAM", num_args = 1..=2, conflicts_with_all = [
        "routines", "commands", "words", "ignore_failure", "parameter", "list", "shell", "input", "cold", "counts", "fail_on_counts",
        "export_json", "reference", "setup", "prepare", "conclude", "cleanup",
    ])]
    pub bench: Vec<PathBuf>,
    /// The old one: a git revision or a folder, in which cargo builds it, or a program
    #[arg(long, value_name = "OLD", requires = "bench")]
    pub against: Option<String>,
    /// Only benchmarks whose name contains this, or matches this pattern of another harness; may be repeated
    #[arg(long, value_name = "TEXT", requires = "bench")]
    pub filter: Vec<String>,
    /// Only benchmarks of exactly the name of a --filter
    #[arg(long, requires = "filter")]
    pub exact: bool,
    /// Also link both in this many other orders of functions, and average over them [default: 2, if a benchmark has changed]
    #[arg(long, value_name = "N", requires = "against", value_parser = between::<0, 16>, allow_hyphen_values = true)]
    pub layouts: Option<u32>,
    /// An option for the cargo that builds the old one, such as --features=fast; may be repeated
    #[arg(long, value_name = "OPTION", requires = "against", allow_hyphen_values = true)]
    pub cargo: Vec<String>,
    /// Also compare the old one with itself: how often does this machine call nothing a change?
    #[arg(long, requires = "bench")]
    pub null: bool,
    /// A gate: exit status 4 if a benchmark is slower, or with `changed` if one has changed in either direction
    #[arg(long, value_name = "slower|changed", value_enum, hide_possible_values = true, requires = "bench")]
    pub fail_on: Option<FailOn>,
    /// With --fail-on: a change fails only if it is larger than this
    #[arg(long, value_name = "PERCENT", requires = "fail_on", value_parser = share, allow_hyphen_values = true)]
    pub at_least: Option<f64>,
    /// Also write Markdown for a comment on a pull request
    #[arg(long, value_name = "FILE", requires = "bench")]
    pub markdown: Option<PathBuf>,
    /// Also write a badge as SVG
    #[arg(long, value_name = "FILE", requires = "bench")]
    pub badge: Option<PathBuf>,
}
