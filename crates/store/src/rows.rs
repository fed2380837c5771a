//! What can be read from a store: which runs, and the costs of them as rows of one long table.

use std::sync::Arc;

use record::Machine;

use crate::head::Head;

/// Which runs are meant. An empty filter means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// On the machine with this host name, or of a class whose description has this text.
    pub machine: Option<String>,
    /// Started at this time or later, RFC 3339, UTC.
    pub since: Option<String>,
    pub label: Option<String>,
    /// At most this many, the newest ones.
    pub newest: Option<usize>,
}

impl Filter {
    /// True if the run is meant, apart from how many are.
    pub(crate) fn means(&self, head: &Head) -> bool {
        let of_machine = |text: &String| head.host == *text || head.class.contains(text.as_str());
        self.machine.as_ref().is_none_or(of_machine)
            && self.earliest().is_none_or(|since| head.ordered >= since)
            && self.label.as_ref().is_none_or(|label| head.label.as_ref() == Some(label))
    }

    /// The text that the start of no run meant is before. Runs can have fractions of a second, whose point comes before a `Z`.
    pub(crate) fn earliest(&self) -> Option<String> {
        self.since.as_ref().map(|since| since.trim_end_matches('Z').into())
    }
}

/// What the rows of one cost in many runs have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series {
    pub operation: String,
    pub version: u32,
    /// The point: `distance=other,size=64`; empty for an operation without axes.
    pub point: String,
    /// The figure that the cost is quoted by: `best`, `quiet` or `typical`.
    pub estimator: String,
    /// True if other work ran on purpose, so that it is never compared with what was measured alone.
    pub beside_work: bool,
    /// The unit of value, low and high: `ns`.
    pub unit: String,
    /// True if its time scales with the core clock, so that runs are compared in cycles.
    pub follows_clock: bool,
}

/// What follows the estimator in a database if other work ran on purpose.
const BESIDE_WORK: &str = " beside work";

impl Series {
    /// The estimator as databases keep it.
    pub(crate) fn kept_estimator(&self) -> String {
        format!("{}{}", self.estimator, if self.beside_work { BESIDE_WORK } else { "" })
    }

    /// The same series with an estimator as a database keeps it.
    pub(crate) fn with_kept_estimator(self, kept: &str) -> Series {
        let alone = kept.strip_suffix(BESIDE_WORK);
        Series { estimator: alone.unwrap_or(kept).into(), beside_work: alone.is_some(), ..self }
    }

    /// Id and point as typed on the command line.
    pub fn name(&self) -> String {
        if self.point.is_empty() { self.operation.clone() } else { format!("{}@{}", self.operation, self.point) }
    }
}

/// One cost of one run. `run`, `series` and `doubts` are places in the lists of the [`CostTable`], or keys in a database.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<Place = u32> {
    pub run: Place,
    /// The operation and point.
    pub series: Place,
    /// The headline figure, net, in the series' unit.
    pub value: f64,
    /// Lower end of its 95 % interval; minus infinity if there is none.
    pub low: f64,
    /// Upper end of its 95 % interval; infinity if there is none.
    pub high: f64,
    /// The headline figure in core cycles; not a number if unknown.
    pub cycles: f64,
    /// Its doubts. The first of a table's list is empty.
    pub doubts: Place,
}

#[cfg(any(feature = "database", feature = "team"))]
impl Row<i64> {
    /// From what a database holds: keys, the value, and low, high and cycles if they are known.
    pub(crate) fn kept([run, series, doubts]: [i64; 3], value: f64, ends: [Option<f64>; 3]) -> Row<i64> {
        let [low, high, cycles] = ends;
        let (low, high) = (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY));
        Row { run, series, value, low, high, cycles: cycles.unwrap_or(f64::NAN), doubts }
    }

    /// Low, high and cycles as a database holds them.
    pub(crate) fn ends(&self) -> [Option<f64>; 3] {
        [self.low, self.high, self.cycles].map(|figure| figure.is_finite().then_some(figure))
    }
}

/// What the places in a [`Row`] mean. Complete before the first row is shown.
#[derive(Clone, Debug, Default)]
pub struct CostTable {
    /// The runs of the filter, newest first.
    pub runs: Vec<Head>,
    /// The machine of each run. A database gives what its table `machines` has; the rest is empty.
    pub machines: Vec<Arc<Machine>>,
    /// The series. Some may have no row.
    pub series: Vec<Series>,
    /// Sets of doubts, each as its kinds with commas between them: `few_quiet,wide`. A doubt inherited from another cost
    /// is `inherited:wide`.
    pub doubts: Vec<String>,
}
