//! What documents say of routes.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::{AGREE, Agreement, Route};
use crate::form::{Form, TimeFigure};
use crate::statistics::Interval;

/// A route.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct RouteWritten {
    /// What it compares, in words.
    route: &'static str,
    /// Its formula.
    formula: String,
}

/// Where a route leads.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct FigureOrMissing {
    /// Where it leads.
    figure: Option<TimeFigure>,
    /// The costs that the run lacks for it.
    missing: Option<Vec<String>>,
}

/// Whether two routes agree.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct RoutesAgree {
    /// The ratio of their figures.
    ratio: f64,
    /// Whether their intervals overlap.
    overlap: bool,
    /// The ratio within which they agree.
    within: f64,
    /// Whether they agree; null where their intervals leave it open.
    agree: Option<bool>,
    /// The same as a word: `yes`, `no` or `inconclusive`.
    answer: &'static str,
}

impl Form<Route> for RouteWritten {
    fn of(route: &Route) -> RouteWritten {
        RouteWritten { route: route.name, formula: route.formula() }
    }
}

impl Form<Result<Interval, Vec<String>>> for FigureOrMissing {
    fn of(figure: &Result<Interval, Vec<String>>) -> FigureOrMissing {
        FigureOrMissing { figure: figure.as_ref().ok().map(TimeFigure::from), missing: figure.as_ref().err().cloned() }
    }
}

impl Form<Agreement> for RoutesAgree {
    fn of(&Agreement { ratio, overlap, agree }: &Agreement) -> RoutesAgree {
        RoutesAgree { ratio, overlap, within: AGREE, agree: agree.is_yes(), answer: agree.word() }
    }
}
