//! The figures of many runs in little memory: 16 bytes a figure, in the order of the costs.

use std::collections::{HashMap, HashSet};

use super::parts::Parts;
use crate::statistics::NORMAL_95;

/// What is known of a run besides its costs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
    pub node: String,
    /// What tells it apart: its id and its host. A run that is given twice counts once.
    pub id: String,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
    pub parts: Parts,
    /// The clock of its quiet batches, in GHz.
    pub clock_ghz: Option<f64>,
    /// The share of its batches in which the core was undisturbed.
    pub undisturbed: Option<f64>,
}

/// The place of a run in a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunKey(pub(super) u32);

/// The place of a cost in a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostKey(u32);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunFigure<'a> {
    /// The figure it is quoted by, in ns.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The first doubt that makes the figure no evidence against its node ([`weakening_kind`]), in words.
    pub doubt: Option<&'a str>,
}

/// A cost in one run, as kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub run: u32,
    /// The logarithm of the figure.
    pub log: f32,
    /// The standard error of the logarithm; NaN if it is unknown.
    pub error: f32,
    /// 0 for none, else one more than its place in the list of doubts.
    pub doubt: u16,
}

/// One operation at one point.
#[derive(Clone, Debug)]
pub(super) struct CostRows {
    pub operation: String,
    pub name: String,
    pub entries: Vec<Entry>,
}

impl CostRows {
    pub fn family(&self) -> &str {
        self.operation.split('.').next().unwrap_or(&self.operation)
    }
}

/// The figures of many runs.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(super) nodes: Vec<String>,
    pub(super) runs: Vec<(u32, RunFacts)>,
    pub(super) costs: Vec<CostRows>,
    pub(super) doubts: Vec<String>,
    by_node: HashMap<String, u32>,
    ids: HashSet<String>,
    by_cost: HashMap<(String, String, u32), u32>,
}

impl Table {
    /// Adds a run. `None` if a run with this id is there already.
    pub fn run(&mut self, facts: RunFacts) -> Option<RunKey> {
        let key = self.runs.len() as u32;
        if !facts.id.is_empty() && !self.ids.insert(facts.id.clone()) {
            return None;
        }
        let next = self.nodes.len() as u32;
        let node = *self.by_node.entry(facts.node.clone()).or_insert(next);
        if node == next {
            self.nodes.push(facts.node.clone());
        }
        self.runs.push((node, facts));
        Some(RunKey(key))
    }

    /// The key of this operation at this point (`@size=64`, or empty) in this version. Versions are never mixed.
    pub fn cost(&mut self, operation: &str, at: &str, version: u32) -> CostKey {
        let next = self.costs.len() as u32;
        let key = *self.by_cost.entry((operation.into(), at.into(), version)).or_insert(next);
        if key == next {
            let name = format!("{operation}{at}");
            let known = self.costs.iter().any(|cost| cost.name == name);
            let name = if known { format!("{name} (version {version})") } else { name };
            self.costs.push(CostRows { operation: operation.into(), name, entries: Vec::new() });
        }
        CostKey(key)
    }

    /// Adds a figure. Returns false for one that has no logarithm, which does not count.
    pub fn figure(&mut self, run: RunKey, cost: CostKey, figure: RunFigure<'_>) -> bool {
        let RunFigure { value, low, high, doubt } = figure;
        let entries = self.costs.get_mut(cost.0 as usize).map(|cost| &mut cost.entries);
        let Some(entries) = entries.filter(|_| value.is_finite() && value > 0.0 && (run.0 as usize) < self.runs.len())
        else {
            return false;
        };
        let known = low > 0.0 && high.is_finite() && high >= low;
        // The interval of an older run, which holds the figure of another run, is wider.
        let error = if known { (high / low).ln() / 2.0 / NORMAL_95 } else { f64::NAN };
        let doubt = doubt.map_or(0, |doubt| {
            let place = self.doubts.iter().position(|known| known == doubt).unwrap_or_else(|| {
                self.doubts.push(doubt.into());
                self.doubts.len() - 1
            });
            u16::try_from(place + 1).unwrap_or(u16::MAX)
        });
        entries.push(Entry { run: run.0, log: value.ln() as f32, error: error as f32, doubt });
        true
    }

    /// The number of nodes, of runs, and of figures.
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.nodes.len(), self.runs.len(), self.costs.iter().map(|cost| cost.entries.len()).sum())
    }
}

/// The first weakening doubt of a list of kinds as the store writes it (`few_quiet,wide`, `inherited:drift`), as one word. A
/// figure with such a doubt is no evidence against its node: something disturbed it, or it is not what it is called. A wide
/// interval, few rounds and lost rounds are no such reasons: they scatter the figure, and scatter is in the test. Nor are notes.
pub fn weakening_kind(kinds: &str) -> Option<&str> {
    let scatter = ["wide", "few_rounds", "round_lost", "at_most", "own_clock", "queued"];
    let bare = |kind: &str| kind.rsplit(':').next().is_some_and(|kind| !scatter.contains(&kind));
    kinds.split(',').filter(|kind| !kind.is_empty()).find(|kind| bare(kind))
}

#[cfg(test)]
mod tests {
    use record::Doubt;

    use super::*;

    #[test]
    fn doubts_weaken_unless_they_are_of_scatter() {
        for (doubt, weakens) in [
            (Doubt::NeverQuiet, true),
            (Doubt::FewRounds { rounds: 2 }, false),
            (Doubt::Wide { half_width: 0.1, wanted: 0.01 }, false),
            (Doubt::Drift { ratio: 1.1 }, true),
            (Doubt::Queued { wait: record::Nanoseconds(1.0) }, false),
            (Doubt::Interrupted { share: 0.6 }, true),
        ] {
            let kind = serde_json::to_value(&doubt).expect("JSON")["kind"].as_str().expect("a kind").to_string();
            assert_eq!(weakening_kind(&kind).is_some(), weakens, "{kind}");
            assert_eq!(weakening_kind(&format!("wide,inherited:{kind}")).is_some(), weakens, "{kind}");
        }
        assert_eq!(weakening_kind(""), None);
        assert_eq!(weakening_kind("wide,few_quiet,bimodal"), Some("few_quiet"));
    }

    #[test]
    fn what_has_no_logarithm_does_not_count() {
        let mut table = Table::default();
        let run = table.run(RunFacts::default()).expect("a run");
        let cost = table.cost("a.b", "", 1);
        let figure = |value| RunFigure { value, low: 1.0, high: 2.0, doubt: None };
        assert_eq!(
            [1.5, 0.0, -1.0, f64::NAN].map(|value| table.figure(run, cost, figure(value))),
            [true, false, false, false]
        );
        assert_eq!(table.counts(), (1, 1, 1));
        for doubt in 0..300 {
            let doubt = format!("doubt {doubt}");
            assert!(table.figure(run, cost, RunFigure { doubt: Some(&doubt), ..figure(1.5) }));
        }
        let last = table.costs[0].entries.last().expect("a figure").doubt;
        assert_eq!(table.doubts[usize::from(last) - 1], "doubt 299");
        table.cost("a.b", "", 2);
        assert_eq!(table.costs[1].name, "a.b (version 2)");
    }
}
