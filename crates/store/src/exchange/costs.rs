//! The costs of runs as one long table: a row for each cost, with what tells its run and machine apart.

use record::{Cost, Doubt, Run};

use crate::exchange::table::{Cell, Table, axis_columns};

/// The columns before the axes.
const BEFORE: [&str; 2] = ["id", "group"];
/// The columns behind the axes.
const BEHIND: [&str; 30] = [
    "ns",
    "low",
    "high",
    "typical",
    "best",
    "cycles",
    "unit",
    "estimator",
    "version",
    "gross_ns",
    "user_ns",
    "system_ns",
    "wait_ns",
    "bytes",
    "rounds",
    "trusted",
    "doubts",
    "run",
    "started",
    "label",
    "host",
    "origin",
    "tool",
    "cpu_model",
    "microarchitecture",
    "online_cpus",
    "kernel",
    "hypervisor",
    "microcode",
    "howslow",
];

/// The costs of all runs, in their order. An axis that a cost lacks is a missing cell.
pub fn cost_table(runs: &[Run]) -> Table {
    let axes = axis_columns(runs.iter().flat_map(|run| run.costs.iter().map(|cost| &cost.at)));
    let taken: Vec<&str> = BEFORE.into_iter().chain(BEHIND).collect();
    let mut table = Table::new(BEFORE);
    table.columns.extend(axes.names(&taken));
    table.columns.extend(BEHIND.map(String::from));
    for run in runs {
        let of_run = run_cells(run);
        for cost in &run.costs {
            let mut row = vec![Cell::text(&cost.operation), Cell::text(cost.heading())];
            row.extend(axes.cells(&cost.at));
            row.extend(cost_cells(cost));
            row.extend(of_run.iter().cloned());
            table.rows.push(row);
        }
    }
    table
}

fn cost_cells(cost: &Cost) -> [Cell; 17] {
    // A cost of zero cycles is one whose clock is not known.
    let cycles = if cost.cycles == 0.0 { Cell::Missing } else { Cell::number(cost.cycles) };
    [
        Cell::number(cost.quoted().0),
        Cell::number(cost.net_ns.low.0),
        Cell::number(cost.net_ns.high.0),
        Cell::number(cost.net_ns.typical.0),
        Cell::number(cost.net_ns.best.0),
        cycles,
        Cell::text(&cost.per),
        Cell::text(cost.headline.word()),
        Cell::Count(cost.version.into()),
        Cell::number(cost.gross_ns.get(cost.headline).0),
        Cell::number(cost.cpu_ns.user.0),
        Cell::number(cost.cpu_ns.system.0),
        Cell::number(cost.wait_ns.0),
        Cell::Count(cost.bytes.0),
        Cell::Count(cost.rounds.iter().filter(|round| !round.ns.is_empty()).count() as u64),
        Cell::Flag(!cost.doubts.iter().any(Doubt::is_serious)),
        Cell::text(doubts(cost)),
    ]
}

fn run_cells(run: &Run) -> [Cell; 13] {
    let machine = &run.machine;
    let reported = |text: &Option<String>| text.as_ref().map_or(Cell::Missing, Cell::text);
    [
        Cell::text(&run.id),
        Cell::text(&run.started),
        reported(&run.settings.label),
        reported(&machine.host),
        Cell::text(run.origin.word()),
        Cell::text(&run.tool),
        Cell::text(&machine.cpu.model),
        reported(&machine.cpu.microarchitecture),
        if machine.cpu.online == 0 { Cell::Missing } else { Cell::Count(machine.cpu.online.into()) },
        Cell::text(&machine.kernel.release),
        reported(&machine.virtualization.hypervisor),
        reported(&machine.cpu.microcode),
        Cell::text(&run.howslow),
    ]
}

/// The kinds of a cost's doubts, as the run document calls them: `few_rounds;wide`.
fn doubts(cost: &Cost) -> String {
    let kind = |doubt: &Doubt| {
        let document = serde_json::to_value(doubt).ok()?;
        Some(document.get("kind")?.as_str()?.to_string())
    };
    let mut kinds: Vec<String> = cost.doubts.iter().filter_map(kind).collect();
    kinds.dedup();
    kinds.join(";")
}
