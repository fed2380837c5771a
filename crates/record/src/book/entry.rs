//! One published cost.

use serde::Deserialize;

use super::figure::{MS, PrintedFigure, number, positive};
use crate::point::Point;
use crate::term::Term;

/// One published cost. Figures are texts, because the printed digits tell how exact they are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Entry {
    /// Its id in the run. It is one of howslow's ids if the operation is the same.
    pub operation: String,
    /// The point it was taken at.
    pub at: Point,
    /// The name in the publication.
    pub name: String,
    /// One sentence on what it does; the name by default.
    pub summary: String,
    /// The table that contains it.
    pub group: String,
    /// What one iteration is; a call by default.
    pub per: String,
    /// Where it was published, if it differs from the rest of the book.
    pub source: Option<String>,
    /// Operations per second, as printed.
    pub rate: Option<String>,
    /// Core cycles, as printed.
    pub cycles: Option<String>,
    /// Nanoseconds, as printed.
    pub ns: Option<String>,
    /// Microseconds, as printed.
    pub us: Option<String>,
    /// Milliseconds, as printed.
    pub ms: Option<String>,
    /// Seconds, as printed.
    pub s: Option<String>,
    /// Milliseconds of processor time included, as printed.
    pub cpu_ms: Option<String>,
    /// Milliseconds included that are not processor time, as printed.
    pub delta_ms: Option<String>,
    /// Block moves, as printed.
    pub block_moves: Option<String>,
    /// Thousands of payload bits per second, as printed.
    pub kbit_s: Option<String>,
    /// Payload.
    pub bytes: u64,
    /// Names that it shares with operations of the registry.
    pub like: Vec<String>,
    /// Operations of howslow that do the same on Linux, the nearest first. A point follows an `@`.
    pub analogues: Vec<String>,
    /// The costs that it should consist of.
    pub explained_by: Vec<Term>,
    /// The two costs whose difference it is.
    pub difference: Option<PublishedDifference>,
}

/// A cost that was published as the difference of two others.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedDifference {
    /// The larger one.
    pub of: String,
    /// The one that is subtracted.
    pub less: String,
}

impl Entry {
    /// The time as printed, with its unit.
    pub fn printed_time(&self) -> Option<(&str, &'static str)> {
        let units = [("ns", &self.ns), ("µs", &self.us), ("ms", &self.ms), ("s", &self.s), ("cycles", &self.cycles)];
        units.into_iter().find_map(|(unit, text)| Some((text.as_deref()?, unit)))
    }

    /// Nanoseconds from the most exact printed figure, with the uncertainty of its digits. Cycles come first, then the
    /// one of time and rate with more digits.
    pub(crate) fn quoted(&self, ghz: Option<f64>) -> Option<PrintedFigure> {
        if let Some(text) = &self.cycles {
            return Some(PrintedFigure::cycles(text)?.times(1.0 / ghz?));
        }
        let times = [(&self.ns, 1.0), (&self.us, 1e3), (&self.ms, MS), (&self.s, 1e3 * MS)];
        let time = times.into_iter().find_map(|(text, unit)| Some(PrintedFigure::of(text.as_ref()?)?.times(unit)));
        let rate = self.rate.as_deref().and_then(PrintedFigure::of).map(|rate| rate.under(1e9));
        match (time, rate) {
            (Some(time), Some(rate)) if rate.open() < time.open() => Some(rate),
            (time, rate) => time.or(rate),
        }
    }

    /// The first field that is not a figure. A time may be a range; the others are single numbers.
    pub(super) fn wrong_figure(&self) -> Option<&String> {
        let single = [&self.rate, &self.cpu_ms, &self.delta_ms, &self.block_moves, &self.kbit_s];
        let single = single.into_iter().flatten().find(|text| positive(text).is_err());
        let times = [&self.cycles, &self.ns, &self.us, &self.ms, &self.s];
        single.or_else(|| times.into_iter().flatten().find(|text| PrintedFigure::of(text).is_none()))
    }

    /// Processor time as printed, in ms.
    pub(super) fn cpu(&self) -> Option<f64> {
        number(self.cpu_ms.as_deref()?)
    }

    /// Processor time in ns, with the uncertainty of its digits.
    pub(super) fn processor(&self) -> Option<PrintedFigure> {
        Some(PrintedFigure::of(self.cpu_ms.as_deref()?)?.times(MS))
    }
}
