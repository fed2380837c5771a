//! What the verbs that list and read can be told: `list`, `show` and `explain`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
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
pub(crate) struct ShowArgs {
    /// A file, @1, the beginning of a kept run's id, or a book
    pub run: String,
    /// Print the run document
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A file, @1, the beginning of a kept run's id, or a book
    pub run: String,
    /// Only these costs of the run, part by part: an id, family or glob, optionally at a point
    #[arg(value_name = "OPERATION")]
    pub operation: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
