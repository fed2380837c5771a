//! The tables of the modes. There: native, translated and emulated. Here: native, translated at run time (JIT) and
//! interpreted, and, if a run has it, native code under an emulator of this processor.

use std::sync::LazyLock;

use record::Run;

use super::points::DATA;
use crate::derived::{Part, Route};
use crate::study::data::DataTable;
use crate::study::definition::Paper;
use crate::study::missing::followed;
use crate::study::table::{Cell, TableAnswer};

/// A table of one program in several modes.
pub(super) struct Modes {
    data: &'static DataTable,
    /// Its rows, in the paper's order.
    rows: Vec<ModeRow>,
    /// The mode that only this machine has: native code emulated, and the native code itself.
    emulated: Option<(Route, Route)>,
}

/// One row: a cost of the paper, its mode, its native row, and the same here.
struct ModeRow {
    paper: &'static str,
    mode: &'static str,
    native: &'static str,
    here: Option<(Route, Route)>,
}

const EMULATED: &str = "the last row is the native code here, run by an emulator of this processor (qemu-user)";

pub(super) static TABLES: LazyLock<Vec<Modes>> = LazyLock::new(|| {
    let row = |row: &'static Vec<String>| {
        let here = row.get(3).zip(row.get(4)).map(|(here, native)| (DATA.route(here), DATA.route(native)));
        ModeRow { paper: &row[0], mode: &row[1], native: &row[2], here }
    };
    let table = |data: &'static DataTable| Modes {
        data,
        rows: data.rows.iter().map(row).collect(),
        emulated: data.emulated.as_ref().map(|(one, native)| (DATA.route(one), DATA.route(native))),
    };
    DATA.tables("modes").map(table).collect()
});

impl Modes {
    /// The costs of a run that it needs.
    pub fn parts(&'static self) -> impl Iterator<Item = &'static Part> {
        let routes = self.rows.iter().filter_map(|row| row.here.as_ref()).chain(&self.emulated);
        routes.flat_map(|(here, native)| [here, native]).flat_map(Route::parts).map(|(_, part)| part)
    }

    /// Its rows beside a run.
    pub fn table(&self, paper: &Paper, run: &Run) -> TableAnswer {
        // Few machines have an emulator of their own processor, and the paper had none, so no row says that it is
        // missing.
        let measured = self.emulated.as_ref().filter(|(emulated, _)| followed(emulated, run).is_ok());
        let emulated = measured.map(|emulated| [vec![Cell::Empty; 5], compared(emulated, run)].concat());
        let rows = self.rows.iter().map(|row| row.cells(paper, run)).chain(emulated);
        let mut table = self.data.named(DATA.table("modes", rows));
        table.notes.extend(measured.map(|_| EMULATED.into()));
        table
    }
}

impl ModeRow {
    fn cells(&self, paper: &Paper, run: &Run) -> Vec<Cell> {
        let entry = paper.entry(self.paper).map(|(_, entry)| entry);
        let mut cells = vec![
            entry.map_or(Cell::Empty, |entry| Cell::Text(entry.name.clone())),
            Cell::Text(self.mode.into()),
            Cell::printed(entry.and_then(|entry| entry.cpu_ms.as_ref())),
            Cell::printed(entry.and_then(|entry| entry.ms.as_ref())),
            Cell::ratio(paper.cost(self.paper), paper.cost(self.native)),
        ];
        cells.extend(self.here.as_ref().map_or_else(|| vec![Cell::Empty; 7], |here| compared(here, run)));
        cells
    }
}

/// A cost of this machine, and its ratio to the native one.
fn compared((here, of): &(Route, Route), run: &Run) -> Vec<Cell> {
    let figure = followed(here, run);
    vec![
        Cell::Text(here.short_formula()),
        Cell::Text(here.formula()),
        Cell::cost(&figure),
        Cell::width(&figure),
        Cell::ratio(figure.as_ref().ok().copied(), followed(of, run).ok()),
        Cell::why_not(&figure),
        Cell::doubts([here, of], run),
    ]
}
