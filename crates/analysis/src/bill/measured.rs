//! What was measured of a bill in the program itself: calls and page faults, by samples.

use record::{CallTime, Observation};
use serde::Serialize;

use super::charge::Charged;
use super::interval::Unit;
use super::row::{BillRow, PROCESSES, is_priced_together};
use crate::form::{As, TimeFigure};
use crate::statistics::{Interval, NORMAL_95, weighted_sum};

/// The row of page faults.
const FAULTS: &str = Unit::MinorFault.word();

/// The measured side of a bill.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredCalls {
    /// The processor time of calls and page faults.
    #[serde(with = "As::<TimeFigure>")]
    pub calls: Interval,
    /// The price of page faults that were not timed, in ns.
    pub priced_ns: f64,
    /// The sum of the absolute differences between prices and measurements, in ns: errors do not cancel in it.
    pub apart_ns: f64,
    /// The part of the measured time that has a price, in ns.
    pub compared_ns: f64,
}

/// True if the measured time of calls and page faults holds what this row prices.
pub fn is_within_calls(row: &str) -> bool {
    [Unit::Switch, Unit::Transfer].iter().any(|unit| unit.word() == row)
}

impl MeasuredCalls {
    pub(super) fn of(rows: &[BillRow]) -> Option<MeasuredCalls> {
        let mut sum = MeasuredCalls { calls: Interval::exactly(0.0), priced_ns: 0.0, apart_ns: 0.0, compared_ns: 0.0 };
        let mut squares = 0.0;
        // Processes begin and end by calls that have rows of their own, but no price. A row of processes that was measured holds them.
        let held = rows.iter().any(|row| PROCESSES.contains(&row.what.as_str()) && row.measured.is_some());
        for row in rows {
            let Some(measured) = row.measured else {
                if row.what == FAULTS {
                    sum.priced_ns += row.cpu_ns.unwrap_or(0.0);
                }
                continue;
            };
            if !(held && is_priced_together(&row.what)) {
                sum.calls.value += measured.value;
                squares += (measured.high - measured.value).powi(2);
            }
            if let Some(price) = row.whole_cpu_ns() {
                sum.apart_ns += (price - measured.value).abs();
                sum.compared_ns += measured.value;
            }
        }
        // Samples of different calls err independently.
        sum.calls.low = sum.calls.value - squares.sqrt();
        sum.calls.high = sum.calls.value + squares.sqrt();
        (sum.calls.value > 0.0).then_some(sum)
    }

    /// What was measured, and the price of the rest, over what was charged without counting. The interval holds the errors of both.
    pub fn closes(&self, charged: &Charged, counting_ns: f64) -> Option<Interval> {
        let own = |ns: f64| (ns - counting_ns).max(0.0);
        let [least, most] = charged.range_ns.unwrap_or([charged.ns; 2]).map(own);
        let whole = own(charged.ns);
        let sum = self.calls.value + self.priced_ns;
        let reach = |measured: f64, charge: f64| {
            let errors = [(measured + self.priced_ns) / sum, whole / charge].map(|ratio| ratio.ln().powi(2));
            errors.iter().sum::<f64>().sqrt().exp()
        };
        let value = sum / whole;
        (whole > 0.0).then(|| Interval {
            value,
            low: value / reach(self.calls.low.max(0.0), most),
            high: value * reach(self.calls.high, least),
        })
    }

    /// How far prices are from what was measured, as a share of it; `None` if nothing was compared.
    pub fn apart(&self) -> Option<f64> {
        (self.compared_ns > 0.0).then(|| self.apart_ns / self.compared_ns)
    }
}

/// Gives page faults and processes their measured times. The price of a process holds the calls by which it begins and ends, and some
/// faults; the row of faults has the others.
pub(super) fn add_tasks(rows: &mut Vec<BillRow>, seen: &Observation) {
    let calls = rows.iter().filter(|row| is_priced_together(&row.what)).filter_map(|row| row.measured);
    let calls = calls.reduce(both);
    // The calls of threads cannot be distinguished from those of processes.
    let processes = match rows.iter().any(|row| row.what == PROCESSES[1]) {
        true => None,
        false => rows.iter().position(|row| row.what == PROCESSES[0]),
    };
    let faults = seen.together.faults.filter(|faults| faults.count > 0);
    let mut own = Interval::exactly(0.0);
    if let Some(faults) = faults {
        let all = all_of(faults.count, faults.each);
        let place = rows.iter().position(|row| row.what == FAULTS);
        let counted = seen.usage.minor_faults.unwrap_or(0).max(1) as f64;
        let share = match (place, processes) {
            (Some(place), Some(_)) => (rows[place].count as f64 / counted).min(1.0),
            (None, Some(_)) => 0.0,
            (_, None) => 1.0,
        };
        if share > 0.0 {
            let place = place.unwrap_or_else(|| {
                rows.push(BillRow::of(FAULTS.into(), "memory".into(), faults.count));
                rows.len() - 1
            });
            rows[place].measured = Some(all.times(share));
        }
        own = all.times(1.0 - share);
    }
    if let Some((place, calls)) = processes.zip(calls) {
        rows[place].measured = Some(both(calls, own));
    }
}

/// What this many calls took, by their mean and its error, which is smaller the more of them were timed: the correction for finite
/// populations.
pub(super) fn all_of(count: u64, time: CallTime) -> Interval {
    let ns = |each: f64| each.max(0.0) * count as f64;
    let untimed = (1.0 - time.samples as f64 / count.max(1) as f64).max(0.0);
    let reach = NORMAL_95 * time.error_ns * untimed.sqrt();
    Interval { value: ns(time.mean_ns), low: ns(time.mean_ns - reach), high: ns(time.mean_ns + reach) }
}

/// Both, whose errors are independent.
fn both(one: Interval, other: Interval) -> Interval {
    weighted_sum(&[(1.0, one), (1.0, other)])
}

#[cfg(test)]
mod tests {
    use record::{CallCount, FaultTime, Requests, Usage};

    use super::super::row::CALLS;
    use super::*;

    fn row(what: &str, family: &str, count: u64, [price, measured]: [Option<f64>; 2]) -> BillRow {
        let measured = measured.map(Interval::exactly);
        BillRow { cpu_ns: price, measured, ..BillRow::of(what.into(), family.into(), count) }
    }

    fn seen() -> Observation {
        let each = CallTime { samples: 50, mean_ns: 100.0, error_ns: 1.0, calls: 0.0 };
        let faults = Some(FaultTime { count: 80, each, kinds: None });
        let calls = vec![CallCount { call: "clone".into(), count: 1, ..CallCount::default() }];
        let together = Requests { calls, faults, ..Requests::default() };
        let usage = Usage { minor_faults: Some(100), ..Usage::default() };
        Observation { together, usage, ..Observation::default() }
    }

    #[test]
    fn processes_hold_their_calls_and_the_faults_of_their_price() {
        let mut rows = vec![
            row("read", CALLS, 9, [Some(900.0), Some(1000.0)]),
            row("clone", CALLS, 1, [None, Some(3000.0)]),
            row("processes", "processes", 1, [Some(4000.0), None]),
            row("minor faults", "memory", 25, [Some(2000.0), None]),
            row("switches", "switches", 7, [Some(700.0), None]),
        ];
        add_tasks(&mut rows, &seen());
        let value = |place: usize| rows[place].measured.map(|measured| measured.value);
        assert_eq!((value(3), value(2), value(4)), (Some(2000.0), Some(9000.0), None));
        let measured = MeasuredCalls::of(&rows).expect("samples");
        // The sum of what was timed: calls and all faults, each once.
        assert_eq!((measured.calls.value, measured.priced_ns), (12_000.0, 0.0));
        assert_eq!((measured.apart_ns, measured.compared_ns), (100.0 + 5000.0, 12_000.0));
    }

    #[test]
    fn calls_that_were_all_timed_have_no_error() {
        let width = |count| {
            let all = all_of(count, CallTime { samples: 50, mean_ns: 100.0, error_ns: 1.0, calls: 0.0 });
            (all.high - all.low) / count as f64
        };
        assert_eq!((width(50), width(40)), (0.0, 0.0));
        assert!((width(200) / (2.0 * NORMAL_95) - 0.75_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn without_prices_all_that_was_timed_is_added_up_too() {
        let mut rows = vec![row("read", CALLS, 9, [None, Some(1000.0)]), row("clone", CALLS, 1, [None, Some(3000.0)])];
        add_tasks(&mut rows, &seen());
        assert_eq!(rows[2].what, "minor faults");
        assert_eq!(MeasuredCalls::of(&rows).map(|measured| measured.calls.value), Some(12_000.0));
    }

    #[test]
    fn the_interval_of_what_closes_holds_that_of_the_charge() {
        let measured =
            MeasuredCalls { calls: Interval::exactly(80.0), priced_ns: 10.0, apart_ns: 0.0, compared_ns: 0.0 };
        let charged = |range_ns| Charged { ns: 110.0, kernel_alone: true, range_ns };
        let exact = measured.closes(&charged(None), 20.0).expect("a charge");
        assert_eq!((exact.low, exact.value, exact.high), (1.0, 1.0, 1.0));
        let wide = measured.closes(&charged(Some([65.0, 200.0])), 20.0).expect("a charge");
        assert!((wide.low - 0.5).abs() < 1e-9 && (wide.high - 2.0).abs() < 1e-9, "{wide:?}");
        let open = measured.closes(&charged(Some([20.0, 200.0])), 20.0).expect("a charge");
        assert_eq!(open.high, f64::INFINITY);
        assert_eq!(measured.closes(&charged(None), 110.0), None);
    }
}
