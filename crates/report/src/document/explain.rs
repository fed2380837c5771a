//! `howslow explain --json`.

use analysis::derived::{AGREE, Agreement, Derived, EntryShare, Followed};
use analysis::explain::{Explained, Explanation};
use analysis::memory::MemoryHierarchy;
use record::{Doubt, Point};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::figure::{RatioFigure, TimeFigure, all, time};
use super::memory::MemoryDocument;
use super::reference::{CostHeld, OddCosts};

/// What the costs of a run consist of.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ExplainDocument<'a> {
    /// Costs that are differences of others.
    pub derived: Vec<DerivedCost<'a>>,
    /// How much of each system call is entering and leaving the kernel.
    pub entry_shares: Vec<EntryShareOf<'a>>,
    /// Costs, part by part.
    pub explained: Vec<CostExplained<'a>>,
    /// What the run says of memory; null where it says nothing.
    pub memory: Option<MemoryDocument<'a>>,
    /// What is odd beside the reference machines.
    pub odd: Vec<OddCosts>,
}

/// The costs that were asked for, part by part.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CostsExplained<'a> {
    /// The costs.
    pub explained: Vec<CostExplained<'a>>,
    /// The same costs beside the reference machines that have them.
    pub references: Vec<CostHeld>,
}

/// A derived cost, by every route to it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DerivedCost<'a> {
    /// Its name.
    pub derived: &'a str,
    /// The routes.
    pub routes: Vec<RouteFollowed<'a>>,
    /// Whether two routes agree; null where fewer led to a figure.
    pub agreement: Option<RoutesAgree>,
}

/// One route to a derived cost.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RouteFollowed<'a> {
    /// What it compares, in words.
    pub route: &'static str,
    /// Its formula.
    pub formula: String,
    /// Where it leads.
    pub figure: Option<TimeFigure>,
    /// The costs that the run lacks for it.
    pub missing: Option<&'a [String]>,
    /// Its doubts.
    pub doubts: &'a [Doubt],
}

/// Whether two routes agree.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RoutesAgree {
    /// The ratio of their figures.
    pub ratio: f64,
    /// Whether their intervals overlap.
    pub overlap: bool,
    /// The ratio within which they agree.
    pub within: f64,
    /// Whether they agree; null where their intervals leave it open.
    pub agree: Option<bool>,
    /// The same as a word: `yes`, `no` or `inconclusive`.
    pub answer: &'static str,
}

/// How much of a system call is entering and leaving the kernel.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EntryShareOf<'a> {
    /// The cost's id and point.
    pub cost: &'a str,
    /// How often it enters the kernel.
    pub entries: f64,
    /// The share.
    pub share: RatioFigure,
    /// Its doubts.
    pub doubts: &'a [Doubt],
}

/// A cost and its parts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CostExplained<'a> {
    /// Its id and point.
    pub cost: &'a str,
    /// The cost.
    pub whole: TimeFigure,
    /// Its parts.
    pub parts: Vec<PartExplained<'a>>,
    /// The parts together.
    pub sum: TimeFigure,
    /// What the parts leave unexplained.
    pub residual: TimeFigure,
    /// The residual as a share of the cost.
    pub residual_share: Option<f64>,
    /// The doubts of the cost.
    pub doubts: &'a [Doubt],
    /// The doubts of the residual.
    pub residual_doubts: &'a [Doubt],
}

/// A part of a cost.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PartExplained<'a> {
    /// How often the cost contains it.
    pub times: f64,
    /// The operation's id.
    pub operation: &'a str,
    /// Its point.
    pub at: &'a Point,
    /// One of it; null where the run lacks it.
    pub each: Option<TimeFigure>,
    /// All of it.
    pub together: Option<TimeFigure>,
    /// Its doubts.
    pub doubts: &'a [Doubt],
}

impl<'a> ExplainDocument<'a> {
    /// The document.
    pub fn of(
        derived: &'a [Derived],
        shares: &'a [EntryShare],
        explanations: &'a [Explanation],
        memory: Option<&'a MemoryHierarchy>,
    ) -> ExplainDocument<'a> {
        ExplainDocument {
            derived: all(derived),
            entry_shares: all(shares),
            explained: all(explanations),
            memory: memory.map(MemoryDocument::from),
            odd: Vec::new(),
        }
    }

    /// The same with what is odd.
    pub fn with_odd(self, odd: Vec<OddCosts>) -> ExplainDocument<'a> {
        ExplainDocument { odd, ..self }
    }
}

impl<'a> CostsExplained<'a> {
    /// The document.
    pub fn of(explanations: &'a [Explanation], references: Vec<CostHeld>) -> CostsExplained<'a> {
        CostsExplained { explained: all(explanations), references }
    }
}

impl<'a> From<&'a Derived> for DerivedCost<'a> {
    fn from(it: &'a Derived) -> DerivedCost<'a> {
        let agreement = it.agreement.map(|Agreement { ratio, overlap, agree }| RoutesAgree {
            ratio,
            overlap,
            within: AGREE,
            agree: agree.is_yes(),
            answer: agree.word(),
        });
        DerivedCost { derived: &it.name, routes: all(&it.routes), agreement }
    }
}

impl<'a> From<&'a Followed> for RouteFollowed<'a> {
    fn from(it: &'a Followed) -> RouteFollowed<'a> {
        RouteFollowed {
            route: it.route.name,
            formula: it.route.formula(),
            figure: time(it.figure.as_ref().ok()),
            missing: it.figure.as_ref().err().map(Vec::as_slice),
            doubts: &it.doubts,
        }
    }
}

impl<'a> From<&'a EntryShare> for EntryShareOf<'a> {
    fn from(it: &'a EntryShare) -> EntryShareOf<'a> {
        EntryShareOf { cost: &it.name, entries: it.entries, share: RatioFigure::from(&it.share), doubts: &it.doubts }
    }
}

impl<'a> From<&'a Explanation> for CostExplained<'a> {
    fn from(it: &'a Explanation) -> CostExplained<'a> {
        CostExplained {
            cost: &it.name,
            whole: TimeFigure::from(&it.whole),
            parts: all(&it.parts),
            sum: TimeFigure::from(&it.sum),
            residual: TimeFigure::from(&it.residual),
            residual_share: it.residual_share(),
            doubts: &it.doubts,
            residual_doubts: &it.residual_doubts,
        }
    }
}

impl<'a> From<&'a Explained> for PartExplained<'a> {
    fn from(part: &'a Explained) -> PartExplained<'a> {
        PartExplained {
            times: part.term.times,
            operation: &part.term.operation,
            at: &part.term.at,
            each: time(part.each.as_ref()),
            together: time(part.total.as_ref()),
            doubts: &part.doubts,
        }
    }
}
