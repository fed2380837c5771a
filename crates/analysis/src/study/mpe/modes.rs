//! The tables of the modes. There: native, translated and emulated. Here: native, translated at run time (JIT) and
//! interpreted, and, if a run has it, native code under an emulator of this processor.

use record::Run;

use crate::derived::{Part, Route, cost};
use crate::study::definition::Paper;
use crate::study::table::{Cell, DOUBTS, TableAnswer, figures, followed, shown, told, words};
use crate::sums::quotient;

/// A table of one program in several modes.
pub(super) struct Modes {
    title: &'static str,
    /// Its rows, in the paper's order.
    rows: &'static [ModeRow],
    /// The mode that only this machine has: native code emulated, and the native code itself.
    emulated: (Route, Route),
    notes: &'static [&'static str],
}

/// One row: a cost of the paper, its mode, its native row, and the same here.
struct ModeRow {
    paper: &'static str,
    mode: &'static str,
    native: &'static str,
    here: Option<(Route, Route)>,
}

macro_rules! read {
    ($mode:literal) => {
        Route::of(&[cost("mode.read").at(&[("mode", record::Value::Word($mode)), ("size", record::Value::Number(80))])])
    };
}
macro_rules! keyed {
    ($mode:literal) => {
        Route::of(&[
            cost("mode.keyed").at(&[("mode", record::Value::Word($mode)), ("records", record::Value::Number(1000))])
        ])
    };
}
macro_rules! convert {
    ($mode:literal) => {
        Route::of(&[cost("mode.convert").at(&[("mode", record::Value::Word($mode))])])
    };
}
pub(super) use {convert, keyed, read};

const fn row(paper: &'static str, mode: &'static str, native: &'static str, here: Option<(Route, Route)>) -> ModeRow {
    ModeRow { paper, mode, native, here }
}

const MAPPED: &str = "mpe.catalog.nm.mapped";
const DIRECT: &str = "mpe.catalog.nm.freaddir";
const READ: &str = "mpe.catalog.nm.fread";
const DIRECT_SEEK: &str = "mpe.catalog.nm.freaddir.seek";
const READ_SEEK: &str = "mpe.catalog.nm.fread.seek";
const KSAM: &str = "mpe.ksam.nm";
const ASCII: &str = "mpe.ascii.nm";

const EMULATED: &str = "the last row is the native code here, run by an emulator of this processor (qemu-user)";

pub(super) const TABLES: &[Modes] = &[
    Modes {
        title: "CATALOG.PUB.SYS by mode",
        rows: &[
            row(MAPPED, "NM", MAPPED, None),
            row(DIRECT, "NM", DIRECT, None),
            row(READ, "NM", READ, Some((read!("native"), read!("native")))),
            row(DIRECT_SEEK, "NM", DIRECT_SEEK, None),
            row(READ_SEEK, "NM", READ_SEEK, None),
            row("mpe.catalog.oct.freaddir", "OCT", DIRECT, None),
            row("mpe.catalog.oct.fread", "OCT", READ, Some((read!("jit"), read!("native")))),
            row("mpe.catalog.cm.freaddir", "CM", DIRECT, None),
            row("mpe.catalog.cm.fread", "CM", READ, Some((read!("interpreted"), read!("native")))),
            row("mpe.catalog.oct.freaddir.seek", "OCT", DIRECT_SEEK, None),
            row("mpe.catalog.oct.fread.seek", "OCT", READ_SEEK, None),
            row("mpe.catalog.cm.freaddir.seek", "CM", DIRECT_SEEK, None),
            row("mpe.catalog.cm.fread.seek", "CM", READ_SEEK, None),
        ],
        emulated: (read!("emulated"), read!("native")),
        notes: &[
            "CPU and elapsed are ms for the whole file as printed; a cost here is one record of 80 bytes, one WASI \
                  call of a guest; NM is native, OCT translated, CM emulated",
        ],
    },
    Modes {
        title: "KSAM by mode",
        rows: &[
            row("mpe.ksam.oct", "OCT", KSAM, Some((keyed!("jit"), keyed!("native")))),
            row("mpe.ksam.cm", "CM", KSAM, Some((keyed!("interpreted"), keyed!("native")))),
            row(KSAM, "NM", KSAM, Some((keyed!("native"), keyed!("native")))),
        ],
        emulated: (keyed!("emulated"), keyed!("native")),
        notes: &[
            "there 1,000 records in the order of keys by code that was itself emulated; here one look-up by key among \
                  1,000 records",
        ],
    },
    Modes {
        title: "number to text by mode",
        rows: &[
            row(ASCII, "NM", ASCII, Some((convert!("native"), convert!("native")))),
            row("mpe.ascii.oct", "OCT", ASCII, Some((convert!("jit"), convert!("native")))),
            row("mpe.ascii.cm", "CM", ASCII, Some((convert!("interpreted"), convert!("native")))),
        ],
        emulated: (convert!("emulated"), convert!("native")),
        notes: &[
            "there the intrinsic ran emulated whatever the mode of its caller; here the program itself converts, to \
                  text and back",
        ],
    },
];

impl Modes {
    /// The costs of a run that it needs.
    pub fn parts(&'static self) -> impl Iterator<Item = &'static Part> + use<> {
        let routes = self.rows.iter().filter_map(|row| row.here.as_ref()).chain([&self.emulated]);
        routes.flat_map(|(here, native)| [here, native]).flat_map(Route::parts).map(|(_, part)| part)
    }

    /// The costs of the book that it needs.
    pub fn printed(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.rows.iter().map(|row| row.paper)
    }

    /// Its rows beside a run.
    pub fn table(&self, paper: &Paper, run: &Run) -> TableAnswer {
        // Few machines have an emulator of their own processor, and the paper had none, so no row says that it is
        // missing.
        let measured = followed(&self.emulated.0, run).is_ok();
        let emulated = measured.then(|| [vec![Cell::Empty; 5], beside(&self.emulated, run)].concat());
        let notes = self.notes.iter().chain(measured.then_some(&EMULATED));
        TableAnswer {
            title: self.title.into(),
            columns: vec![
                words("paper", ""),
                words("mode", "mode"),
                figures("cpu_ms", "CPU").gives_way(1),
                figures("elapsed_ms", "elapsed").gives_way(2),
                figures("of_native", "x NM"),
                shown("here", false),
                told("here"),
                figures("here_ns", "cost"),
                shown("+-", true).gives_way(3),
                figures("here_of_native", "x native"),
                told("why_not"),
                DOUBTS,
            ],
            rows: self.rows.iter().map(|row| row.cells(paper, run)).chain(emulated).collect(),
            notes: notes.map(|note| (*note).into()).collect(),
        }
    }
}

impl ModeRow {
    fn cells(&self, paper: &Paper, run: &Run) -> Vec<Cell> {
        let entry = paper.entry(self.paper).map(|(_, entry)| entry);
        let native = paper.cost(self.paper).zip(paper.cost(self.native));
        let mut cells = vec![
            entry.map_or(Cell::Empty, |entry| Cell::Text(entry.name.clone())),
            Cell::Text(self.mode.into()),
            Cell::printed(entry.and_then(|entry| entry.cpu_ms.as_ref())),
            Cell::printed(entry.and_then(|entry| entry.ms.as_ref())),
            Cell::ratio(native.and_then(|(one, native)| quotient(one, native))),
        ];
        cells.extend(self.here.as_ref().map_or_else(|| vec![Cell::Empty; 7], |here| beside(here, run)));
        cells
    }
}

/// A cost of this machine, and its ratio to the native one.
fn beside((here, of): &(Route, Route), run: &Run) -> Vec<Cell> {
    let (figure, native) = (followed(here, run), followed(of, run));
    let both = figure.as_ref().ok().copied().zip(native.ok());
    vec![
        Cell::Text(here.short_formula()),
        Cell::Text(here.formula()),
        Cell::cost(&figure),
        Cell::width(&figure),
        Cell::ratio(both.and_then(|(one, native)| quotient(one, native))),
        Cell::why_not(&figure),
        Cell::doubts([here, of], run),
    ]
}
