//! What documents say of interference.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::{Load, PairSlowdown, Slowdown};
use crate::form::{Form, finite};
use crate::statistics::Interval;

/// A kind of work.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct KindWritten {
    /// Its name.
    name: String,
    /// The operation and its point.
    operation: String,
}

/// Something not measured here.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct SkipWritten {
    /// The kind of work or the place.
    what: String,
    /// Why.
    reason: String,
}

/// Work beside a victim.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
struct ActiveLoad {
    /// The work.
    #[serde(flatten)]
    load: Load,
    /// What it did meanwhile, in operations per second; null if nothing was measured.
    per_second: Option<f64>,
}

/// A victim beside loads.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct CellWritten {
    /// The kind that is slowed.
    victim: String,
    /// What runs beside it.
    beside: Vec<ActiveLoad>,
    /// Pairs of a stretch alone and one beside.
    pairs: usize,
    /// Elapsed ns per operation alone; null if nothing was measured.
    alone_ns: Option<f64>,
    /// Elapsed time beside over alone; null if nothing was measured.
    elapsed: Option<Interval>,
    /// True if the slow-down can be told: its interval leaves 1 out, or is at most 5 points wide on either side.
    told: bool,
    /// True if that interval is more than 5 points wide on either side, so that another run may differ by more.
    wide: bool,
    /// Processor time beside over alone; null if it is too short to tell.
    cpu: Option<Interval>,
}

impl Form<(String, String)> for KindWritten {
    fn of((name, operation): &(String, String)) -> KindWritten {
        KindWritten { name: name.clone(), operation: operation.clone() }
    }
}

impl Form<(String, String)> for SkipWritten {
    fn of((what, reason): &(String, String)) -> SkipWritten {
        SkipWritten { what: what.clone(), reason: reason.clone() }
    }
}

impl Form<PairSlowdown> for CellWritten {
    fn of(cell: &PairSlowdown) -> CellWritten {
        let slowdown = cell.slowdown.as_ref();
        let load = |(number, load): (usize, &Load)| ActiveLoad {
            load: load.clone(),
            per_second: slowdown.and_then(|it| it.achieved.get(number).copied()).and_then(finite),
        };
        CellWritten {
            victim: cell.victim.clone(),
            beside: cell.beside.iter().enumerate().map(load).collect(),
            pairs: slowdown.map_or(0, |it| it.pairs),
            alone_ns: slowdown.and_then(|it| finite(it.alone_ns)),
            elapsed: slowdown.map(|it| it.elapsed),
            told: slowdown.is_some_and(|it| it.told().is_some()),
            wide: slowdown.is_none_or(Slowdown::is_wide),
            cpu: slowdown.and_then(|it| it.cpu),
        }
    }
}
