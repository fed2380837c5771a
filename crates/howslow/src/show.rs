//! `howslow show`: prints a kept run or a book.

use record::Run;

use crate::against::{self, References};
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
