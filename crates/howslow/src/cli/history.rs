//! The arguments of the verbs that look back: `history` and `watch`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::value::{at_least_one, share};

const FILTERS: &str = "\
Examples: howslow history -n 5
          howslow history --since 3d --operation syscall.getppid
          howslow history --take-in results/ --store postgres://howslow@db.example/costs
Exit status: 0 done, also if no run fits; 1 the store could not be read; 2 misused: no such time or folder;
3 done, but a file that --take-in names is no run.";

#[derive(Debug, Args)]
#[command(after_help = FILTERS, args_conflicts_with_subcommands = true)]
pub(crate) struct HistoryArgs {
    #[command(subcommand)]
    pub verb: Option<HistoryVerb>,
    /// Only runs of the machine with this host name, or of machines whose class has this text in it
    #[arg(long, value_name = "TEXT")]
    pub machine: Option<String>,
    /// Only runs since then: 3d, 12h, 2w, or a date such as 2026-11-20 (UTC)
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only runs that have such a cost: an id, family or glob, optionally at a point; may be repeated
    #[arg(long, value_name = "PATTERN", add = clap_complete::ArgValueCompleter::new(crate::complete::operations))]
    pub operation: Vec<String>,
    /// Only runs with this label
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// At most this many, the newest ones
    #[arg(short, long, value_name = "N", value_parser = at_least_one::<usize>, allow_hyphen_values = true)]
    pub newest: Option<usize>,
    /// First take these run files, or all of these folders, into the store; the files stay
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub take_in: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print CSV, one row a run
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

const REMOVED: &str = "\
Examples: howslow history remove @1
          howslow history remove label:before 20260103
Exit status: 0 done; 1 failed; 2 misused: no such run. Then nothing is removed.";

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryVerb {
    /// Remove kept runs for good, after printing what they were
    #[command(after_help = REMOVED)]
    Remove {
        /// @1, label:NAME, or the beginning of an id
        #[arg(required = true, value_name = "RUN", add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
        runs: Vec<String>,
    },
}

const WATCHED: &str = "\
A cost changed if the runs before and after differ by more than their scatter and by --at-least.
Exit status: 0 no cost changed; 1 the store could not be read; 2 misused: no such run, fewer than four
earlier runs; 5 a cost is at a new level.
Examples: howslow watch
          howslow watch --operation 'syscall.*' --since 2w";

#[derive(Debug, Args)]
#[command(after_help = WATCHED)]
pub(crate) struct WatchArgs {
    /// The run that is held against earlier ones [default: the newest kept run]
    #[arg(add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub run: Option<String>,
    /// Only these costs: an id, family or glob, optionally at a point; may be repeated
    #[arg(long, value_name = "PATTERN", add = clap_complete::ArgValueCompleter::new(crate::complete::operations))]
    pub operation: Vec<String>,
    /// Tell the changes since then: 3d, 12h, 2w, or a date such as 2026-11-20 (UTC) [default: those of the last ten runs]
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// The smallest change that counts
    #[arg(long = "at-least", value_name = "PERCENT", default_value = "1%", value_parser = share, allow_hyphen_values = true)]
    pub least: f64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
