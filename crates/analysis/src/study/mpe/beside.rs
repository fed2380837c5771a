//! The paper's other subjects, each beside the same thing here: keyed files, conversions, sparse files, memory at its
//! first touch, alignment and sorting.

use record::{Run, Value};

use crate::derived::{Part, Route, cost};
use crate::study::definition::Paper;
use crate::study::table::{Cell, DOUBTS, TableAnswer, figures, followed, shown, told, words};
use crate::sums::quotient;

/// A table of one subject.
pub(super) struct Beside {
    title: &'static str,
    rows: &'static [SubjectRow],
    notes: &'static [&'static str],
}

/// One subject, there and here.
struct SubjectRow {
    what: &'static str,
    there: There,
    here: &'static [Part],
    /// The unit of its costs here.
    unit: Part,
}

/// What the paper says about it.
enum There {
    Nothing,
    /// A cost, and its unit.
    Cost(Route, Route),
    /// A fact of the book.
    Fact(&'static str),
}

const fn row(what: &'static str, there: There, here: &'static [Part], unit: Part) -> SubjectRow {
    SubjectRow { what, there, here, unit }
}

/// A cost of the book, divided by its number of records.
macro_rules! each {
    ($id:literal, $records:literal) => {
        Route { name: "", plus: &[cost($id)], minus: &[], divide_by: $records }
    };
}

/// A choice on one axis.
macro_rules! by {
    ($id:literal, $by:literal $(, $axis:literal = $number:expr)*) => {
        cost($id).at(&[("by", Value::Word($by)) $(, ($axis, Value::Number($number)))*])
    };
}

/// A record of the plain file in memory, and of the keyed one.
const PLAIN: Route = each!("mpe.catalog.nm.fread", 7040.0);
const KSAM: Route = each!("mpe.ksam.nm", 1000.0);
const INTRINSIC: Route = each!("mpe.ascii.intrinsic", 1.0);
const CLONE: Route = each!("mpe.ascii.clone", 1.0);

pub(super) const PLAIN_HERE: Part = by!("keyed.written", "read", "records" = 1000);
pub(super) const KEYED_HERE: Part = cost("keyed.order").at(&[("records", Value::Number(1000))]);
pub(super) const LIBRARY: Part = by!("convert.integer.text", "libc");
pub(super) const CRATE: Part = by!("convert.integer.text", "itoa");

const RANDOM_HERE: Part =
    cost("keyed.random").at(&[("records", Value::Number(1000)), ("transaction", Value::Word("one"))]);
const READ_CRATE: Part = by!("convert.text.integer", "lexical-core");
const DOUBLE_CRATE: Part = by!("convert.double.text", "zmij");
const OCCUPIED: Part = cost("sparse.occupied").at(&[("size", Value::Number(4096))]);
const FAR: Part = cost("sparse.write").at(&[("size", Value::Number(1)), ("offset", Value::Number(999_999_999))]);
const NEAR: Part = cost("sparse.write").at(&[("size", Value::Number(1)), ("offset", Value::Number(0))]);
const TOUCH: Part = cost("touch.first").at(&[("frames", Value::Word("fresh")), ("pages", Value::Word("base"))]);
const ALIGNED: Part = by!("align.sum", "load", "offset" = 0);
const SORTED: Part = by!("sort.records", "unstable", "records" = 10_000);
const OUTSIDE: Part = by!("sort.external", "gnu");

pub(super) const TABLES: &[Beside] = &[
    Beside {
        title: "a record of 80 bytes, by key",
        rows: &[
            row(
                "as written: Fread",
                There::Cost(PLAIN, PLAIN),
                &[PLAIN_HERE, by!("keyed.written", "buffered", "records" = 1000)],
                PLAIN_HERE,
            ),
            row("by key: KSAM Fread", There::Cost(KSAM, PLAIN), &[KEYED_HERE], PLAIN_HERE),
            row(
                "SQLite, other ways",
                There::Nothing,
                &[by!("keyed.written", "sqlite", "records" = 1000), RANDOM_HERE],
                PLAIN_HERE,
            ),
        ],
        notes: &[
            "1,000 records in memory, there the plain file 7,040, from native code; KSAM beside SQLite through its \
                  index",
        ],
    },
    Beside {
        title: "numbers and texts",
        rows: &[
            row("ASCII intrinsic", There::Cost(INTRINSIC, CLONE), &[LIBRARY], CRATE),
            row("ASCII clone", There::Cost(CLONE, CLONE), &[CRATE, by!("convert.integer.text", "std")], CRATE),
            row(
                "BINARY",
                There::Nothing,
                &[by!("convert.text.integer", "libc"), by!("convert.text.integer", "std"), READ_CRATE],
                READ_CRATE,
            ),
            row(
                "doubles",
                There::Nothing,
                &[by!("convert.double.text", "libc"), by!("convert.double.text", "std"), DOUBLE_CRATE],
                DOUBLE_CRATE,
            ),
        ],
        notes: &[
            "there the time of all of a large number of conversions that is not said, here of one; ASCII and BINARY \
                  are MPE's intrinsics for a number as text and back",
        ],
    },
    Beside {
        title: "files and memory in part",
        rows: &[
            row("extent of a sparse file", There::Fact("extent of a sparse file"), &[OCCUPIED, FAR, NEAR], NEAR),
            row(
                "pages touched first, again, never",
                There::Nothing,
                &[TOUCH, cost("touch.second").at(&[("pages", Value::Word("base"))]), cost("touch.never")],
                TOUCH,
            ),
        ],
        notes: &[
            "one write far from the beginning; the size of sparse.occupied is what that file occupies here, there 2,048 \
                  sectors of 256 bytes",
        ],
    },
    Beside {
        title: "alignment",
        rows: &[
            row("aligned", There::Fact("loads of an aligned number"), &[ALIGNED], ALIGNED),
            row(
                "misaligned",
                There::Fact("loads of a misaligned number"),
                &[by!("align.sum", "halves", "offset" = 2), by!("align.sum", "load", "offset" = 2)],
                ALIGNED,
            ),
        ],
        notes: &[
            "align.sum halves makes a number of two loads of 16 bits and joins them, as the paper's compilers did; \
                  load takes it at once",
        ],
    },
    Beside {
        title: "sorting",
        rows: &[
            row(
                "SORT, in memory",
                There::Nothing,
                &[
                    by!("sort.records", "libc", "records" = 10_000),
                    by!("sort.records", "stable", "records" = 10_000),
                    SORTED,
                ],
                SORTED,
            ),
            row("SORT, with scratch files", There::Nothing, &[by!("sort.external", "howslow"), OUTSIDE], OUTSIDE),
        ],
        notes: &["the paper names no time for its sorts; records of 80 bytes"],
    },
];

impl Beside {
    /// The costs of a run that it needs.
    pub fn parts(&self) -> impl Iterator<Item = &'static Part> + use<> {
        self.rows.iter().flat_map(|row| row.here.iter().chain([&row.unit]))
    }

    /// The costs of the book that it needs.
    pub fn printed(&self) -> impl Iterator<Item = &'static str> + use<> {
        let routes = self.rows.iter().filter_map(|row| match &row.there {
            There::Cost(cost, unit) => Some([cost, unit]),
            _ => None,
        });
        routes.flatten().flat_map(Route::parts).map(|(_, part)| part.term.operation)
    }

    /// Its rows beside a run.
    pub fn table(&self, paper: &Paper, run: &Run) -> TableAnswer {
        TableAnswer {
            title: self.title.into(),
            columns: vec![
                words("paper", ""),
                figures("there", "there"),
                figures("there_ratio", "x"),
                shown("here", false),
                told("here"),
                figures("here_ns", "cost"),
                shown("+-", true).gives_way(2),
                figures("here_bytes", "payload").gives_way(1),
                figures("here_ratio", "x"),
                told("why_not"),
                DOUBTS,
            ],
            rows: self.rows.iter().flat_map(|row| row.rows(paper, run)).collect(),
            notes: self.notes.iter().map(|note| (*note).into()).collect(),
        }
    }
}

impl SubjectRow {
    /// A row for each way here. The first row has the paper's figures.
    fn rows(&self, paper: &Paper, run: &Run) -> Vec<Vec<Cell>> {
        let unit = self.unit.find(run).map(|cost| self.unit.figure(cost));
        let cells = |(place, part): (usize, &'static Part)| {
            let mut cells = if place == 0 { self.there(paper) } else { vec![Cell::Empty; 3] };
            let figure = followed(&Route::of(std::slice::from_ref(part)), run);
            let payload = part.find(run).map(|cost| cost.bytes).filter(|bytes| bytes.0 > 0);
            let quoted = figure.as_ref().ok().copied().zip(unit);
            cells.extend([Cell::Text(part.short()), Cell::Text(part.name())]);
            cells.extend([Cell::cost(&figure), Cell::width(&figure)]);
            cells.push(payload.map_or(Cell::Empty, Cell::Payload));
            cells.push(Cell::ratio(quoted.and_then(|(one, unit)| quotient(one, unit))));
            cells.extend([Cell::why_not(&figure), Cell::doubts_of([part.find(run), self.unit.find(run)])]);
            cells
        };
        self.here.iter().enumerate().map(cells).collect()
    }

    fn there(&self, paper: &Paper) -> Vec<Cell> {
        let what = Cell::Text(self.what.into());
        match &self.there {
            There::Nothing => vec![what, Cell::Empty, Cell::Empty],
            There::Fact(name) => {
                let fact = paper.books.iter().find_map(|book| book.fact(name));
                let told = fact.map(|fact| format!("{} {}", fact.printed, fact.unit));
                vec![what, told.map_or(Cell::Empty, Cell::Text), Cell::Empty]
            }
            There::Cost(cost, unit) => {
                let (cost, unit) = (cost.follow(&paper.run).ok(), unit.follow(&paper.run).ok());
                let quoted = cost.zip(unit).and_then(|(cost, unit)| quotient(cost, unit));
                vec![what, cost.map_or(Cell::Unknown, Cell::Cost), Cell::ratio(quoted)]
            }
        }
    }
}
