//! What a change of costs means to a program: the lines of its mix that changed, and what that makes of a unit of its work.

use record::largest_first;
use serde::Serialize;

use crate::by_key;
use crate::form::{As, OpenFigure};
use crate::mix::Sum;
use crate::predict::{MixPrediction, PricedLine};
use crate::statistics::Interval;
use crate::sums::{quotient, sum};

/// A call, or another line of a mix, whose cost differs between two runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MixChange {
    /// The call, or the operation.
    pub what: String,
    /// Its cost in the second run over that in the first, at the same clock where both runs know theirs.
    #[serde(with = "As::<OpenFigure>")]
    pub ratio: Interval,
    /// The difference as a share of the time of the unit of work in the first run.
    #[serde(with = "As::<OpenFigure>")]
    pub share: Interval,
}

/// All changes of a mix.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MixChanges {
    /// Those that exceed their intervals, the largest first.
    pub lines: Vec<MixChange>,
    /// The difference of the whole, as a share.
    #[serde(with = "As::<OpenFigure>")]
    pub all: Interval,
}

/// Finds them in two predictions of one mix.
pub fn mix_changes(before: &MixPrediction, after: &MixPrediction) -> MixChanges {
    let pairs: Vec<(&PricedLine, &PricedLine)> = before.rows.iter().zip(&after.rows).collect();
    let (one, other) = totals(&pairs);
    let whole = one.value;
    let share = |one: Interval, other: Interval| sum([(1.0, other), (-1.0, one)]).times(1.0 / whole);
    let name = |line: &PricedLine| line.line.note.clone().unwrap_or_else(|| line.line.name());
    let changed = by_key(pairs.iter().map(|pair| (name(pair.0), *pair))).into_iter().filter_map(|(what, pairs)| {
        let (one, other) = totals(&pairs);
        let ratio = quotient(other, one)?;
        let differs = ratio.is_bounded() && (ratio.low > 1.0 || ratio.high < 1.0);
        differs.then(|| MixChange { what, ratio, share: share(one, other) })
    });
    let mut lines: Vec<MixChange> = changed.collect();
    largest_first(&mut lines, |one| one.share.value.abs());
    MixChanges { lines, all: share(one, other) }
}

/// What these lines take in both runs, the second at the clock of the first.
fn totals(pairs: &[(&PricedLine, &PricedLine)]) -> (Interval, Interval) {
    let add = |sum: Sum, line: &PricedLine, factor: f64| sum.plus(line.line.term.times * factor, &line.each);
    let one = pairs.iter().fold(Sum::default(), |sum, (one, _)| add(sum, one, 1.0));
    let other = pairs.iter().fold(Sum::default(), |sum, (one, other)| add(sum, other, same_clock(one, other)));
    (one.figure(), other.figure())
}

/// What the second price is multiplied by to be one at the clock of the first.
fn same_clock(one: &PricedLine, other: &PricedLine) -> f64 {
    let clocks = one.clock.as_ref().zip(other.clock.as_ref());
    let clocks = clocks.filter(|(one, other)| one.processor == other.processor);
    clocks.map_or(1.0, |(one, other)| one.cycle_ns / other.cycle_ns)
}

#[cfg(test)]
mod tests {
    use record::{MixLine, Point, Term};

    use super::*;
    use crate::mix::SharedErrors;
    use crate::predict::QuotedClock;

    /// A line of a call: so often, at this price and half its interval, in a run with a cycle of this length.
    fn line(call: &str, (place, times): (usize, f64), (price, half): (f64, f64), cycle_ns: f64) -> PricedLine {
        let term = Term { times, operation: format!("called.{call}"), at: Point::default() };
        let line = MixLine { term, family: "system calls".into(), note: Some(call.into()) };
        let price = Interval::around(price, half);
        let each = Sum::once((place, call.into()), price, SharedErrors::default());
        let clock = Some(QuotedClock { cycle_ns, processor: "1/2/3".into() });
        PricedLine { line, by: None, each, busy: Some(1.0), doubts: Vec::new(), clock }
    }

    #[test]
    fn a_call_that_is_slower_makes_its_share_of_the_work_longer() {
        let run = |place: usize, open: f64, cycle: f64| {
            let open = line("openat", (place, 100.0), (open * cycle, 1.0), cycle);
            let rows = vec![open, line("read", (place, 300.0), (100.0 * cycle, 1.0), cycle)];
            MixPrediction { rows, lacking: Vec::new(), measured: None, accuracy: None }
        };
        let changes = mix_changes(&run(0, 100.0, 1.0), &run(1, 106.0, 1.0));
        let [open] = changes.lines.as_slice() else { panic!("one change: {changes:?}") };
        assert_eq!(open.what, "openat");
        assert!((open.ratio.value - 1.06).abs() < 1e-9 && (open.share.value - 0.015).abs() < 1e-9, "{open:?}");
        assert!((changes.all.value - 0.015).abs() < 1e-9 && changes.all.high > 0.015, "{changes:?}");
        // Another clock alone is no change.
        assert!(mix_changes(&run(0, 100.0, 1.0), &run(1, 100.0, 1.3)).lines.is_empty());
        // Neither is what the intervals allow.
        assert!(mix_changes(&run(0, 100.0, 1.0), &run(1, 100.5, 1.0)).lines.is_empty());
    }
}
