//! The costs of runs as one long table: a row for each cost, with what distinguishes its run and machine.

use record::{Cost, Doubt, Run};

use crate::exchange::table::{Cell, Table, axis_columns};

/// A column: its name, and its cell of a cost or run.
type Column<Of> = (&'static str, fn(&Of) -> Cell);

/// The columns before the axes.
const BEFORE: [Column<Cost>; 2] =
    [("id", |cost| Cell::text(&cost.operation)), ("group", |cost| Cell::text(cost.heading()))];

/// The columns behind the axes.
const OF_COST: [Column<Cost>; 17] = [
    ("ns", |cost| Cell::number(cost.quoted().0)),
    ("low", |cost| Cell::number(cost.net_ns.low.0)),
    ("high", |cost| Cell::number(cost.net_ns.high.0)),
    ("typical", |cost| Cell::number(cost.net_ns.typical.0)),
    ("best", |cost| Cell::number(cost.net_ns.best.0)),
    // A cost of zero cycles is one whose clock is not known.
    ("cycles", |cost| if cost.cycles == 0.0 { Cell::Missing } else { Cell::number(cost.cycles) }),
    ("unit", |cost| Cell::text(&cost.per)),
    ("estimator", |cost| Cell::text(cost.headline.word())),
    ("version", |cost| Cell::Count(cost.version.into())),
    ("gross_ns", |cost| Cell::number(cost.gross_ns.get(cost.headline).0)),
    ("user_ns", |cost| Cell::number(cost.cpu_ns.user.0)),
    ("system_ns", |cost| Cell::number(cost.cpu_ns.system.0)),
    ("wait_ns", |cost| Cell::number(cost.wait_ns.0)),
    ("bytes", |cost| Cell::Count(cost.bytes.0)),
    ("rounds", |cost| Cell::Count(cost.rounds.iter().filter(|round| !round.ns.is_empty()).count() as u64)),
    ("trusted", |cost| Cell::Flag(!cost.doubts.iter().any(Doubt::is_serious))),
    ("doubts", |cost| Cell::text(doubts(cost))),
];

/// The columns of the run, behind those.
const OF_RUN: [Column<Run>; 13] = [
    ("run", |run| Cell::text(&run.id)),
    ("started", |run| Cell::text(&run.started)),
    ("label", |run| reported(&run.settings.label)),
    ("host", |run| reported(&run.machine.host)),
    ("origin", |run| Cell::text(run.origin.word())),
    ("tool", |run| Cell::text(&run.tool)),
    ("cpu_model", |run| Cell::text(&run.machine.cpu.model)),
    ("microarchitecture", |run| reported(&run.machine.cpu.microarchitecture)),
    ("online_cpus", |run| match run.machine.cpu.online {
        0 => Cell::Missing,
        online => Cell::Count(online.into()),
    }),
    ("kernel", |run| Cell::text(&run.machine.kernel.release)),
    ("hypervisor", |run| reported(&run.machine.virtualization.hypervisor)),
    ("microcode", |run| reported(&run.machine.cpu.microcode)),
    ("howslow", |run| Cell::text(&run.howslow)),
];

fn reported(text: &Option<String>) -> Cell {
    text.as_ref().map_or(Cell::Missing, Cell::text)
}

/// The costs of these runs, one after another. It has a column for each axis that any of them has.
pub fn cost_table(runs: &[Run]) -> Table {
    let axes = axis_columns(runs.iter().flat_map(|run| run.costs.iter().map(|cost| &cost.at)));
    let behind: Vec<&str> = OF_COST.map(|column| column.0).into_iter().chain(OF_RUN.map(|column| column.0)).collect();
    let taken: Vec<&str> = BEFORE.map(|column| column.0).into_iter().chain(behind.iter().copied()).collect();
    let mut table = Table::new(BEFORE.map(|column| column.0));
    table.columns.extend(axes.names(&taken));
    table.columns.extend(behind.into_iter().map(String::from));
    for run in runs {
        let of_run = OF_RUN.map(|(_, cell)| cell(run));
        for cost in &run.costs {
            let mut row: Vec<Cell> = BEFORE.map(|(_, cell)| cell(cost)).into();
            row.extend(axes.cells(&cost.at));
            row.extend(OF_COST.map(|(_, cell)| cell(cost)));
            row.extend_from_slice(&of_run);
            table.rows.push(row);
        }
    }
    table
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
