//! The ratio of two machines on a mix, split into factors: for `howslow predict --factors` and `howslow compare --mix`.

use analysis::factors::{NoFactors, factors};
use analysis::mix_changes::mix_changes;
use analysis::predict::{MachineState, MixPrediction};
use record::{Mix, printable};
use report::FactorsOf;
use report::document::FactorsDocument;

use crate::output::{self, Misuse};
use crate::resolve::Named;
use crate::verbs::predict::missing_costs::needs_all;
use crate::verbs::predict::pricing::priced;
use crate::verbs::predict::whole::Whole;

/// A ratio split into factors, ready to be shown.
pub(crate) struct FactorSplit {
    pub page: String,
    pub document: FactorsDocument,
}

/// Splits the ratio of the second side over the first.
/// Refuses a price that is missing, or a total that cannot be distinguished from zero if the ratio needs it.
pub(crate) fn split(
    state: MachineState,
    mixes: [&Mix; 2],
    sides: [Named; 2],
    measured: &[Whole],
) -> anyhow::Result<FactorSplit> {
    let mut predictions = Vec::new();
    for (side, mix) in mixes.iter().enumerate() {
        // A run on both sides is the same run, so its costs are not independent.
        let runs = if std::ptr::eq(sides[0].run, sides[1].run) { &sides[..1] } else { &sides[..] };
        let mut all = priced(state, mix, runs, measured)?;
        needs_all(mix, runs, &all)?;
        predictions.push(all.swap_remove(side.min(runs.len() - 1)));
    }
    split_of(mixes, sides, [&predictions[0], &predictions[1]])
}

/// Splits the ratio of every other run to the first, on one mix, with the figures that runs are compared by.
pub(crate) fn split_from_first(mix: &Mix, runs: &[Named], measured: &[Whole]) -> anyhow::Result<Vec<FactorSplit>> {
    let all = priced(MachineState::Quiet, mix, runs, measured)?;
    needs_all(mix, runs, &all)?;
    let mut others = runs.iter().zip(&all);
    let Some((base, before)) = others.next() else { return Ok(Vec::new()) };
    others.map(|(other, after)| split_of([mix, mix], [*base, *other], [before, after])).collect()
}

fn split_of(mixes: [&Mix; 2], sides: [Named; 2], predictions: [&MixPrediction; 2]) -> anyhow::Result<FactorSplit> {
    let found = factors(predictions[0], predictions[1]).map_err(|why| refused(why, sides))?;
    let changes = (mixes[0] == mixes[1]).then(|| mix_changes(predictions[0], predictions[1]));
    let runs = sides.map(|named| named.run);
    let shown = FactorsOf { mixes, runs, factors: &found, changes: changes.as_ref() };
    let page = report::factors(&shown, output::style());
    Ok(FactorSplit { page, document: FactorsDocument::of(found, changes) })
}

fn refused(why: NoFactors, sides: [Named; 2]) -> Misuse {
    let run = |side: usize| printable(sides[side].name);
    Misuse(match why {
        NoFactors::Lacking(side, line) => format!("{} lacks {line}, which the factors need", run(side)),
        NoFactors::NoTotal(side) => {
            format!("on {} the total cannot be distinguished from zero, so there is no ratio to split", run(side))
        }
        NoFactors::NoPrice(line) => {
            let remedy = format!("measure it more precisely (howslow run {line} --precision 0.5%) or remove it");
            let why = "but its cost cannot be distinguished from zero";
            format!("the mixes do {line} a different number of times, {why}: {remedy}")
        }
    })
}
