//! The command line: all arguments, and the checks that come before any measurement.

mod bill;
mod compare;
mod crossover;
mod exchange;
mod file;
mod interference;
mod load;
mod measure;
mod model;
mod noise;
mod predict;
mod read;
mod terminal;
mod top;
mod value;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use report::document::DOCUMENTS;

pub(crate) use bill::{BillArgs, BillFormat, CountingSource, StackWeight};
pub(crate) use compare::{CompareArgs, CompareUnit, SortBy};
pub(crate) use crossover::{ComparedBy, CrossoverArgs};
pub(crate) use exchange::{ExportArgs, HistoryArgs, ImportArgs};
pub(crate) use file::{AdviseArgs, FileArgs, FileVerb, PathsArgs, RecordOrder, TuneArgs};
pub(crate) use interference::InterferenceArgs;
pub(crate) use load::{Bound, LoadArgs};
pub(crate) use measure::{ALL, MeasureArgs, RunArgs, ScalingArgs, StudyArgs, TimeArgs};
pub(crate) use model::{DemandArgs, ModelArgs};
pub(crate) use noise::NoiseArgs;
pub(crate) use predict::{PredictArgs, PriceState};
pub(crate) use read::{ExplainArgs, ListArgs, ShowArgs};
pub(crate) use terminal::TerminalArgs;
pub(crate) use top::{SortColumn, TopArgs};

const STATUS: &str = "\
RUN is a file, @1 (the newest kept run), @2 ..., the beginning of a kept run's id, or a book (pdp-11-24, cascade-lake).
Exit status: 0 done; 1 failed; 2 misused; 3 done, but an operation asked for by name was skipped;
130 interrupted (what was measured is printed, and written only to the file of -o).
Environment: HOWSLOW_DATA folder for kept runs (default: XDG_DATA_HOME), TMPDIR scratch files, NO_COLOR no colours.";

/// What every operation of this computer costs, why, and what a change would buy.
///
/// Without a verb: measures the headline operations, in about fifteen seconds.
#[derive(Debug, Parser)]
#[command(name = "howslow", version, after_help = STATUS, args_conflicts_with_subcommands = true)]
pub(crate) struct Command {
    #[command(flatten)]
    pub measure: MeasureArgs,
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure the operations that patterns name
    Run(RunArgs),
    /// Time routines and commands of your own
    Time(TimeArgs),
    /// Count what a running program asks of the kernel, and price it
    Bill(BillArgs),
    /// The bill of the whole system, live: processes and cgroups by what they cost the system
    Top(TopArgs),
    /// How long a computing program is taken away from each CPU, and by whom
    Noise(NoiseArgs),
    /// Where one operation overtakes another along an axis, with an interval
    Crossover(CrossoverArgs),
    /// How much each kind of work is slowed by each other kind beside it
    Interference(InterferenceArgs),
    /// What a second CPU and every further one bring, by the kind of work
    Scaling(ScalingArgs),
    /// Scripted users with too little memory: what they wait for, where time goes, where memory breaks off
    Load(LoadArgs),
    /// How fast the terminal that you sit at parses what is sent to it, and how soon it answers
    Terminal(TerminalArgs),
    /// Show how much of a file is in memory, evict it, write it to its device, or find the fastest way to read it
    File(FileArgs),
    /// List the operations
    List(ListArgs),
    /// Print a run
    Show(ShowArgs),
    /// Write runs in the format of another program: CSV, Parquet, metrics, benchstat, lmbench ...
    Export(ExportArgs),
    /// Read what another tool measured as a run: lmbench, hyperfine, google-benchmark, criterion
    Import(ImportArgs),
    /// Compare runs cost by cost, as ratios, and say which differences exceed the noise
    Compare(CompareArgs),
    /// Explain costs: derived costs, their parts, and what the parts leave unexplained
    Explain(ExplainArgs),
    /// Predict the time of a program's work on a machine from a mix: how often it performs each operation
    Predict(PredictArgs),
    /// Model users, CPUs, memory and a page device: response, idle time, how many users, what a change is worth
    Model(ModelArgs),
    /// Repeat a paper's experiment on this machine, and test its tables and statements
    Study(StudyArgs),
    /// List the kept runs, newest first
    History(HistoryArgs),
    /// Show what will make measurements noisy or impossible on this machine
    Doctor(JsonArgs),
    /// Print the JSON Schema of a run, or of what a verb prints with --json
    Schema {
        /// The document
        #[arg(value_name = "DOCUMENT", default_value = "run", value_parser = documents())]
        document: String,
    },
    /// Print shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all manual pages into a folder
    Man {
        /// An existing folder
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct JsonArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The documents that have a schema.
fn documents() -> PossibleValuesParser {
    PossibleValuesParser::new(DOCUMENTS.iter().map(|(name, _)| *name))
}

/// Parses the command line. Help, version and misuse end the program here, with status 0 or 2.
pub(crate) fn parse() -> Command {
    Command::parse()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Command::command().debug_assert();
    }
}
