//! A cost beside the parts it is said to consist of, and what they leave unexplained.

use record::{Cost, Run, Term};

use crate::derived::net;
use crate::statistics::{Interval, weighted_sum};

/// One part of a cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// What the part is.
    pub term: Term,
    /// One of it, in ns; `None` where the run does not have it.
    pub each: Option<Interval>,
    /// All of it.
    pub total: Option<Interval>,
}

/// A cost and its parts: the whole is the sum and the residual.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Id and point.
    pub name: String,
    /// One sentence on what it does.
    pub summary: String,
    /// The cost itself, net, in ns.
    pub whole: Interval,
    /// What it is said to consist of.
    pub parts: Vec<Explained>,
    /// The parts that the run has, together.
    pub sum: Interval,
    /// What they leave; also holds what the run does not have.
    pub residual: Interval,
}

impl Explanation {
    /// The residual over the whole; `None` where the whole is not positive.
    pub fn residual_share(&self) -> Option<f64> {
        (self.whole.value > 0.0).then(|| self.residual.value / self.whole.value)
    }

    /// A part's total over the whole.
    pub fn share(&self, of: &Interval) -> Option<f64> {
        (self.whole.value > 0.0).then(|| of.value / self.whole.value)
    }
}

/// Explains a cost by the parts it names; `None` where it names none.
pub fn explain(run: &Run, cost: &Cost) -> Option<Explanation> {
    if cost.explained_by.is_empty() {
        return None;
    }
    let of = |term: &Term| run.costs.iter().find(|it| it.operation == term.operation && it.at == term.at);
    let parts: Vec<Explained> = cost
        .explained_by
        .iter()
        .map(|term| {
            let each = of(term).map(net);
            let total = each.map(|each| weighted_sum(&[(term.times, each)]));
            Explained { term: term.clone(), each, total }
        })
        .collect();
    let totals = || parts.iter().filter_map(|part| part.total);
    let sum: Vec<(f64, Interval)> = totals().map(|total| (1.0, total)).collect();
    let whole = net(cost);
    let left: Vec<(f64, Interval)> = [(1.0, whole)].into_iter().chain(totals().map(|total| (-1.0, total))).collect();
    Some(Explanation {
        name: cost.name(),
        summary: cost.summary.clone(),
        whole,
        sum: weighted_sum(&sum),
        residual: weighted_sum(&left),
        parts,
    })
}

/// Every cost that names parts, the largest unexplained share first.
pub fn explain_all(run: &Run) -> Vec<Explanation> {
    let mut all: Vec<Explanation> = run.costs.iter().filter_map(|cost| explain(run, cost)).collect();
    let size = |explanation: &Explanation| explanation.residual_share().map_or(f64::INFINITY, f64::abs);
    all.sort_by(|one, other| size(other).total_cmp(&size(one)));
    all
}
