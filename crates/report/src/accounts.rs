//! What a run of a command uses in addition to time: processor time, faults, switches, memory; and how it ends.

use record::units::{Amount, grouped};
use record::{Cost, EXIT_STATUS, Nanoseconds, PEAK_MEMORY, Run};

use crate::grid::Grid;
use crate::text::{Style, in_table};

/// The heading for commands.
pub const COMMANDS: &str = "commands";

/// A table of the commands of a run: means as timed, including their start. Empty if there are none.
pub(crate) fn accounts(run: &Run, style: Style) -> String {
    let commands: Vec<&Cost> = run.costs.iter().filter(|cost| cost.heading() == COMMANDS).collect();
    if commands.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<>>>>>>>>", [vec![8], vec![6], vec![5], vec![4]]);
    grid.heading([
        "a run on average, start included", "elapsed", "user", "kernel", "waiting", "faults", "switches", "memory",
        "exit",
    ]);
    for cost in commands {
        let faults = match cost.faults.major {
            0.0 => grouped(cost.faults.minor),
            major => format!("{} + {} from disk", grouped(cost.faults.minor), grouped(major)),
        };
        let tally = |name: &str| cost.tallies.get(name).copied();
        // Means over all batches, quiet or not, so that the row adds up.
        let elapsed = Nanoseconds(cost.cpu_ns.user.0 + cost.cpu_ns.system.0 + cost.wait_ns.0);
        grid.row([
            format!("  {}", in_table(&cost.operation)),
            elapsed.to_string(),
            cost.cpu_ns.user.to_string(),
            cost.cpu_ns.system.to_string(),
            // A negative wait means that its tasks overlapped, so the wait of each is unknown.
            if cost.wait_ns.0 < 0.0 { "-".into() } else { cost.wait_ns.to_string() },
            faults,
            grouped(cost.switches.voluntary + cost.switches.involuntary),
            tally(PEAK_MEMORY).map_or_else(String::new, |bytes| Amount(bytes).of("B")),
            tally(EXIT_STATUS).map_or_else(String::new, |status| {
                if status.fract() == 0.0 { format!("{status}") } else { "varies".into() }
            }),
        ]);
    }
    format!("\n{}", grid.render(style))
}
