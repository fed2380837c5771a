//! `howslow show`: prints a kept run or a book.

use record::Run;

use crate::against::{Against, References};
use crate::cli::{ExportArgs, ShowArgs};
use crate::export;
use crate::kin::Kin;
use crate::output::{self, Outcome};
use crate::resolve;

pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<Outcome> {
    if let Some(format) = &args.format {
        let (runs, format) = (vec![args.run.clone()], Some(format.clone()));
        return export::export(&ExportArgs { runs, format, output: None });
    }
    let run = resolve::run(&args.run)?;
    if args.csv {
        export::print_costs(std::slice::from_ref(&run))?;
    } else if args.json {
        print_run(run, if args.summary { Samples::Omitted } else { Samples::Kept })?;
    } else {
        let references = References::of(&run, Against::of(args.against.as_deref())?, None)?;
        let page = report::compared_page(&run, &references.view(), output::style_in(args.detail()));
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

/// Whether a document holds the samples, which are most of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Samples {
    /// As the run has them.
    Kept,
    /// Without the rounds of its costs.
    Omitted,
}

/// Prints a run's document.
pub(crate) fn print_run(mut run: Run, samples: Samples) -> anyhow::Result<()> {
    if samples == Samples::Omitted {
        run.costs.iter_mut().for_each(|cost| cost.rounds.clear());
    }
    output::print_json(&run)
}
