//! Repeated whole runs as a page: how each cost scatters, and what a wanted precision takes.

use analysis::repeated::{Needs, Repeated};
use record::units::{counted, grouped, percent};
use record::{Nanoseconds, Run};

use crate::grid::{Grid, RowKind};
use crate::head::head_line;
use crate::text::{Style, in_table};

/// The costs of runs that were taken one after another. `wanted` is the precision requested.
pub fn repeated(runs: &[Run], rows: &[Repeated<'_>], wanted: f64, style: Style) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let mut page = format!("{}\n{}, one after another\n\n", head_line(first), counted(runs.len() as u64, "run"));
    let mut grid = Grid::new("<>>>>>>", [vec![5], vec![6], vec![4]]);
    let mut heading = None;
    for row in rows {
        if heading != Some(row.cost.heading()) {
            heading = Some(row.cost.heading());
            let needs = format!("{} needs", percent(wanted));
            let family = row.cost.heading();
            grid.heading([family, "figure", "between rounds", "between runs", &needs, "one run tells", "all tell"]);
        }
        let name = [format!("  {}", in_table(&row.cost.operation)), row.cost.at.values()];
        grid.add_cost(RowKind::Row, name, cells(row));
    }
    page += &grid.render(style);
    let notes = [
        "figure: the median of the runs, in cycles where the cost follows the clock",
        "between rounds, between runs: standard deviations; between runs is what rounds do not explain",
        "needs: rounds of one run, or runs like these where more rounds cannot do it",
        "one run tells, all tell: the smallest difference that one run against another, and as many runs as these against as \
         many, tell in four cases of five",
    ];
    page + &style.asides("  ", notes)
}

fn cells(row: &Repeated<'_>) -> Vec<String> {
    let figure = match row.cost.is_in_cycles() {
        true => format!("{} cycles", grouped(row.figure)),
        false => Nanoseconds(row.figure).to_string(),
    };
    vec![
        figure,
        row.between_rounds.map_or_else(|| "-".into(), percent),
        percent(row.between_runs),
        needs(row.needs),
        percent(row.detectable),
        percent(row.detectable_by_all),
    ]
}

/// `12 rounds`, `7 runs`.
pub fn needs(needs: Option<Needs>) -> String {
    match needs {
        Some(Needs::Rounds(count)) => counted(count.into(), "round"),
        Some(Needs::Runs(count)) => counted(count.into(), "run"),
        None => "-".into(),
    }
}
