//! What a gate found, for programs.

use analysis::compare::{Failed, Gated, Unjudged};
use record::Point;
use serde::Serialize;

use super::against::ComparedAgainst;
use crate::document::figure::all;

/// With `--fail-on`: which costs fail.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedGate<'a> {
    /// What fails: `slower` or `changed`.
    pub fail_on: &'static str,
    /// The smallest difference that fails, as a share.
    pub at_least: f64,
    /// Verdicts: one for each cost in each run but the base.
    pub judged: usize,
    /// Those that are inconclusive. They do not fail.
    pub inconclusive: usize,
    /// The costs that fail, the worst first.
    pub failed: Vec<FailedCost<'a>>,
    /// The costs without a verdict that must have one.
    pub unjudged: &'a [Unjudged],
    /// How many more costs have no verdict and need none.
    pub left_out: usize,
}

/// A cost that fails.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailedCost<'a> {
    /// The operation's id in the base.
    pub operation: &'a str,
    /// Its point in the base.
    pub at: &'a Point,
    /// The run's place among the runs.
    pub run: usize,
    /// The ratio and the verdict.
    #[serde(flatten)]
    pub against: ComparedAgainst,
}

impl<'a> ComparedGate<'a> {
    /// The document of a gate.
    pub fn of(gated: &'a Gated<'a>) -> ComparedGate<'a> {
        ComparedGate {
            fail_on: gated.gate.fail_on.word(),
            at_least: gated.gate.at_least,
            judged: gated.judged,
            inconclusive: gated.inconclusive,
            failed: all(&gated.failed),
            unjudged: &gated.unjudged,
            left_out: gated.left_out,
        }
    }
}

impl<'a> From<&'a Failed<'a>> for FailedCost<'a> {
    fn from(failed: &'a Failed<'a>) -> FailedCost<'a> {
        FailedCost {
            operation: &failed.base.operation,
            at: &failed.base.at,
            run: failed.run,
            against: failed.against.into(),
        }
    }
}
