//! The costs that are not compared: those that some run lacks, and those of other versions.

use analysis::compare::{Comparison, Only, Versioned};
use record::Point;
use serde::Serialize;

use crate::document::figure::all;

/// A cost whose operation has another version.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OtherVersions<'a> {
    /// The operation's id.
    pub operation: &'a str,
    /// Its point.
    pub at: &'a Point,
    /// The run's place among the runs.
    pub run: usize,
    /// The versions: the base's and the run's.
    pub versions: [u32; 2],
}

/// The costs of a run that stand in no row.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OnlyIn<'a> {
    /// The run's place among the runs.
    pub run: usize,
    /// As it was named.
    pub name: &'a str,
    /// The costs.
    pub costs: Vec<OnlyCost<'a>>,
}

/// A cost that some run lacks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OnlyCost<'a> {
    /// The operation's id.
    pub operation: &'a str,
    /// Its point.
    pub at: &'a Point,
    /// Its heading.
    pub family: &'a str,
    /// Why other runs lack it, where they say so.
    pub skipped: Vec<SkippedIn<'a>>,
}

/// Why a run lacks a cost.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkippedIn<'a> {
    /// The run's place among the runs.
    pub run: usize,
    /// Why.
    pub reason: &'a str,
    /// What would change that.
    pub remedy: &'a str,
}

impl<'a> OnlyIn<'a> {
    pub(super) fn all(comparison: &'a Comparison<'a>, names: &'a [String]) -> Vec<OnlyIn<'a>> {
        let each = comparison.only.iter().zip(names).enumerate();
        each.map(|(run, (only, name))| OnlyIn { run, name, costs: all(only) }).collect()
    }
}

impl<'a> From<&'a Versioned<'a>> for OtherVersions<'a> {
    fn from(versioned: &'a Versioned<'a>) -> OtherVersions<'a> {
        OtherVersions {
            operation: &versioned.base.operation,
            at: &versioned.base.at,
            run: versioned.run,
            versions: [versioned.base.version, versioned.other.version],
        }
    }
}

impl<'a> From<&'a Only<'a>> for OnlyCost<'a> {
    fn from(only: &'a Only<'a>) -> OnlyCost<'a> {
        let skipped =
            only.skipped.iter().map(|(run, skip)| SkippedIn { run: *run, reason: &skip.reason, remedy: &skip.remedy });
        OnlyCost {
            operation: &only.cost.operation,
            at: &only.cost.at,
            family: only.cost.heading(),
            skipped: skipped.collect(),
        }
    }
}
