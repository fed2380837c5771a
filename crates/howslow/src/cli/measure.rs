//! The arguments that the verbs which measure share, and `howslow` without a verb.

use std::path::PathBuf;

use clap::{Args, FromArgMatches};
use clap_complete::ArgValueCompleter;
use instruments::interference::Load;
use record::Arrivals;

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
    #[arg(long, value_name = "REFERENCE", conflicts_with_all = ["json", "csv", "repeat"], add = ArgValueCompleter::new(complete::runs))]
    pub against: Option<String>,
}

/// `disk-reads@50%`.
fn load(text: &str) -> Result<Load, String> {
    Load::parse(text).map_err(|error| error.to_string())
}
