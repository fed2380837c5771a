//! `--repeat N`: whole runs one after another, and the scatter of each cost between them.

use analysis::repeated::repeated;
use measure::Measurement;
use record::{Run, Skip};
use report::document::RepeatDocument;

use crate::cli::measure::MeasureArgs;
use crate::output::{self, Outcome, print_note};
use crate::session::{self, Wanted};

/// Measures `count` whole runs, keeps each, and prints how the costs scatter. `by_name` says whether the operations were named, so
/// that a skip counts.
pub(crate) fn repeat(
    count: u32,
    wanted: &Wanted,
    args: &MeasureArgs,
    by_name: &dyn Fn(&Skip) -> bool,
) -> anyhow::Result<Outcome> {
    let mut runs: Vec<Run> = Vec::new();
    let mut ended = None;
    for number in 1..=count {
        // A given seed is that of the first run: the same order in all runs would hide the effect of the order.
        let seed = args.seed.map(|seed| seed.wrapping_add(u64::from(number - 1)));
        let args = MeasureArgs { seed, repeat: None, ..args.clone() };
        let measured = session::measure(wanted.clone(), &args)?;
        if measured.interrupted.is_some() {
            ended = measured.interrupted;
            break;
        }
        if measured.run.costs.is_empty() {
            // Its page has the reasons.
            return session::print_compared(measured, &args, (None, ""), by_name);
        }
        let Measurement { run, width, .. } = measured;
        session::keep(&run, width, &args)?;
        runs.push(run);
        if number < count {
            print_note(&format!("run {number} of {count} is done"));
        }
    }
    if runs.len() >= 2 {
        let rows = repeated(&runs, args.precision);
        if args.csv {
            crate::verbs::export::print_costs(&runs)?;
        } else {
            let page = |style| report::repeated(&runs, &rows, args.precision, style);
            output::answer(args.json, &RepeatDocument::of(&runs, &rows, args.precision), page)?;
        }
    }
    if let Some(signal) = ended {
        print_note(&format!("interrupted in run {}: {} were done before it", runs.len() + 1, runs.len()));
        return Ok(Outcome::Interrupted(signal));
    }
    let skipped = runs.iter().flat_map(|run| &run.skipped).any(by_name);
    Ok(if skipped { Outcome::Skipped } else { Outcome::Done })
}
