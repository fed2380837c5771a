//! `howslow scaling`: what a second CPU and every further one bring, by the kind of work.

use analysis::scalability::{AXIS, WORKS, scalings};
use clap::Args;
use clap_complete::ArgValueCompleter;
use operation::Item;
use record::{Point, Run, Value};
use report::Style;
use report::document::ScalingDocument;

use crate::cli::measure::MeasureArgs;
use crate::output::{self, Outcome};
use crate::session::{self, SessionEnd, Wanted};
use crate::{complete, pictures, resolve};

const SCALED: &str = "\
Examples:
  howslow scaling
  howslow scaling --budget 5m --svg charts
  howslow scaling --run @1
Exit status: 0 done; 1 failed, or nothing could be measured; 2 misused: no such run; 130 interrupted.";

/// What a second CPU and every further one bring, by the kind of work
#[derive(Debug, Args)]
#[command(after_help = SCALED)]
pub(crate) struct ScalingArgs {
    /// Take the costs of this run, instead of measuring
    #[arg(long, value_name = "RUN", add = ArgValueCompleter::new(complete::runs), conflicts_with_all = ["count", "rounds", "precision", "budget", "cpu", "beside", "seed", "output", "repeat", "tails", "arrivals", "label", "keep"])]
    pub run: Option<String>,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// Seconds for each cost.
const EACH: f64 = 1.5;

pub(crate) fn scaling(args: &ScalingArgs) -> anyhow::Result<Outcome> {
    session::has_no_csv(&args.measure, "`howslow scaling`")?;
    pictures::check(args.measure.svg.as_deref())?;
    let (run, ending) = match &args.run {
        Some(name) => (resolve::run(name)?, SessionEnd::NOTHING),
        None => measured(args)?,
    };
    let scalings = scalings(&run);
    let document = ScalingDocument::of(&run, &scalings);
    let page = |style: Style| report::scaling(&run, &scalings, style.width(), style);
    output::answer(args.measure.json, &document, page)?;
    if !scalings.is_empty() {
        pictures::write_charts(args.measure.svg.as_deref(), [("scaling", report::scaling_chart(&scalings))])?;
    }
    match ending.outcome()? {
        Outcome::Done if run.costs.is_empty() => anyhow::bail!(session::NOTHING),
        outcome => Ok(outcome),
    }
}

/// Measures every kind of work on one CPU and on more, keeps the run, writes it where requested.
fn measured(args: &ScalingArgs) -> anyhow::Result<(Run, SessionEnd)> {
    let usable = system::machine::pinnable_cpus().len() as u32;
    if usable < 2 {
        anyhow::bail!("only one CPU may be used, so there is nothing to compare; allow a second CPU (taskset, cpuset)");
    }
    let items: Vec<Item> = numbers(usable).into_iter().flat_map(items).collect();
    let budget_s = EACH * items.len() as f64;
    let wanted = Wanted::of(items, budget_s);
    Ok(session::finish(session::measure(wanted, &args.measure)?, &args.measure))
}

/// Every kind of work on this number of CPUs.
fn items(cpus: u32) -> Vec<Item> {
    let items = WORKS.iter().filter_map(|work| {
        let operation = catalogue::find(work.operation)?;
        let point = work.at.iter().fold(Point::default(), |point, (axis, value)| {
            let unit = operation.axis(axis).map(|own| own.unit).unwrap_or_default();
            point.with(axis, value.value().in_unit(unit))
        });
        Some(Item { operation, point: point.with(AXIS, Value::Number(u64::from(cpus))) })
    });
    items.collect()
}

/// The numbers of CPUs that are measured: powers of two and what lies half-way between two of them, up to all.
fn numbers(usable: u32) -> Vec<u32> {
    let powers = (0..31).map(|power| 1_u32 << power);
    let mut numbers: Vec<u32> = powers.flat_map(|power| [power, power + power / 2]).collect();
    numbers.retain(|&number| number < usable);
    numbers.push(usable);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cpus_reach_all_of_them() {
        assert_eq!(numbers(1), [1]);
        assert_eq!(numbers(2), [1, 2]);
        assert_eq!(numbers(6), [1, 2, 3, 4, 6]);
        assert_eq!(numbers(96), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96]);
    }

    #[test]
    fn every_kind_of_work_is_an_operation_that_has_this_point() {
        for cpus in [1, 2] {
            let items = items(cpus);
            assert_eq!(items.len(), WORKS.len());
            for item in items {
                assert!(item.operation.points(false).contains(&item.point), "{}{}", item.operation.id, item.point);
                assert_eq!(item.operation.cpus(&item.point), cpus);
            }
        }
    }
}
