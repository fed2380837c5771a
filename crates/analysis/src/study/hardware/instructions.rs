//! Table I and the two whole programs, beside the nearest operations here.

use std::sync::LazyLock;

use record::Run;

use super::parts::DATA;
use crate::derived::Route;
use crate::statistics::Interval;
use crate::study::data::PrintedRow;
use crate::study::definition::Paper;
use crate::study::missing::followed;
use crate::study::table::{Cell, TableAnswer, beside};

static INSTRUCTIONS: LazyLock<Vec<PrintedRow>> = LazyLock::new(|| DATA.printed("instructions").remove(0).rows);
static PROGRAMS: LazyLock<Vec<PrintedRow>> = LazyLock::new(|| DATA.printed("programs").remove(0).rows);

const OLD: &str = "multics-645";
const NEW: &str = "multics-6180";
const ADJUSTED: &str = "multics-6180-adjusted";
const OTHER: &str = "gcos-6080";

/// The routes in both tables.
pub(super) fn routes() -> impl Iterator<Item = &'static Route> {
    INSTRUCTIONS.iter().chain(&*PROGRAMS).flat_map(|row| row.here)
}

/// Table I.
pub(super) fn instructions(paper: &Paper, run: &Run) -> TableAnswer {
    let there = |row: &PrintedRow| {
        let mut cells = vec![Cell::Text(name(paper, row.paper))];
        cells.extend([OLD, NEW, ADJUSTED, OTHER].map(|book| time(paper, book, row.paper).0));
        cells.extend(checked(paper, row.paper, ADJUSTED, "645/6180"));
        cells.extend(checked(paper, row.paper, ADJUSTED, "6080/6180"));
        cells
    };
    DATA.table("instructions", INSTRUCTIONS.iter().flat_map(|row| rows(row, &there(row), paper, run)))
}

/// The two whole programs, and the wall-crossing that is part of one of them.
pub(super) fn programs(paper: &Paper, run: &Run) -> TableAnswer {
    let there = |row: &PrintedRow| {
        let ((old, _), (new, unit)) = (time(paper, OLD, row.paper), time(paper, NEW, row.paper));
        let mut cells = vec![Cell::Text(name(paper, row.paper)), old, new, Cell::Text(unit.into())];
        cells.extend(checked(paper, row.paper, NEW, "645/6180"));
        cells
    };
    DATA.table("programs", PROGRAMS.iter().flat_map(|row| rows(row, &there(row), paper, run)))
}

/// A row for every analogue. The first row has the paper's cells.
fn rows(row: &PrintedRow, there: &[Cell], paper: &Paper, run: &Run) -> Vec<Vec<Cell>> {
    let then = paper.cost(&format!("{NEW}/{}", row.paper));
    beside(there, row.here, |route| {
        let figure = followed(route, run);
        let now = figure.as_ref().ok().copied();
        vec![
            Cell::Text(if route.name.is_empty() { route.short_formula() } else { route.name.into() }),
            Cell::Text(route.formula()),
            Cell::cost(&figure),
            Cell::width(&figure),
            cycles(now, run),
            Cell::ratio(then, now),
            Cell::why_not(&figure),
            Cell::doubts([route], run),
        ]
    })
}

/// A cost in cycles of the run's clock.
fn cycles(figure: Option<Interval>, run: &Run) -> Cell {
    let cycle = run.noise.cycle_ns;
    let known = figure.filter(|figure| !figure.is_at_most() && cycle > 0.0);
    known.map_or(Cell::Unknown, |figure| Cell::Number(figure.value / cycle))
}

fn name(paper: &Paper, id: &str) -> String {
    let entry = [OLD, NEW].into_iter().find_map(|book| paper.entry(&format!("{book}/{id}")));
    entry.map_or_else(String::new, |(_, entry)| entry.name.clone())
}

/// The time printed in a book, with its unit.
fn time(paper: &Paper, book: &str, id: &str) -> (Cell, &'static str) {
    let printed = paper.entry(&format!("{book}/{id}")).and_then(|(_, entry)| entry.printed_time());
    printed.map_or((Cell::Empty, ""), |(text, unit)| (Cell::Printed(text.into()), unit))
}

/// A printed ratio, and the ratio of the printed times.
fn checked(paper: &Paper, id: &str, book: &str, column: &str) -> [Cell; 2] {
    let found = paper.entry(&format!("{book}/{id}")).and_then(|(book, entry)| book.check_of(&entry.name, column));
    found.map_or([Cell::Empty, Cell::Empty], |check| {
        [Cell::Printed(check.printed.clone()), Cell::number(check.recomputed())]
    })
}
