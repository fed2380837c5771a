//! What a program that was billed here would take on another machine: its own times, by the ratios of the prices.

use record::Run;
use serde::Serialize;

use super::measured::is_within_calls;
use super::row::{BillRow, is_priced_together};
use super::rows::Bill;
use super::written::WrittenBill;
use crate::form::{As, TimeFigure};
use crate::predict::MachineState;
use crate::statistics::{Interval, median};

/// Operations in user mode whose costs show how programs that only compute compare, by kind; with the sizes of the working sets at which
/// they are measured for that, in bytes, if they have any.
pub const USER_KINDS: [&[(&str, &[u64])]; 3] = [
    &[("instruction.add.latency", &[]), ("instruction.multiply.latency", &[])],
    &[("instruction.branch.predicted", &[]), ("instruction.branch.missed", &[]), ("instruction.call", &[])],
    &[("memory.load", &[16 << 10, 256 << 10, 16 << 20])],
];

/// How what a program adds to a price is carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// The processor is the same one: what makes a call dearer there (a filter, a tracer, a kernel's check) comes on top of what it took.
    Added,
    /// Another processor, or one that is not known: all of a call takes longer or shorter.
    Scaled,
}

impl Carried {
    /// From the run of the prices here, if it is known, to this one.
    pub fn between(here: Option<&Run>, there: &Run) -> Carried {
        if here.is_some_and(|here| has_same_processor(here, there)) { Carried::Added } else { Carried::Scaled }
    }
}

fn has_same_processor(here: &Run, there: &Run) -> bool {
    here.machine.cpu.signature == there.machine.cpu.signature
}

/// A bill at the prices of another machine.
#[derive(Clone, Debug, PartialEq)]
pub struct BillElsewhere {
    /// Its lines, the dearest there first.
    pub rows: Vec<ElsewhereRow>,
    /// What was charged here beyond the lines and counting, and what becomes of it; `None` if the charge is not known.
    pub rest: Option<(f64, Interval)>,
    /// The time in user mode, here and there.
    pub user: Option<(f64, Option<Interval>)>,
    /// The processor time here without counting, in ns; `None` if it is not known.
    pub here_ns: Option<f64>,
    /// The processor time there, in ns; its upper end is infinite if something is lacking.
    pub there: Interval,
    /// The lines without a price there.
    pub lacking: Vec<String>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ElsewhereRow {
    /// A system call, or what else costs processor time in the kernel.
    pub what: String,
    /// How often.
    pub count: u64,
    /// The processor time of all of them here, in ns.
    pub here_ns: Option<f64>,
    /// True if that was measured in the program, false if it is a price.
    #[serde(rename = "measured")]
    pub is_measured: bool,
    /// The price there over the price here.
    pub ratio: Option<f64>,
    /// The processor time of all of them there; null without a price.
    #[serde(with = "As::<Option<TimeFigure>>")]
    pub there: Option<Interval>,
}

/// A written bill at the prices of another machine, where this is the bill of the same counts by its prices. `user` is how much longer
/// user mode takes there.
pub fn elsewhere(here: &WrittenBill, there: &Bill, user: Option<Interval>, carried: Carried) -> BillElsewhere {
    // Processes are created, executed and waited for by calls, whose times and prices are in the line of processes.
    let is_held = |row: &BillRow| is_priced_together(&row.what) || here.is_measured() && is_within_calls(&row.what);
    let lines = here.rows.iter().filter(|row| !is_held(row));
    let mut rows: Vec<ElsewhereRow> = lines.map(|row| moved(row, there, carried)).collect();
    let cost = |row: &ElsewhereRow| row.there.map_or(-1.0, |there| there.value);
    rows.sort_by(|one, other| cost(other).total_cmp(&cost(one)).then(other.count.cmp(&one.count)));
    let lacking = rows.iter().filter(|row| row.there.is_none()).map(|row| row.what.clone()).collect::<Vec<_>>();
    // Lines of one machine err together.
    let sum =
        |rows: &[&ElsewhereRow]| rows.iter().filter_map(|row| row.there).fold(Interval::default(), Interval::plus);
    let (timed, untimed): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.here_ns.is_some());
    let [timed_there, untimed_there] = [&timed, &untimed].map(|rows| sum(rows));
    let all = timed_there.plus(untimed_there);
    let known: f64 = timed.iter().filter(|row| row.there.is_some()).filter_map(|row| row.here_ns).sum();
    let counted: f64 = timed.iter().filter_map(|row| row.here_ns).sum();
    let kernel_ns = here.charged_ns.map(|charged| charged - here.seen.counting_ns());
    let ratio = if known > 0.0 { timed_there.value / known } else { 1.0 };
    // What the lines do not hold is work of the same kernel, as much longer as they are, or as long as here.
    let rest = kernel_ns.map(|kernel| {
        let whole = kernel - counted;
        // What lines without a time here took is taken for their price there; it may be nothing, or all.
        let held = untimed_there.value.min(whole.max(0.0));
        let rest = whole - held;
        let longer = match carried {
            // Less than nothing is what the lines have too much, which is less where they are cheaper.
            Carried::Added if rest < 0.0 => ratio.min(1.0),
            Carried::Added => 1.0,
            Carried::Scaled => ratio,
        };
        let ends = if held > 0.0 { [0.0, whole * ratio.max(1.0)] } else { [rest, rest * ratio] };
        (rest, ordered(rest * longer, ends))
    });
    let user = here.user_ns().filter(|ns| *ns > 0.0).map(|ns| (ns, user.map(|ratio| ratio.times(ns))));
    let mut total = rest.map_or(all, |(_, rest)| all.plus(rest));
    if let Some((_, Some(user))) = user {
        total = total.plus(user);
    }
    // What was measured may be more than was charged, which makes the rest negative.
    let there = Interval { low: total.low.max(0.0), ..total };
    let here_ns = kernel_ns.map(|kernel| kernel + here.user_ns().unwrap_or(0.0));
    let mut found = BillElsewhere { rows, rest, user, here_ns, there, lacking };
    if found.lacks() {
        found.there.high = f64::INFINITY;
    }
    found
}

impl BillElsewhere {
    /// True if its sum is only the least that it may be: a price or user mode there is not known.
    pub fn lacks(&self) -> bool {
        !self.lacking.is_empty() || matches!(self.user, Some((_, None)))
    }
}

/// How much longer user mode takes on one machine than on another: the middle of the ratios of instructions, branches and memory, and
/// their range; without these costs, of the clock, which is known to miss half as much again, unless the processor is the same. `None` if
/// neither is known.
pub fn user_ratio(here: &Run, there: &Run, state: MachineState) -> Option<Interval> {
    let price = |run: &Run, place: usize| state.price(run, &run.costs[place]).value;
    let kinds = USER_KINDS.iter().filter_map(|operations| {
        let ratios = there.costs.iter().enumerate().filter_map(|(place, cost)| {
            let is_one = operations.iter().any(|(id, _)| cost.operation == *id);
            let same =
                here.costs.iter().position(|own| is_one && own.operation == cost.operation && own.at == cost.at)?;
            let ratio = price(there, place) / price(here, same);
            (ratio.is_finite() && ratio > 0.0).then_some(ratio)
        });
        median(ratios)
    });
    let kinds: Vec<f64> = kinds.collect();
    if kinds.is_empty() {
        /// Processors of one clock differ by about this factor in what they do in a cycle.
        const BY_CLOCK: f64 = 1.5;
        let ratio = there.noise.cycle_ns / here.noise.cycle_ns;
        let by = if has_same_processor(here, there) { 1.0 } else { BY_CLOCK };
        return (ratio.is_finite() && ratio > 0.0).then(|| ordered(ratio, [ratio / by, ratio * by]));
    }
    let middle = (kinds.iter().map(|ratio| ratio.ln()).sum::<f64>() / kinds.len() as f64).exp();
    let ends = [kinds.iter().copied().fold(f64::INFINITY, f64::min), kinds.iter().copied().fold(0.0, f64::max)];
    Some(ordered(middle, ends))
}

/// What this program adds to a price may grow with it or stay, so the interval holds both. A call that is cheaper there cannot lose more
/// than it took, so it is scaled.
fn moved(row: &BillRow, there: &Bill, carried: Carried) -> ElsewhereRow {
    let other = there.row(&row.what);
    let price_here = row.whole_cpu_ns();
    let price_there = other.and_then(|other| Some((other.whole_cpu_ns()?, other.total?)));
    let here = row.measured.or(price_here.map(Interval::exactly));
    let ratio = price_there.zip(price_here.filter(|ns| *ns > 0.0)).map(|((there, _), here)| there / here);
    let there = price_there.map(|(price, total)| {
        let share = |end: f64| if total.value > 0.0 { (end / total.value).max(0.0) } else { 1.0 };
        let (low, high) = (share(total.low), share(total.high));
        let (value, ends) = match (here, ratio, price_here) {
            (Some(here), Some(ratio), Some(price_here)) => {
                let added = |end: f64| (end + price - price_here).max(0.0);
                let ends = [here.low * ratio, added(here.low), here.high * ratio, added(here.high)];
                let is_added = carried == Carried::Added && ratio > 1.0;
                (if is_added { added(here.value) } else { here.value * ratio }, ends)
            }
            _ => (price, [price; 4]),
        };
        let least = ends.into_iter().fold(f64::INFINITY, f64::min);
        let most = ends.into_iter().fold(0.0, f64::max);
        ordered(value, [least * low.min(1.0), most * high.max(1.0)])
    });
    let here_ns = here.map(|here| here.value);
    ElsewhereRow {
        what: row.what.clone(),
        count: row.count,
        here_ns,
        is_measured: row.measured.is_some(),
        ratio,
        there,
    }
}

/// A value between ends in any order.
fn ordered(value: f64, [one, other]: [f64; 2]) -> Interval {
    Interval { value, low: one.min(other).min(value), high: one.max(other).max(value) }
}

#[cfg(test)]
mod tests {
    use super::super::row::CALLS;
    use super::*;

    /// What becomes of a written bill at these prices.
    fn found(text: &str, prices: &[(&str, f64)], user: Option<Interval>, carried: Carried) -> BillElsewhere {
        elsewhere(&written(text), &priced(prices), user, carried)
    }

    fn priced(rows: &[(&str, f64)]) -> Bill {
        let row = |&(what, ns): &(&str, f64)| BillRow {
            total: Some(Interval { value: ns, low: 0.9 * ns, high: 1.1 * ns }),
            cpu_ns: Some(ns),
            ..BillRow::of(what.into(), CALLS.into(), 10)
        };
        Bill { rows: rows.iter().map(row).collect(), ..super::super::bill(&record::Observation::default(), None) }
    }

    fn written(text: &str) -> WrittenBill {
        let seen = serde_json::to_value(record::Observation::default()).expect("a document");
        let mut document: serde_json::Value = serde_json::from_str(text).expect("JSON");
        document["seen"] = seen;
        document["seen"]["usage"]["user_ns"] = 500.0.into();
        document["seen"]["usage"]["cpu_ns"] = 2_500.0.into();
        for row in document["rows"].as_array_mut().expect("rows") {
            row["family"] = CALLS.into();
            row["failed"] = 0.into();
            row["priced_by"] = serde_json::Value::Array(Vec::new());
        }
        WrittenBill::read(document.to_string().as_bytes()).expect("a bill")
    }

    const HERE: &str = r#"{"charged_ns": 2000.0, "kernel_alone": true, "rows": [
        {"what": "read", "count": 10, "cpu_ns": 1000.0, "measured": {"ns": 1500.0, "low_ns": 1400.0, "high_ns": 1600.0}},
        {"what": "write", "count": 10, "cpu_ns": 100.0, "measured": {"ns": 100.0, "low_ns": 90.0, "high_ns": 110.0}}]}"#;

    #[test]
    fn a_measured_time_grows_with_the_price_and_the_interval_holds_both_readings() {
        let user = Some(Interval { value: 2.0, low: 1.5, high: 3.0 });
        let found = found(HERE, &[("read", 3000.0), ("write", 100.0)], user, Carried::Scaled);
        let read = &found.rows[0];
        assert_eq!((read.what.as_str(), read.ratio, read.here_ns), ("read", Some(3.0), Some(1500.0)));
        let there = read.there.expect("it has a price");
        // Three times 1,500; added, 1,500 + 2,000.
        assert!(there.value == 4500.0 && there.low < 3500.0 && there.high > 4800.0, "{there:?}");
        let (rest, moved) = found.rest.expect("a charge");
        assert!((rest - 400.0).abs() < 1e-9 && moved.low == 400.0 && moved.high > 1100.0, "{moved:?}");
        assert_eq!(found.user.and_then(|(_, there)| there).map(|there| there.value), Some(1000.0));
        assert!(found.there.low < found.there.value && found.there.high.is_finite());
        assert_eq!(found.here_ns, Some(2500.0));
        // By the same processor, what is dearer there comes on top, and what is cheaper takes a part; the interval is the same.
        let prices = [("read", 3000.0), ("write", 50.0)];
        let [added, scaled] =
            [Carried::Added, Carried::Scaled].map(|carried| elsewhere(&written(HERE), &priced(&prices), user, carried));
        let price_there = |found: &BillElsewhere, what: &str| {
            found.rows.iter().find(|row| row.what == what).and_then(|row| row.there).expect("a price")
        };
        assert_eq!((price_there(&added, "read").value, price_there(&added, "write").value), (3500.0, 50.0));
        assert_eq!(price_there(&added, "read").high, price_there(&scaled, "read").high);
        assert_eq!(added.rest.map(|(rest, there)| (rest, there.value)), Some((rest, rest)));
    }

    #[test]
    fn measured_calls_hold_switches_and_transfers() {
        let row = r#"{"what": "transfers", "count": 3, "cpu_ns": 900.0}, {"what": "write""#;
        let text = HERE.replace(r#"{"what": "write""#, row);
        let bill = |text: &str| found(text, &[("read", 3000.0), ("write", 100.0)], None, Carried::Scaled);
        assert!(bill(&text).lacking.is_empty() && bill(&text).rows.len() == 2, "{:?}", bill(&text));
        assert_eq!(bill(&text.replace("measured", "unknown")).lacking, ["transfers"]);
    }

    #[test]
    fn what_has_no_time_here_is_not_counted_twice() {
        // Only counted, and never priced here: its time is in what was charged.
        let text = HERE.replace(
            r#""count": 10, "cpu_ns": 100.0, "measured": {"ns": 100.0, "low_ns": 90.0, "high_ns": 110.0}"#,
            r#""count": 10"#,
        );
        let found =
            |ns: f64| found(&text, &[("read", 1000.0), ("write", ns)], Some(Interval::exactly(1.0)), Carried::Scaled);
        let less = found(300.0);
        assert_eq!((less.rest.map(|(rest, _)| rest), less.there.value), (Some(200.0), 2500.0), "{less:?}");
        assert!(
            less.there.low < 2300.0 && less.there.high > 2800.0,
            "it may have taken all of the rest or none: {less:?}"
        );
        assert_eq!(found(3000.0).there.value, 1500.0 + 3000.0 + 500.0, "more than the rest here");
    }

    #[test]
    fn no_program_takes_less_than_nothing() {
        // Ten times as dear, the lines that were measured to take more than was charged leave a rest of less than their least.
        let text = HERE.replace("\"charged_ns\": 2000.0", "\"charged_ns\": 100.0");
        let found = found(&text, &[("read", 10_000.0), ("write", 1000.0)], None, Carried::Scaled);
        assert!(found.rest.is_some_and(|(rest, there)| rest < 0.0 && there.low < rest), "{found:?}");
        assert!(found.there.low >= 0.0, "{found:?}");
        // By the same processor, lines that are cheaper leave as much less of what they have too much.
        let user = Some(Interval::exactly(1.0));
        let cheaper = elsewhere(&written(&text), &priced(&[("read", 100.0), ("write", 10.0)]), user, Carried::Added);
        assert!(cheaper.there.low <= cheaper.there.value, "{cheaper:?}");
    }

    #[test]
    fn at_the_same_prices_it_takes_what_was_charged() {
        let same = Some(Interval::exactly(1.0));
        let found = found(HERE, &[("read", 1000.0), ("write", 100.0)], same, Carried::Added);
        assert!((found.there.value - 2500.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_sum_with_a_lacking_price_has_no_upper_end() {
        let found = found(HERE, &[("read", 1000.0)], None, Carried::Scaled);
        assert_eq!(found.lacking, ["write"]);
        assert_eq!(found.there.high, f64::INFINITY);
        assert_eq!(found.user, Some((500.0, None)));
    }
}
