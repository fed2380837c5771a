//! A bill divided by the units of work that it is of, such as requests: the live view of a server.

use analysis::bill::{BilledFigure, WorkUnit};
use record::Nanoseconds;
use record::units::grouped;

use super::view::BillView;
use crate::text::{Style, in_table};

/// Calls that are named.
const MOST: usize = 6;

/// What a unit took and requested, in some lines; `name` is what the unit is called.
pub fn bill_per_unit(view: &BillView, (unit, name): (&WorkUnit, &str), style: Style) -> String {
    let seen = view.seen;
    let all = seen.repetition();
    let units = unit.of(1, &all);
    let first = format!("per {}  ", in_table(name));
    if units <= 0.0 {
        return style.paragraph(&first, "none in this time");
    }
    let rate = units / (seen.elapsed_ns.max(1.0) / 1e9);
    let mut parts = vec![format!("{} in {}, {} a second", grouped(units), Nanoseconds(seen.elapsed_ns), grouped(rate))];
    let figures = BilledFigure::ALL.into_iter().filter(|figure| *figure != BilledFigure::Elapsed);
    parts.extend(figures.filter_map(|figure| {
        let each = figure.of(&all)? / units;
        let each = if figure.is_count() { decimal(each) } else { Nanoseconds(each).to_string() };
        Some(format!("{each} {}", figure.words()))
    }));
    let calls =
        seen.together.calls.iter().take(MOST).map(|call| {
            format!("{} {}", in_table(&record::typed_name(&call.call)), decimal(call.count as f64 / units))
        });
    let calls = calls.collect::<Vec<_>>().join(", ");
    let calls = if calls.is_empty() { calls } else { format!("; {calls}") };
    style.paragraph(&first, &(parts.join(", ") + &calls))
}

/// A number of events for each unit.
fn decimal(number: f64) -> String {
    if number >= 100.0 { grouped(number) } else { format!("{number:.1}") }
}

#[cfg(test)]
mod tests {
    use analysis::predict::MachineState;
    use record::{CallCount, Observation, Requests, Usage};

    use super::*;
    use crate::PriceOrigin;

    #[test]
    fn counts_and_times_are_those_of_one_request() {
        let call = |call: &str, count| CallCount { call: call.into(), count, ..CallCount::default() };
        let calls = vec![call("read", 500), call("accept4", 200)];
        let usage = Usage { cpu_ns: Some(4e6), user_ns: Some(1e6), system_ns: Some(3e6), ..Usage::default() };
        let together = Requests { calls, ..Requests::default() };
        let seen = Observation { together, usage, elapsed_ns: 2e9, ..Observation::default() };
        let bill = analysis::bill::bill(&seen, None);
        let origin = PriceOrigin::default();
        let view = BillView {
            seen: &seen,
            bill: &bill,
            run: None,
            state: MachineState::Typical,
            lacking: &[],
            remedy: None,
            origin: &origin,
        };
        let page =
            |name: &str| bill_per_unit(&view, (&WorkUnit::Call(name.into()), name), Style::PLAIN).replace('\n', " ");
        let text = page("accept").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("per accept 200 in 2.00 s, 100 a second, 20.0 µs processor time"), "{text}");
        assert!(text.contains("3.5 system calls") && text.ends_with("read 2.5, accept4 1.0"), "{text}");
        assert!(page("connect").contains("none in this time"));
    }
}
