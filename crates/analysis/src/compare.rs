//! Runs beside each other: which costs belong together, how many times dearer each is than in the first run, and which
//! of the differences are changes. Works on runs and books alike; knows nothing of pages.

mod clocks;
mod comparison;
pub mod conditions;
mod differences;
mod families;
mod figure;
mod gate;
mod grounds;
mod levels;
mod matching;
mod options;
mod settle;
mod verdict;

use record::{Cost, CountedIn, Run};

pub use clocks::Clocks;
pub use comparison::{Comparison, ComparisonRow, Only, Versioned};
pub use conditions::Conditions;
pub use differences::{DifferingFact, differences};
pub use families::{FamilyRatio, Mean, families, overall};
pub use figure::{ComparedFigure, is_published, rounds_behind};
pub use gate::{FailOn, Failed, Gate, Gated, Unjudged, gate};
pub use levels::ComparedLevels;
pub use options::{CompareOptions, Joint, Versions};
pub use settle::{OpenCost, Settling, settling};
pub use verdict::{Against, RatioToBase, Verdict};

/// Compares runs with the first of them.
pub fn compare<'a>(runs: &'a [Run], how: &CompareOptions) -> Comparison<'a> {
    let clocks = Clocks::of(runs);
    let unit = how.unit.or_else(|| unit(runs, clocks.as_ref()));
    let mut all =
        Comparison { runs, unit, clocks, noise: Vec::new(), rows: Vec::new(), only: Vec::new(), versions: Vec::new() };
    let Some((base, others)) = runs.split_first() else { return all };
    let (mut likes, mut in_cycles) = (Vec::new(), base.costs.iter().map(Cost::is_in_cycles).collect::<Vec<_>>());
    for (other, place) in others.iter().zip(1..) {
        let mut pairs = matching::pairs(base, other);
        pairs.retain(|&(one, two)| {
            let (one, two) = (&base.costs[one], &other.costs[two]);
            let apart = how.versions == Versions::Kept && matching::versions_differ((base, one), (other, two));
            if apart {
                all.versions.push(Versioned { base: one, run: place, other: two });
            }
            !apart
        });
        // The order of the runs must not matter.
        pairs.iter().for_each(|&(one, two)| in_cycles[one] &= other.costs[two].is_in_cycles());
        likes.push(pairs);
    }
    let unit_of =
        |place: usize| unit.unwrap_or(if in_cycles[place] { CountedIn::Cycles } else { CountedIn::Nanoseconds });
    let mut columns = Vec::new();
    for (pairs, place) in likes.iter().zip(1..) {
        let (column, joint) = all.column(pairs, place, how, &unit_of);
        columns.push(column);
        all.noise.push(joint);
    }
    let has_like = |place: usize| columns.iter().any(|column| column[place].is_some());
    let placed: Vec<usize> = (0..base.costs.len()).filter(|&place| has_like(place)).collect();
    for place in placed {
        let others = columns.iter_mut().map(|column| column[place].take()).collect();
        all.rows.push(ComparisonRow { base: &base.costs[place], unit: unit_of(place), others });
    }
    all.only = (0..runs.len()).map(|place| all.alone(place)).collect();
    all
}

impl<'a> Comparison<'a> {
    /// Of each cost of the base: its like in the run at this place, judged together with all others of that run.
    fn column(
        &self,
        pairs: &[(usize, usize)],
        place: usize,
        how: &CompareOptions,
        unit_of: &dyn Fn(usize) -> CountedIn,
    ) -> (Vec<Option<(&'a Cost, Against)>>, Joint) {
        let (base, other) = (&self.runs[0], &self.runs[place]);
        let cycles_apart = self.clocks.as_ref().map_or(0.0, |clocks| clocks.apart(base, other));
        let conditions = Conditions { cycles_apart, ..Conditions::between(base, other) };
        let judged: Vec<_> = pairs
            .iter()
            .map(|&(one, two)| {
                let unit = unit_of(one);
                let (one, two) = (&base.costs[one], &other.costs[two]);
                let apart = conditions.reach([one, two], unit);
                let figures = self.compared_figures(place, [one, two], unit);
                verdict::CostPair::of(figures, [(base, one), (other, two)], (apart, conditions))
            })
            .collect();
        let together = judged.iter().filter(|pair| pair.chance.is_some()).count();
        let joint = Joint { threshold: how.threshold, margin: how.margin, judged: together, conditions };
        let mut column: Vec<Option<(&Cost, Against)>> = vec![None; base.costs.len()];
        for (&(one, two), against) in pairs.iter().zip(verdict::judge(judged, &joint)) {
            column[one] = Some((&other.costs[two], against));
        }
        (column, joint)
    }
}

/// What all costs are compared in: cycles where one of the runs is exact in nothing else, times where the runs' clocks are
/// not of one kind; `None` where each cost has the unit that it is steady in.
fn unit(runs: &[Run], clocks: Option<&Clocks>) -> Option<CountedIn> {
    if runs.iter().any(|run| run.counted_in == CountedIn::Cycles) {
        return Some(CountedIn::Cycles);
    }
    clocks.is_none().then_some(CountedIn::Nanoseconds)
}

#[cfg(test)]
mod tests;
