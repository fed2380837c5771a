//! What the program waited for, on the page of a bill.

use analysis::bill::WaitedFor;
use record::units::percent;
use record::{Nanoseconds, Observation, typed_name};

use crate::grid::{Grid, RowKind};
use crate::text::{Style, in_table, times};

/// Waits beyond these are only counted.
const MOST_WAITS: usize = 8;
/// Shorter waits together than this share of the elapsed time are left out.
const WORTH: f64 = 0.001;

/// The longest waits by call.
pub(super) fn table(seen: &Observation, style: Style) -> String {
    let worth = seen.together.waits.iter().filter(|waits| waits.total_ns >= WORTH * seen.elapsed_ns);
    let worth: Vec<_> = worth.take(style.most(MOST_WAITS)).collect();
    if worth.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<<>>>>>", [vec![6], vec![5], vec![2]]);
    grid.heading(["waits in", "", "count", "total", "of elapsed", "p50", "p99"]);
    for waits in worth {
        let call = waits.call.as_deref().map_or_else(|| "user mode".into(), typed_name);
        let kind = if WaitedFor::of(waits).is_suffered() { RowKind::Row } else { RowKind::Aside };
        let cells = [
            format!("  {}", in_table(&call)),
            WaitedFor::of(waits).words().into(),
            times(waits.count),
            Nanoseconds(waits.total_ns).to_string(),
            percent(waits.total_ns / seen.elapsed_ns.max(1.0)),
            Nanoseconds(waits.p50_ns).to_string(),
            Nanoseconds(waits.p99_ns).to_string(),
        ];
        grid.add(kind, cells);
    }
    format!("\n{}\n", grid.render(style))
}
