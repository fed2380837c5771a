//! `howslow history`: the kept runs.

use exchange::{Cell, Table};
use report::Kept;
use store::{Head, Store};

use crate::cli::HistoryArgs;
use crate::output::{self, Outcome};

pub(crate) fn history(args: &HistoryArgs) -> anyhow::Result<Outcome> {
    let kept: Vec<Kept> =
        Store::of_user()?.list()?.into_iter().zip(1..).map(|(head, place)| kept(head, place)).collect();
    if args.csv {
        crate::export::print_table(&table(&kept))?;
    } else if args.json {
        output::print_json(&kept)?;
    } else {
        output::print(&report::history(&kept, output::style()))?;
    }
    Ok(Outcome::Done)
}

/// The list as a table, with one row a run.
fn table(kept: &[Kept]) -> Table {
    let mut table = Table::new(["place", "id", "started", "cpu_model", "kernel", "patterns", "full", "path"]);
    for (it, place) in kept.iter().zip(1..) {
        let texts = [&it.id, &it.started, &it.model, &it.kernel, &it.patterns.join(" ")];
        let full = [Cell::Flag(it.full), Cell::text(&it.path)];
        let row = [Cell::Count(place)].into_iter().chain(texts.into_iter().map(Cell::text));
        table.rows.push(row.chain(full).collect());
    }
    table
}

fn kept(head: Head, place: usize) -> Kept {
    Kept {
        name: format!("@{place}"),
        id: head.id,
        started: head.started,
        model: head.model,
        kernel: head.kernel,
        patterns: head.patterns,
        full: head.full,
        path: head.path.display().to_string(),
    }
}
