//! Comparisons and studies as long tables, for `--csv`.

use analysis::compare::{ComparedFigure, Comparison, RatioToBase};
use analysis::study::{Study, StudyAnswer};
use report::Shown;
use report::document::{StudyCell, StudyDocument};
use store::exchange::{Cell, Table, axis_columns};

/// The columns of a comparison before and behind its axes.
const COMPARED: [&str; 2] = ["id", "group"];
const RATIOS: &str = "run base unit value low high base_value base_low base_high ratio ratio_low ratio_high verdict chance other_id \
    version base_version";

/// A row for each cost of each run but the first, beside that of the first.
pub(crate) fn comparison(comparison: &Comparison<'_>, names: &[String], shown: Shown) -> Table {
    let rows: Vec<_> = comparison.rows.iter().filter(|row| shown == Shown::All || row.changed()).collect();
    let axes = axis_columns(rows.iter().map(|row| &row.base.at));
    let taken: Vec<&str> = COMPARED.into_iter().chain(RATIOS.split(' ')).collect();
    let mut table = Table::new(COMPARED);
    table.columns.extend(axes.names(&taken));
    table.columns.extend(RATIOS.split(' ').map(String::from));
    for row in rows {
        for (place, other) in (1..).zip(&row.others) {
            let Some((cost, against)) = other else { continue };
            let mut cells = vec![Cell::text(&row.base.operation), Cell::text(row.family())];
            cells.extend(axes.cells(&row.base.at));
            let name = |place: usize| names.get(place).map_or(Cell::Missing, Cell::text);
            cells.extend([name(place), name(0), Cell::text(row.unit.unit())]);
            let [base, other] = comparison.compared_figures(place, [row.base, cost], row.unit);
            cells.extend(ends(&other));
            cells.extend(ends(&base));
            cells.extend(ratio(&against.ratio));
            cells.extend([
                Cell::text(against.verdict.word()),
                against.chance.map_or(Cell::Missing, Cell::number),
                if cost.operation == row.base.operation { Cell::Missing } else { Cell::text(&cost.operation) },
                Cell::Count(cost.version.into()),
                Cell::Count(row.base.version.into()),
            ]);
            table.rows.push(cells);
        }
    }
    table
}

/// The figure of a cost and the ends of its interval.
fn ends(figure: &ComparedFigure) -> [Cell; 3] {
    figure.interval().map_or([const { Cell::Missing }; 3], |interval| {
        [interval.value, interval.low, interval.high].map(Cell::number)
    })
}

/// A ratio and the ends of its interval. A bound has the end that is known.
fn ratio(ratio: &RatioToBase) -> [Cell; 3] {
    match ratio {
        RatioToBase::Times(times) => [times.value, times.low, times.high].map(Cell::number),
        RatioToBase::AtMost(most) => [Cell::Missing, Cell::Missing, Cell::number(*most)],
        RatioToBase::AtLeast(least) => [Cell::Missing, Cell::number(*least), Cell::Missing],
        RatioToBase::Unknown(_) => [const { Cell::Missing }; 3],
    }
}

/// A row for each cell of the tables of studies, and for each sentence tested.
pub(crate) fn studies<'a>(answers: impl Iterator<Item = (&'a &'static Study, &'a StudyAnswer)>) -> Table {
    let mut table = Table::new(["study", "table", "row", "name", "column", "value", "low", "high", "text"]);
    for (study, answer) in answers {
        let document = StudyDocument::of(study, answer);
        for shown in &document.tables {
            for (row, number) in shown.rows.iter().zip(1..) {
                let named = row.iter().flatten().find_map(|cell| match cell {
                    StudyCell::Text(text) => Some(*text),
                    _ => None,
                });
                for (cell, column) in row.iter().zip(&shown.columns) {
                    let Some(cell) = cell else { continue };
                    let start = [study.name, shown.title].map(Cell::text);
                    let place = [Cell::Count(number), Cell::text(named.unwrap_or_default()), Cell::text(*column)];
                    table.rows.push(start.into_iter().chain(place).chain(value(cell)).collect());
                }
            }
        }
        for (finding, number) in document.findings.iter().zip(1..) {
            for (column, answer) in [("here", finding.answer), ("in_the_paper", finding.answer_in_the_paper)] {
                let start = [Cell::text(study.name), Cell::text("findings"), Cell::Count(number)];
                let end = [Cell::text(finding.claim), Cell::text(column), Cell::Missing, Cell::Missing, Cell::Missing];
                table.rows.push(start.into_iter().chain(end).chain([Cell::text(answer)]).collect());
            }
        }
    }
    table
}

/// A cell of a study: its value, its interval, its words.
fn value(cell: &StudyCell<'_>) -> [Cell; 4] {
    let number = |value: Option<f64>| value.map_or(Cell::Missing, Cell::number);
    match cell {
        StudyCell::Text(text) => [Cell::Missing, Cell::Missing, Cell::Missing, Cell::text(*text)],
        StudyCell::Number(value) => [Cell::number(*value), Cell::Missing, Cell::Missing, Cell::Missing],
        StudyCell::Count(count) => [Cell::Count(*count), Cell::Missing, Cell::Missing, Cell::Missing],
        StudyCell::Cost(cost) => [number(cost.ns), number(cost.low_ns), number(cost.high_ns), Cell::Missing],
        StudyCell::Ratio(ratio) => {
            [Cell::number(ratio.value), Cell::number(ratio.low), Cell::number(ratio.high), Cell::Missing]
        }
        StudyCell::Doubts(doubts) => {
            let texts: Vec<&str> = doubts.iter().map(record::Doubt::short).collect();
            [Cell::Missing, Cell::Missing, Cell::Missing, Cell::text(texts.join("; "))]
        }
    }
}
