//! A cost beside the parts that it should consist of, and the residual.

use record::{Cost, Doubt, Run, Term, largest_first};
use serde::Serialize;

use crate::derived::net;
use crate::form::{As, TimeFigure};
use crate::statistics::Interval;
use crate::sums::{doubts_in, doubts_of, sum};

/// One part of a cost.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Explained {
    /// The term.
    #[serde(flatten)]
    pub term: Term,
    /// One of it; null if the run does not have it.
    #[serde(with = "As::<Option<TimeFigure>>")]
    pub each: Option<Interval>,
    /// The total of the part.
    #[serde(rename = "together", with = "As::<Option<TimeFigure>>")]
    pub total: Option<Interval>,
    /// Its doubts.
    pub doubts: Vec<Doubt>,
}

/// A cost and its parts. The whole is the sum plus the residual.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Explanation {
    /// Id and point.
    #[serde(rename = "cost")]
    pub name: String,
    /// One sentence on what it does.
    #[serde(skip)]
    pub summary: String,
    /// The cost itself, net.
    #[serde(with = "As::<TimeFigure>")]
    pub whole: Interval,
    /// The parts that it should consist of.
    pub parts: Vec<Explained>,
    /// The sum of the parts that the run has.
    #[serde(with = "As::<TimeFigure>")]
    pub sum: Interval,
    /// The rest. It includes the parts that the run does not have.
    #[serde(with = "As::<TimeFigure>")]
    pub residual: Interval,
    /// The residual as a share of the whole; null if the whole is not positive.
    pub residual_share: Option<f64>,
    /// The cost's own doubts.
    pub doubts: Vec<Doubt>,
    /// The doubts of all costs that matter to the residual.
    pub residual_doubts: Vec<Doubt>,
}

impl Explanation {
    /// A part's total divided by the whole.
    pub fn share(&self, of: &Interval) -> Option<f64> {
        (self.whole.value > 0.0).then(|| of.value / self.whole.value)
    }
}

/// Explains a cost by the parts it names; `None` if it names none.
pub fn explain(run: &Run, cost: &Cost) -> Option<Explanation> {
    if cost.explained_by.is_empty() {
        return None;
    }
    let explained = |term: &Term| {
        let part = run.cost_of(term);
        let each = part.map(net);
        let total = each.map(|each| sum([(term.times, each)]));
        Explained { term: term.clone(), each, total, doubts: part.map(doubts_of).unwrap_or_default() }
    };
    let parts: Vec<Explained> = cost.explained_by.iter().map(explained).collect();
    let totals = |sign: f64| parts.iter().filter_map(move |part| Some((sign, part.total?)));
    let whole = net(cost);
    let residual = sum([(1.0, whole)].into_iter().chain(totals(-1.0)));
    let within = cost.explained_by.iter().filter_map(|term| {
        let part = run.cost_of(term)?;
        Some((-term.times, net(part), part))
    });
    Some(Explanation {
        name: cost.name(),
        summary: cost.summary.clone(),
        whole,
        sum: sum(totals(1.0)),
        residual_doubts: doubts_in(&residual, [(1.0, whole, cost)].into_iter().chain(within)),
        residual_share: (whole.value > 0.0).then(|| residual.value / whole.value),
        residual,
        doubts: doubts_of(cost),
        parts,
    })
}

/// Every cost that names parts, the largest unexplained share first.
pub fn explain_all(run: &Run) -> Vec<Explanation> {
    let mut all: Vec<Explanation> = run.costs.iter().filter_map(|cost| explain(run, cost)).collect();
    let size = |explanation: &Explanation| explanation.residual_share.map_or(f64::INFINITY, f64::abs);
    largest_first(&mut all, size);
    all
}
