//! What would settle the costs that a comparison leaves open.

use record::{Cost, Run};

use super::comparison::{Comparison, ComparisonRow};
use super::grounds::Grounds;
use super::options::Joint;
use super::verdict::{ONE_SIDED, RatioToBase, Verdict};
use crate::longer::{TIMES, shrunk};
use crate::statistics::Interval;

/// The costs that the comparison with one run leaves open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settling<'a> {
    /// They, in the order of the base.
    pub open: Vec<OpenCost<'a>>,
    /// The budget of the longer run of both, in seconds.
    pub budget_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenCost<'a> {
    /// That of the base.
    pub cost: &'a Cost,
    /// How many times as many rounds in both runs would settle it, if they are like those there are; `None` if not even the most that
    /// is considered.
    pub times: Option<u32>,
    /// The share of a run's rounds that are its own.
    share: f64,
}

impl Settling<'_> {
    /// How many would be settled by runs so many times as long.
    pub fn settled_by(&self, times: u32) -> usize {
        self.open.iter().filter(|open| open.times.is_some_and(|needed| needed <= times)).count()
    }

    /// The seconds that both need for all that can be settled, if nothing else is measured.
    pub fn seconds_alone(&self) -> f64 {
        let shares = self.open.iter().filter_map(|open| Some(open.share * f64::from(open.times?)));
        shares.sum::<f64>() * self.budget_s
    }
}

/// What the comparison with the run in this column leaves open.
pub fn settling<'a>(comparison: &Comparison<'a>, column: usize) -> Settling<'a> {
    let runs = [&comparison.runs[0], &comparison.runs[column + 1]];
    let open = comparison.rows.iter().filter_map(|row| open(row, column, runs, &comparison.noise[column]));
    Settling { open: open.collect(), budget_s: runs.map(|run| run.settings.budget_s).into_iter().fold(0.0, f64::max) }
}

fn open<'a>(row: &ComparisonRow<'a>, column: usize, runs: [&Run; 2], joint: &Joint) -> Option<OpenCost<'a>> {
    let (other, against) = row.others[column].as_ref()?;
    if against.verdict != Verdict::Inconclusive || row.base.rounds.is_empty() || other.rounds.is_empty() {
        return None;
    }
    let rounds: usize = runs[0].costs.iter().map(|cost| cost.rounds.len()).sum();
    let share = row.base.rounds.len() as f64 / rounds.max(1) as f64;
    let times = match &against.ratio {
        // No length of the runs makes their loads alike.
        RatioToBase::Times(ratio) if joint.conditions.allow(&[row.base, other]) => {
            // Longer runs make conditions no more alike.
            let drift = joint.conditions.reach([row.base, other], row.unit);
            needed(*ratio, [(runs[0], row.base), (runs[1], other)], (joint, drift))
        }
        _ => None,
    };
    Some(OpenCost { cost: row.base, times, share })
}

/// How many times as many rounds would show a change of this ratio beyond this drift, or that it is none.
fn needed(ratio: Interval, sides: [(&Run, &Cost); 2], (joint, drift): (&Joint, f64)) -> Option<u32> {
    let apart = ratio.value.ln().abs();
    let wanted_same = (joint.margin.ln_1p() - apart) / ONE_SIDED;
    let wanted_changed = if apart > joint.threshold.ln_1p() { apart / joint.reaches() } else { 0.0 };
    let log_half = |cost: &Cost| (cost.net_ns.high.0 / cost.net_ns.low.0).ln() / 2.0;
    let [base, other] = sides.map(|(run, cost)| Some((log_half(cost), shrunk(run, cost)?)));
    let ((base, base_parts), (other, other_parts)) = (base?, other?);
    let allow = |longer: u32| Grounds::of(sides, Some(ratio.value), joint.conditions, longer) == Grounds::Enough;
    let is_enough = |place: &usize| {
        let reach = (base * base_parts[*place]).hypot(other * other_parts[*place]).hypot(drift);
        reach <= wanted_same || (reach <= wanted_changed && allow(TIMES[*place]))
    };
    (0..TIMES.len()).find(is_enough).map(|place| TIMES[place])
}

#[cfg(test)]
mod tests {
    use record::CountedIn;

    use super::super::{CompareOptions, compare, tests::HOW};
    use super::*;
    use crate::example::of_rounds as run;

    fn settled(runs: &[Run; 2]) -> Option<Option<u32>> {
        let compared = compare(runs, &CompareOptions { unit: Some(CountedIn::Nanoseconds), ..HOW });
        let settling = settling(&compared, 0);
        assert_eq!(settling.settled_by(8), settling.open.iter().filter(|open| open.times.is_some()).count());
        settling.open.first().map(|open| open.times)
    }

    #[test]
    fn what_settles_a_cost_is_computed_from_its_rounds() {
        let scattered = [100.0, 106.0, 95.0, 102.0];
        assert_eq!(settled(&[run(&[100.0; 9], true), run(&[100.0; 9], true)]), None, "they are the same");
        let little = settled(&[run(&scattered, true), run(&scattered, true)]).expect("open");
        let wider = scattered.map(|ns: f64| 100.0 * (ns / 100.0).powi(4));
        let much = settled(&[run(&wider, true), run(&wider, true)]).expect("open");
        assert!(little.is_some_and(|times| much.is_none_or(|more| more > times)), "{little:?} {much:?}");
        let never = settled(&[run(&scattered, false), run(&scattered, false)]).expect("open");
        assert_eq!(never, None, "more disturbed rounds show no more");
        let beside = |others: f64| {
            let mut run = run(&scattered, true);
            (run.costs[0].cpus, run.noise.others) = (2, others);
            run
        };
        assert!(settled(&[beside(0.0), beside(0.0)]).expect("open").is_some());
        assert_eq!(settled(&[beside(0.0), beside(0.5)]), Some(None), "no length makes the loads of runs alike");
    }

    #[test]
    fn what_is_published_is_not_measured_again() {
        let mut printed = run(&[100.0, 150.0], true);
        printed.costs[0].rounds.clear();
        assert_eq!(settled(&[printed, run(&[100.0, 130.0], true)]), None);
    }
}
