//! `howslow show`: prints a kept run or a book.

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::ArgValueCompleter;
use record::Run;

use crate::against::{self, References};
use crate::kin::Kin;
use crate::output::{self, Outcome};
use crate::verbs::export::{self, ExportArgs};
use crate::{complete, resolve};

const SHOWN: &str = "\
Examples:
  howslow show @1
  howslow show before.json --all
  howslow show @1 --against zen-4-kvm
  howslow show @1 --format lmbench
  howslow show multics-6180 --csv
Exit status: 0 done; 1 the run could not be read; 2 misused: no such run.";

/// Print a run
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
    #[arg(long, value_name = "REFERENCE", conflicts_with_all = ["json", "csv", "format"], add = ArgValueCompleter::new(complete::runs))]
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

pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<Outcome> {
    if let Some(format) = &args.format {
        let (runs, format) = (vec![args.run.clone()], Some(format.clone()));
        return export::export(&ExportArgs { runs, format, output: None });
    }
    let run = resolve::run(&args.run)?;
    if args.csv {
        export::print_costs(std::slice::from_ref(&run))?;
    } else if args.json {
        output::print_json(&if args.summary { without_samples(run) } else { run })?;
    } else {
        let references = References::of(&run, against::named(args.against.as_deref())?, None)?;
        let page = report::compared_page(&run, &references.view(), output::style_in(args.all));
        let kept = if args.kept { kept(&run)? } else { String::new() };
        output::print_page(&(page + &kept))?;
    }
    Ok(Outcome::Done)
}

/// The run's figures beside those of all kept runs that agree with it.
fn kept(run: &Run) -> anyhow::Result<String> {
    let kin = Kin::of(run.clone(), &resolve::store()?)?;
    let runs = |cost: &str| kin.with(cost);
    Ok(kin.together().map_or_else(String::new, |all| report::kept(run, &all, kin.count(), &runs, output::style())))
}

/// A run without its samples, which are most of its document.
pub(crate) fn without_samples(mut run: Run) -> Run {
    run.costs.iter_mut().for_each(|cost| cost.rounds.clear());
    run
}
