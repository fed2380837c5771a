//! The arguments of `howslow compare`.

use analysis::compare::FailOn;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use record::CountedIn;
use report::Sort;

use crate::cli::value::share;

const COMPARED: &str = "\
The first RUN is the base. A ratio is the cost in another run divided by the cost in the base, so above 1 means slower. A \
difference is a change if it exceeds the interval of the ratio by more than chance does over all costs of a run, and \
--threshold, and if both runs were undisturbed often enough to show it.

To compare several runs with several, separate them with --: compare @4 @3 -- @2 @1. The rounds of the runs on a side are \
taken together, so that smaller changes show.

A gate (--fail-on) counts changes only. Inconclusive costs do not fail it, and stderr says how many there are: longer runs \
decide. A cost that --only names and that a run lacks, or that has no verdict, makes the gate incomplete: status 3.

Examples:
  howslow compare @2 @1
  howslow compare @4 @3 -- @2 @1
  howslow compare @1 pdp-11-24 --sort ratio
  howslow compare before.json after.json --fail-on slower --at-least 5%
  howslow compare before.json after.json --only syscall --markdown > comment.md
  howslow compare @2 @1 --mix mine.toml --measured @2=1.2ms --measured @1=1.5ms

Exit status: 0 done, or the gate passed; 1 a run could not be read; 2 misused: only one run, an unknown run, a pattern \
that matches nothing, runs without a common cost, a run that lacks what the mix needs; 3 no cost failed the gate, but one \
that --only names has no verdict; 4 the gate failed.";

/// Compare runs cost by cost, as ratios, and say which differences exceed the noise
#[derive(Debug, Args)]
#[command(after_help = COMPARED)]
pub(crate) struct CompareArgs {
    /// Two runs or more, the base first: a file, @1, the beginning of a kept run's id, or a book
    #[arg(value_name = "RUN", required = true, num_args = 1.., add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub runs: Vec<String>,
    /// Behind --: the runs that are compared with those before it, taken together on either side
    #[arg(value_name = "RUN", last = true, add = clap_complete::ArgValueCompleter::new(crate::complete::runs))]
    pub others: Vec<String>,
    /// Only these costs: an id, family or glob, optionally at a point; may be repeated
    #[arg(long, value_name = "PATTERN", add = clap_complete::ArgValueCompleter::new(crate::complete::operations))]
    pub only: Vec<String>,
    /// Order of the rows
    #[arg(long, value_enum, default_value_t = Sort::Family, conflicts_with_all = ["json", "csv"])]
    pub sort: Sort,
    /// Every row, also those that are the same or inconclusive [default: only with --only]
    #[arg(long, conflicts_with = "changed")]
    pub all: bool,
    /// Only rows that differ by more than the noise, also with --only and --json
    #[arg(long)]
    pub changed: bool,
    /// The smallest difference that counts as a change, however small the noise is; between two books any beyond their intervals does
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = share, allow_hyphen_values = true)]
    pub threshold: f64,
    /// Two costs are the same if their ratio lies within this share of 1, each side at 95 %
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = share, allow_hyphen_values = true)]
    pub margin: f64,
    /// Compare all costs in times or in clock cycles [default: cycles if a cost scales with the clock and the processors are of one
    /// kind]
    #[arg(long = "in", value_name = "UNIT", value_parser = unit())]
    pub unit: Option<CountedIn>,
    /// Compare operations of different versions too
    #[arg(long)]
    pub ignore_versions: bool,
    /// Split the ratio of each run to the base into factors, on the work of this mix: a file, or a mix that comes with howslow
    #[arg(long, value_name = "MIX", add = clap_complete::ArgValueCompleter::new(crate::complete::mixes))]
    pub mix: Option<String>,
    /// The measured time of a unit of the mix's work on a run: RUN=1.2ms, or RUN=RUN with a run that measured the mix's whole; may be
    /// repeated
    #[arg(long, value_name = "RUN=TIME", requires = "mix")]
    pub measured: Vec<String>,
    /// A gate: exit status 4 if a cost is slower than in the base, or if one has changed in either direction
    #[arg(long, value_name = "VERDICT", value_enum)]
    pub fail_on: Option<FailOn>,
    /// With --fail-on: a change fails only if it is larger than this
    #[arg(long, value_name = "PERCENT", requires = "fail_on", value_parser = share, allow_hyphen_values = true)]
    pub at_least: Option<f64>,
    /// Print Markdown for a comment on a pull request: the verdict, what changed, the rest folded
    #[arg(long, conflicts_with_all = ["csv", "json", "mix", "changed", "all"])]
    pub markdown: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print CSV: one row for each cost of each run but the base
    #[arg(long, conflicts_with_all = ["json", "mix"])]
    pub csv: bool,
}

fn unit() -> impl TypedValueParser<Value = CountedIn> {
    let words = [PossibleValue::new("ns").help("Time"), PossibleValue::new("cycles").help("Core cycles")];
    PossibleValuesParser::new(words).map(|word| if word == "ns" { CountedIn::Nanoseconds } else { CountedIn::Cycles })
}
