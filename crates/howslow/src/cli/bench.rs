//! The arguments of `howslow time --bench`.

use std::path::PathBuf;

use analysis::compare::FailOn;
use clap::Args;

use super::value::{between, share};

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
