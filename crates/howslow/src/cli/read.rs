//! The arguments of the verbs that list and read: `list`, `show` and `explain`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::ArgValueCompleter;

use crate::complete;

const LISTED: &str = "\
A star marks the headline operations. Several words find what fits all of them best.
Examples:
  howslow list
  howslow list 'context switch'
  howslow list huge
  howslow list memory.load pipe
  howslow list --syscalls 'open*'
Exit status: 0 done; 1 failed; 2 misused: nothing fits these words.";

#[derive(Debug, Args)]
#[command(after_help = LISTED)]
pub(crate) struct ListArgs {
    /// Patterns as for `howslow run`, or words to search for: huge pages, lat_ctx, 'context switch'; with --syscalls also a
    /// call's name, a glob over names, or a number
    #[arg(value_name = "PATTERN|WORD", add = ArgValueCompleter::new(complete::operations))]
    pub patterns: Vec<String>,
    /// List every system call of this architecture: the operation that times it, or the reason why none does
    #[arg(long)]
    pub syscalls: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const SHOWN: &str = "\
Examples:
  howslow show @1
  howslow show before.json --all
  howslow show @1 --against zen-4-kvm
  howslow show @1 --format lmbench
  howslow show multics-6180 --csv
Exit status: 0 done; 1 the run could not be read; 2 misused: no such run.";

#[derive(Debug, Args)]
#[command(after_help = SHOWN)]
pub(crate) struct ShowArgs {
    /// A file, @1, the beginning of a kept run's id, or a book
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: String,
    /// Print every cost, and each doubt and reason by itself
    #[arg(long)]
    pub all: bool,
    /// Add a column: how many times the cost of this reference machine or run each cost is
    #[arg(long, value_name = "REFERENCE", conflicts_with_all = ["json", "csv", "format"], add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub against: Option<String>,
    /// Add the figures of all kept runs of this build, kernel, boot and machine together
    #[arg(long, conflicts_with_all = ["json", "csv", "format"])]
    pub kept: bool,
    /// Print the run document
    #[arg(long)]
    pub json: bool,
    /// With --json: without the samples
    #[arg(long, requires = "json", conflicts_with = "csv")]
    pub summary: bool,
    /// Print CSV: one row a cost, one column an axis
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print the run in this format of `howslow export`
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "csv"], value_parser = exporters())]
    pub format: Option<String>,
}

fn exporters() -> PossibleValuesParser {
    PossibleValuesParser::new(store::exchange::EXPORTERS.iter().map(|format| format.name))
}

const EXPLAINED: &str = "\
Examples:
  howslow explain @1
  howslow explain @1 pipe.roundtrip
  howslow explain before.json 'memory.*@size=64MiB' --json
Exit status: 0 done; 1 the run could not be read; 2 misused: no such run, or no cost of it fits.";

#[derive(Debug, Args)]
#[command(after_help = EXPLAINED)]
pub(crate) struct ExplainArgs {
    /// A file, @1, the beginning of a kept run's id, or a book
    #[arg(add = ArgValueCompleter::new(complete::runs))]
    pub run: String,
    /// Only these costs of the run, with their parts: an id, family or glob, optionally at a point
    #[arg(value_name = "OPERATION", add = ArgValueCompleter::new(complete::operations))]
    pub operation: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const CONTRIBUTED: &str = "\
Several runs give medians, and intervals that hold the scatter between the runs: five or more are best.
What identifies a host is left out: names, ids, paths, the kernel's command line but for options that change costs.
The words on stderr say what was kept and what was left out. Read the file before you pass it on.
Examples:
  howslow --repeat 5 && howslow contribute @1 @2 @3 @4 @5 -o my-machine.toml
Exit status: 0 done; 1 failed; 2 misused, or no reference can be made of these runs.";

#[derive(Debug, Args)]
#[command(after_help = CONTRIBUTED, override_usage = "howslow contribute <RUN>... -o <BOOK.toml>")]
pub(crate) struct ContributeArgs {
    /// Runs of one machine: files, @1, or the beginnings of kept runs' ids
    #[arg(value_name = "RUN", required = true, add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub runs: Vec<String>,
    /// The book's file; its name without `.toml` is the book's name
    #[arg(short, long, value_name = "BOOK.toml")]
    pub output: std::path::PathBuf,
}
