//! What the causes of gaps were taken from, and the lengths of gaps, as documents state them.

use serde::Serialize;

use crate::form::Form;
use crate::tails::Tail;

/// What the causes were taken from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The kernel's tracepoints, in every other window.
    Tracepoints,
    /// Switch counts of each gap, and counts of interrupts in each window; and why there are no tracepoints.
    Counters(String),
}

/// The source, for documents.
#[derive(Serialize, JsonSchema)]
pub(super) struct SourceWritten {
    /// `tracepoints` or `counters`.
    source: &'static str,
    /// Why there were no tracepoints.
    untraced: Option<String>,
}

impl Form<Source> for SourceWritten {
    fn of(source: &Source) -> SourceWritten {
        match source {
            Source::Tracepoints => SourceWritten { source: "tracepoints", untraced: None },
            Source::Counters(why) => SourceWritten { source: "counters", untraced: Some(why.clone()) },
        }
    }
}

/// The lengths of gaps, for documents.
#[derive(Serialize, JsonSchema)]
pub(super) struct Gaps {
    /// Percentiles of the lengths of gaps. Without a figure where too few gaps support its interval.
    percentiles: Vec<record::Percentile>,
    /// Length of gaps in ns, and how many of that length, in windows without tracepoints.
    histogram: Vec<(f64, u64)>,
}

impl Form<Tail> for Gaps {
    fn of(tail: &Tail) -> Gaps {
        let record::Tail { percentiles, histogram, .. } = tail.recorded();
        Gaps { percentiles, histogram }
    }
}
