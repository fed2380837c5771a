//! The command line: all arguments, and the checks that come before any measurement.

mod bench;
mod bill;
mod compare;
mod crossover;
#[cfg(test)]
mod examples;
mod exchange;
mod file;
mod fleet;
mod history;
mod instead;
mod interference;
mod load;
mod measure;
mod model;
mod noise;
mod page;
mod predict;
mod prices;
mod read;
mod terminal;
mod top;
mod value;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

pub(crate) use bench::BenchArgs;
pub(crate) use bill::{BillArgs, BillFormat, BillGrowth};
pub(crate) use compare::CompareArgs;
pub(crate) use crossover::CrossoverArgs;
pub(crate) use exchange::{ExportArgs, ImportArgs};
pub(crate) use file::{AdviseArgs, FileArgs, FileVerb, PathsArgs, TuneArgs};
pub(crate) use fleet::{
    EveryArgs, FleetArg, FleetArgs, FleetRunArgs, FleetShowArgs, FleetVerb, FollowArgs, PlanArgs, SlurmArgs, StatusArgs,
};
pub(crate) use history::{HistoryArgs, HistoryVerb, WatchArgs};
pub(crate) use interference::InterferenceArgs;
pub(crate) use load::{Bound, LoadArgs};
pub(crate) use measure::{ALL, AgainstArgs, MeasureArgs, RunArgs, ScalingArgs, SelfTestArgs, StudyArgs, TimeArgs};
pub(crate) use model::{DemandArgs, ModelArgs};
pub(crate) use noise::NoiseArgs;
pub(crate) use page::ReportArgs;
pub(crate) use predict::PredictArgs;
pub(crate) use prices::PricesArgs;
pub(crate) use read::{ContributeArgs, ExplainArgs, ListArgs, ShowArgs};
pub(crate) use terminal::TerminalArgs;
pub(crate) use top::TopArgs;

const STATUS: &str = "\
RUN is a file, @1 (the newest kept run), @2 ..., a label, the beginning of a kept run's id, or a book (cascade-lake).
Examples:
  howslow
  howslow --against zen-4-kvm --budget 30s
  howslow --label before && howslow compare before @1
Exit status: 0 done; 1 failed, with --keep also if the run could not be kept; 2 misused;
3 done, but an operation asked for by name was skipped;
130 interrupted (what was measured is printed, and written only to the file of -o).
Environment: HOWSLOW_DATA folder for kept runs (default: XDG_DATA_HOME), HOWSLOW_STORE or --store their database \
(postgres://USER@HOST/DATABASE, FILE.sqlite or files; default: SQLite in that folder), TMPDIR scratch files, \
HOWSLOW_PRICES=kept bills measure no prices, \
NO_COLOR no colours, COLUMNS the width of pages (default: the terminal's; 100 in a pipe).";

const CHECKED: &str = "\
The newest kept run says what is odd here beside the reference machines; `howslow` makes one.
Examples:
  howslow doctor
  howslow doctor --json
Exit status: 0 done, whatever is found; 1 failed; 2 misused.";

const DESCRIBED: &str = "\
Examples:
  howslow schema > howslow-run.schema.json
  howslow schema compare
Exit status: 0 done; 1 failed; 2 misused: there is no such document.";

const COMPLETED: &str = "\
What this prints completes verbs and options, and needs no howslow while one types. The form with COMPLETE asks howslow at each
TAB, so that operations, their axes and values, runs, books, studies and plans are completed as well (docs/GUIDE.md).
Examples:
  howslow completions bash > ~/.local/share/bash-completion/completions/howslow
  howslow completions zsh > ~/.zfunc/_howslow
Exit status: 0 done; 1 failed; 2 misused: no such shell.";

const MANUAL: &str = "\
Examples:
  howslow man | man -l -
  howslow man ~/.local/share/man/man1
Exit status: 0 done; 1 failed; 2 misused: no such folder.";

/// What every operation of this computer costs, why, and what a change would buy.
///
/// Without a verb: measures the headline operations, in about 10 seconds.
#[derive(Debug, Parser)]
#[command(name = "howslow", version, after_help = STATUS, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub(crate) struct Command {
    #[command(flatten)]
    pub beside: AgainstArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", value_enum, help_heading = "Output")]
    pub color: clap::ColorChoice,
    /// Where runs are kept: postgres://USER@HOST/DATABASE, a FILE.sqlite, or `files` [default: SQLite in the data folder]
    // Hidden, because it would stand in the help of every verb; the text below the help of howslow names it.
    #[arg(long, global = true, value_name = "STORE", hide = true)]
    pub store: Option<String>,
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure the operations that patterns name
    Run(RunArgs),
    /// Time routines and commands of your own
    Time(Box<TimeArgs>),
    /// Count what a running program asks of the kernel, and price it
    Bill(BillArgs),
    /// Measure what bills are priced by, once for this kernel, or what one mix lacks
    Prices(PricesArgs),
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
    /// Measure on every node of a cluster: through Slurm, SSH or Kubernetes
    Fleet(FleetArgs),
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
    /// Write runs as a reference machine that others hold theirs against, without what identifies this host
    Contribute(ContributeArgs),
    /// Write a page to keep and share: a run, several runs, a fleet, what other verbs printed; or a site of many machines
    Report(ReportArgs),
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
    /// Say which costs of this machine changed, when, and what else changed then; exits with 5 if one did
    Watch(WatchArgs),
    /// Show what will make measurements noisy or impossible on this machine
    #[command(after_help = CHECKED)]
    Doctor(JsonArgs),
    /// Check that costs are measured right on this machine, in about 20 seconds; exits with 4 if not
    SelfTest(SelfTestArgs),
    /// Print the JSON Schema of a run, or of what a verb prints with --json
    #[command(after_help = DESCRIBED)]
    Schema {
        /// The document
        #[arg(value_name = "DOCUMENT", default_value = "run", value_parser = documents())]
        document: String,
    },
    /// Print shell completions; `source <(COMPLETE=bash howslow)` also completes operations, runs and books
    #[command(after_help = COMPLETED)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all manual pages into a folder
    #[command(after_help = MANUAL)]
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
    PossibleValuesParser::new(report::document::documents())
}

/// The arguments of a verb, without what stands before them.
#[cfg(test)]
pub(crate) fn parsed<A: Args>(words: &[&str]) -> Result<A, clap::Error> {
    let command = A::augment_args(clap::Command::new("howslow"));
    A::from_arg_matches(&command.try_get_matches_from([&["howslow"], words].concat())?)
}

/// The command line as clap describes it, with running text in its help that is filled to the width there is.
pub(crate) fn command() -> clap::Command {
    flowing(Command::command())
}

/// The words with a leading `--color WHEN` or `--store STORE` moved behind the verb: options before a verb are those of
/// `howslow` alone.
fn after_verb(mut words: Vec<OsString>) -> Vec<OsString> {
    let mut count = 0;
    while let Some(word) = words.get(1 + count).and_then(|word| word.to_str()) {
        count += match word {
            "--color" | "--store" => 2,
            word if word.starts_with("--color=") || word.starts_with("--store=") => 1,
            _ => break,
        };
    }
    let is_verb = words.get(1 + count).and_then(|word| word.to_str()).is_some_and(|word| !word.starts_with('-'));
    if count > 0 && is_verb {
        words[1..2 + count].rotate_right(1);
    }
    words
}

fn flowing(mut command: clap::Command) -> clap::Command {
    if let Some(help) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(joined(&help));
    }
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_string()).collect();
    verbs.into_iter().fold(command, |command, verb| command.mut_subcommand(verb, flowing))
}

/// The text with each paragraph on one line. Where lines were filled by hand, the next one continues a long line unless it
/// is indented or starts with a label, such as `Examples:`.
fn joined(text: &str) -> String {
    const LONG: usize = 78;
    let mut joined = String::new();
    let mut filled = false;
    for line in text.lines() {
        let label = line.split_once(':').is_some_and(|(word, _)| word.len() < 20 && !word.contains(['`', ';', ',']));
        if !joined.is_empty() {
            joined.push(if filled && !label && !line.is_empty() && !line.starts_with(' ') { ' ' } else { '\n' });
        }
        joined += line;
        filled = line.len() >= LONG && !line.starts_with(' ');
    }
    joined
}

/// Parses the command line. Help, version and misuse end the program here, with status 0 or 2.
pub(crate) fn parse() -> Command {
    let words = after_verb(std::env::args_os().collect());
    // Help is filled where it is printed: the other starts need not wait for it.
    let matches = Command::command().try_get_matches_from(&words).or_else(|error| match error.kind() {
        ErrorKind::DisplayVersion => Err(error),
        _ => command().try_get_matches_from(&words),
    });
    let matches = matches.unwrap_or_else(|error| instead::exit(error));
    let command = Command::from_arg_matches(&matches).unwrap_or_else(|error| instead::exit(error));
    match command.color {
        clap::ColorChoice::Auto if is_plain_terminal() => anstream::ColorChoice::Never,
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    command
}

/// Whether the terminal says that it has no colours and nobody forces them. The library alone would colour such a terminal
/// wherever CI is set.
fn is_plain_terminal() -> bool {
    let is_forced = std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    !is_forced && crate::output::only_prints()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_and_the_store_may_be_given_before_the_verb() {
        let moved = |words: &[&str]| after_verb(words.iter().map(OsString::from).collect());
        assert_eq!(moved(&["howslow", "--color", "never", "list", "x"]), ["howslow", "list", "--color", "never", "x"]);
        assert_eq!(moved(&["howslow", "--color=never", "list"]), ["howslow", "list", "--color=never"]);
        let both = moved(&["howslow", "--store", "files", "--color=never", "history"]);
        assert_eq!(both, ["howslow", "history", "--store", "files", "--color=never"]);
        for words in [&["howslow", "--color", "never"][..], &["howslow", "--color", "never", "--json"], &["howslow"]] {
            assert_eq!(moved(words), words);
        }
    }

    #[test]
    fn running_text_is_filled_once() {
        let filled = format!("{} and\nmore words.\nExamples: howslow\n          howslow run", "word ".repeat(16));
        let lines: Vec<String> = joined(&filled).lines().map(String::from).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].ends_with("and more words."));
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }
}
