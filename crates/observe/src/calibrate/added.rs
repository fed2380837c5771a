//! What alternated stretches of calls show: by how much longer a call takes while it is counted.

use std::time::Duration;

use analysis::statistics::{Interval, median};
use analysis::tails::median_interval;
use record::{CountingCost, CountingProbe};

use crate::counts::Counts;

/// The most pairs of a stretch that is not counted and one that is.
const PAIRS: usize = 12;
/// As few of them give an interval of 95 %.
const LEAST: usize = 6;
/// On a machine without a free CPU, the bill waits for no more than the least after this time. The pairs take some 40 ms elsewhere.
const ENOUGH: Duration = Duration::from_secs(1);

/// True if no pair is to follow this many, which have taken this long.
pub(crate) fn are_enough(pairs: usize, took: Duration) -> bool {
    pairs >= PAIRS || pairs >= LEAST && took > ENOUGH
}

/// What counting adds to a call, in ns: a figure of each pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Added {
    /// Of calls without a name.
    pub plain: Vec<f64>,
    /// Of calls with a name.
    pub named: Vec<f64>,
    /// What is added to that while samples of calls are timed.
    pub sampled: Vec<f64>,
    /// What the program at each call takes by the kernel's statistics, in ns.
    pub in_program_ns: Option<f64>,
    /// What a call without a name, and one with a name, takes outside of the two tracepoints between which samples are timed, in ns: less
    /// than nothing if a sample makes the call itself longer by more than that.
    pub entry_ns: Option<(f64, f64)>,
    /// What is added to a page fault while faults are timed, and what one takes outside of the two programs that time it.
    pub fault: Vec<f64>,
    pub fault_entry_ns: Option<f64>,
    /// What of a call, and of a page fault, the kernel's samples find in user mode, in ns.
    pub call_return_ns: Option<f64>,
    pub fault_return_ns: Option<f64>,
    /// What a sample of the mode takes, in ns.
    pub mode_ns: f64,
    /// What the program at each call took for these calls behind their samples, as [`Counts::in_program_ns`] gives it of others.
    pub behind_samples_ns: Option<f64>,
    /// What a task pays when it gets a CPU, and when it wakes another, in ns: by the kernel's statistics of the programs there.
    pub switch_ns: f64,
    pub wake_ns: f64,
    /// What was timed.
    pub method: &'static str,
}

impl Added {
    /// What all but calls cost, in ns: timing some of the page faults, and what programs at other events take.
    pub(crate) fn beside_calls_ns(&self, counts: &Counts, switches: u64) -> f64 {
        let fault = median(self.fault.iter().copied()).unwrap_or(0.0).max(0.0);
        let each = |count: u64, ns: f64| count as f64 * ns;
        each(counts.faults.count(), fault)
            + each(counts.modes.as_flattened().iter().sum(), self.mode_ns)
            + each(switches, self.switch_ns)
            + each(counts.wakes.values().sum(), self.wake_ns)
    }

    /// What this many calls cost, of which this share takes a name, and this share was made while samples were timed; `in_program_ns` is
    /// what the program at each call took behind samples of them, if there are any. `None` if no pair was finished.
    pub(crate) fn cost(
        &self,
        calls: f64,
        [named, sampled]: [f64; 2],
        in_program_ns: Option<f64>,
    ) -> Option<CountingCost> {
        let pairs = self.plain.iter().zip(&self.named);
        let sampling = sampled * median(self.sampled.iter().copied()).unwrap_or(0.0);
        // A program calls for more than a loop of one call does, and lets what counting needs grow cold.
        let more = in_program_ns.zip(self.behind_samples_ns).map(|(here, loops)| here - loops);
        let count = pairs.len();
        let mixed = pairs.map(|(plain, name)| plain + more.unwrap_or(named * (name - plain)) + sampling);
        let Interval { value: per_call_ns, low: low_ns, high: high_ns } = median_interval(mixed)?;
        let probe = (count >= LEAST).then_some(CountingProbe { pairs: count as u32, per_call_ns, low_ns, high_ns });
        Some(CountingCost {
            per_call_ns,
            in_program_ns: self.in_program_ns,
            together_ns: per_call_ns * calls,
            method: self.method.into(),
            probe,
            alternated: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_leaves_out_two_pairs_on_each_side() {
        let plain: Vec<f64> = (1..=12).rev().map(f64::from).collect();
        let named: Vec<f64> = plain.iter().map(|plain| plain + 100.0).collect();
        let sampled = vec![8.0, 3.0, 4.0];
        let added = Added { plain, named, sampled, in_program_ns: Some(2.0), method: "calls", ..Added::default() };
        let cost = added.cost(1000.0, [0.25, 0.5], None).expect("a cost");
        let probe = cost.probe.expect("all pairs");
        assert_eq!((probe.low_ns, probe.per_call_ns, probe.high_ns), (30.0, 33.5, 37.0));
        assert_eq!((cost.per_call_ns, cost.together_ns), (33.5, 33_500.0));
    }

    #[test]
    fn what_a_program_takes_to_be_counted_is_what_its_samples_show() {
        let added =
            Added { plain: vec![50.0; 3], named: vec![90.0; 3], behind_samples_ns: Some(20.0), ..Added::default() };
        let each = |in_program| added.cost(1.0, [0.5, 0.0], in_program).map(|cost| cost.per_call_ns);
        assert_eq!((each(Some(65.0)), each(Some(20.0)), each(None)), (Some(95.0), Some(50.0), Some(70.0)));
    }

    #[test]
    fn switches_wakes_and_samples_cost_too() {
        let added = Added { fault: vec![9.0], mode_ns: 1000.0, switch_ns: 100.0, wake_ns: 10.0, ..Added::default() };
        let mut counts = Counts { modes: [[1, 2], [0, 0]], ..Counts::default() };
        counts.faults.lengths.insert(8, 2);
        counts.wakes.insert(crate::counts::Call::Native(0), 4);
        assert_eq!(added.beside_calls_ns(&counts, 5), 18.0 + 3000.0 + 500.0 + 40.0);
    }

    #[test]
    fn too_few_pairs_give_no_interval_and_none_give_no_figure() {
        let added = Added { plain: vec![4.0; 3], named: vec![4.0; 3], ..Added::default() };
        let cost = added.cost(2.0, [0.0; 2], None).expect("a cost");
        assert_eq!((cost.together_ns, cost.probe), (8.0, None));
        assert_eq!(Added::default().cost(2.0, [0.0; 2], None), None);
    }
}
