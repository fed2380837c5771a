//! A cost beside the parts it is said to consist of, and what they leave unexplained.

use record::{Cost, Doubt, Run, Term};

use crate::derived::net;
use crate::statistics::Interval;
use crate::sums::{doubts_in, doubts_of, sum};

/// One part of a cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// What the part is.
    pub term: Term,
    /// One of it, in ns; `None` where the run does not have it.
    pub each: Option<Interval>,
    /// All of it.
    pub total: Option<Interval>,
    /// Its doubts.
    pub doubts: Vec<Doubt>,
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
    /// The cost's own doubts.
    pub doubts: Vec<Doubt>,
    /// Those of all costs that matter to the residual.
    pub residual_doubts: Vec<Doubt>,
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
    let of = |term: &Term| run.cost_of(term);
    let explained = |term: &Term| {
        let each = of(term).map(net);
        let total = each.map(|each| sum(&[(term.times, each)]));
        Explained { term: term.clone(), each, total, doubts: of(term).map(doubts_of).unwrap_or_default() }
    };
    let parts: Vec<Explained> = cost.explained_by.iter().map(explained).collect();
    let totals = |sign: f64| parts.iter().filter_map(move |part| Some((sign, part.total?)));
    let whole = net(cost);
    let residual = sum(&[(1.0, whole)].into_iter().chain(totals(-1.0)).collect::<Vec<_>>());
    let within = cost.explained_by.iter().filter_map(|term| Some((-term.times, net(of(term)?), of(term)?)));
    Some(Explanation {
        name: cost.name(),
        summary: cost.summary.clone(),
        whole,
        sum: sum(&totals(1.0).collect::<Vec<_>>()),
        residual_doubts: doubts_in(&residual, [(1.0, whole, cost)].into_iter().chain(within)),
        residual,
        doubts: doubts_of(cost),
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
