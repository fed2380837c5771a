//! What alternated stretches of calls say: by how much longer a call takes while it is counted.

use std::time::Duration;

use analysis::statistics::{median, median_ranks, sorted};
use record::{CountingCost, CountingProbe};

/// Pairs of a stretch that is not counted and one that is.
pub(crate) const PAIRS: usize = 12;
/// A machine without a free CPU does not keep the bill waiting for longer. The pairs take some 40 ms elsewhere.
pub(crate) const ENOUGH: Duration = Duration::from_secs(1);

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
    /// What a call takes outside of the two tracepoints between which samples are timed, in ns.
    pub entry_ns: Option<f64>,
    /// What is added to a page fault while faults are timed, and what one takes outside of the two programs that time it.
    pub fault: Vec<f64>,
    pub fault_entry_ns: Option<f64>,
    /// What of a call, and of a page fault, the kernel's samples find in user mode, in ns.
    pub call_return_ns: Option<f64>,
    pub fault_return_ns: Option<f64>,
    /// What a sample of the mode takes, in ns.
    pub mode_ns: f64,
    /// What was timed.
    pub method: &'static str,
}

impl Added {
    /// What timing some of this many page faults cost, in ns.
    pub(crate) fn of_faults(&self, faults: u64) -> f64 {
        median(self.fault.iter().copied()).unwrap_or(0.0).max(0.0) * faults as f64
    }

    /// What this many calls cost, of which this share takes a name, and this share was made while samples were timed. `None` if no
    /// pair was finished.
    pub(crate) fn cost(&self, calls: f64, [named, sampled]: [f64; 2]) -> Option<CountingCost> {
        let pairs = self.plain.iter().zip(&self.named);
        let sampling = sampled * median(self.sampled.iter().copied()).unwrap_or(0.0);
        let mixed = sorted(pairs.map(|(plain, name)| plain + named * (name - plain) + sampling));
        let per_call_ns = median(mixed.iter().copied())?;
        let (low, high) = median_ranks(mixed.len());
        let probe = (mixed.len() == PAIRS).then(|| CountingProbe {
            pairs: PAIRS as u32,
            per_call_ns,
            low_ns: mixed[low],
            high_ns: mixed[high],
        });
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
        let cost = added.cost(1000.0, [0.25, 0.5]).expect("a cost");
        let probe = cost.probe.expect("all pairs");
        assert_eq!((probe.low_ns, probe.per_call_ns, probe.high_ns), (30.0, 33.5, 37.0));
        assert_eq!((cost.per_call_ns, cost.together_ns), (33.5, 33_500.0));
    }

    #[test]
    fn too_few_pairs_give_no_interval_and_none_give_no_figure() {
        let added = Added { plain: vec![4.0; 3], named: vec![4.0; 3], ..Added::default() };
        let cost = added.cost(2.0, [0.0; 2]).expect("a cost");
        assert_eq!((cost.together_ns, cost.probe), (8.0, None));
        assert_eq!(Added::default().cost(2.0, [0.0; 2]), None);
    }
}
