//! What can be typed, and what is refused before anything is measured.

mod compare;
mod crossover;
mod file;
mod measure;
mod predict;
mod read;
mod value;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use report::document::DOCUMENTS;

pub(crate) use compare::{CompareArgs, SortBy, Unit};
pub(crate) use crossover::{ComparedBy, CrossoverArgs};
pub(crate) use file::{AdviseArgs, FileArgs, FileVerb, PathsArgs, RecordOrder, TuneArgs};
pub(crate) use measure::{ALL, MeasureArgs, RunArgs, StudyArgs, TimeArgs};
pub(crate) use predict::{PredictArgs, PriceState};
pub(crate) use read::{ExplainArgs, ListArgs, ShowArgs};

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
    /// The operations there are
    List(ListArgs),
    /// Print a run again
    Show(ShowArgs),
    /// How many times dearer each cost is in one run than in another, and which differences are more than noise
    Compare(CompareArgs),
    /// What costs consist of: derived costs, parts and what they leave unexplained
    Explain(ExplainArgs),
    /// What a program's work takes on a machine, from how often it does what
    Predict(PredictArgs),
    /// Where one operation overtakes another along an axis, with an interval
    Crossover(CrossoverArgs),
    /// A paper's tables and sentences, tested on this machine
    Study(StudyArgs),
    /// How much of a file is in memory, put it out, write it
    File(FileArgs),
    /// The runs kept, newest first
    History(JsonArgs),
    /// What will make numbers noisy or missing on this machine
    Doctor(JsonArgs),
    /// Print the JSON Schema of a run document, or of what a verb prints with --json
    Schema {
        /// The document
        #[arg(value_name = "DOCUMENT", default_value = "run", value_parser = documents())]
        document: String,
    },
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

/// Parses the command line; help, version and misuse end the program here, with status 0 or 2.
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
