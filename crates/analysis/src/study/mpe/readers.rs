//! The tables of readers: the paper's rows with today's methods beside them, and the reads that each of these caused.

use record::{Book, Cost, Entry, Run};

use super::points::{HUGE_COLD, HUGE_WARM, LARGE, LARGE_NEAR, MIDDLE, SMALL, SMALL_NEAR, inferred};
use crate::derived::{Part, cost, net};
use crate::study::definition::Paper;
use crate::study::missing::why_missing;
use crate::study::table::{Cell, Column, DOUBTS, TableAnswer, figures, shown, told, words};
use crate::sums::quotient;

/// A table of the paper with today's methods.
pub(super) struct ReadingTable {
    title: &'static str,
    /// The heading of its reads; empty if the file is in memory and the device is not used.
    reads: Option<&'static str>,
    methods: &'static [ReaderMethod],
    notes: &'static [&'static str],
}

/// A method of the paper (none if it had no such method) and those of today.
struct ReaderMethod {
    paper: &'static str,
    here: &'static [Part],
}

const fn method(paper: &'static str, here: &'static [Part]) -> ReaderMethod {
    ReaderMethod { paper, here }
}

/// Every method that reads a file both cold and warm.
macro_rules! all {
    ($at:expr) => {
        [
            cost("read.mmap").at($at.in_order),
            cost("read.mmap.random").at($at.plain),
            cost("read.mmap.sequential").at($at.plain),
            cost("read.mmap.populate").at($at.plain),
            cost("read.mmap.ahead").at($at.ahead),
            cost("read.mmap.huge").at($at.plain),
            cost("read.pread").at($at.in_order),
            cost("read.preadv2").at($at.plain),
            cost("read.readahead").at($at.ahead),
            cost("read.fadvise.ahead").at($at.ahead),
            cost("read.fadvise.sequential").at($at.plain),
            cost("read.read").at($at.in_order),
            cost("read.stdio").at($at.plain),
            cost("read.bufreader").at($at.plain),
            cost("read.uring").at($at.deep),
            cost("read.uring.registered").at($at.deep),
            cost("read.uring.polled").at($at.deep),
            cost("read.splice").at($at.plain),
            cost("read.sendfile").at($at.plain),
            cost("read.copy").at($at.plain),
        ]
    };
}

pub(super) const TABLES: &[ReadingTable] = &[
    ReadingTable {
        title: "SL.PUB.SYS, cold",
        reads: Some("reads of SL"),
        methods: &[
            method(
                "mpe.sl.mapped",
                &[
                    cost("read.mmap").at(LARGE.in_order),
                    cost("read.mmap.random").at(LARGE.plain),
                    cost("read.mmap.sequential").at(LARGE.plain),
                ],
            ),
            method("mpe.sl.freaddir", &[cost("read.pread").at(LARGE.in_order), cost("read.preadv2").at(LARGE.plain)]),
            method(
                "mpe.sl.fread",
                &[
                    cost("read.read").at(LARGE.in_order),
                    cost("read.stdio").at(LARGE.plain),
                    cost("read.bufreader").at(LARGE.plain),
                ],
            ),
            method("mpe.sl.freaddir.seek", &[cost("read.readahead").at(LARGE_NEAR)]),
            method("mpe.sl.fread.seek", &[cost("read.fadvise.ahead").at(LARGE_NEAR)]),
        ],
        notes: &[
            "89,867 records of 256 bytes, there and here; CPU, elapsed and delta there are ms as printed; faults of \
             read.mmap.random bring a page each, as those of MPE did, those of read.mmap what the kernel reads around",
            "prefetch as the paper first did it: four records ahead; here elapsed is the median pass, processor time and \
             delta are those of all passes, waiting for a busy CPU included",
        ],
    },
    ReadingTable {
        title: "SL.PUB.SYS, prefetch tuned",
        reads: Some("reads of SL, tuned"),
        methods: &[
            method(
                "mpe.sl.mapped.tuned",
                &[cost("read.mmap.ahead").at(LARGE.ahead), cost("read.mmap.populate").at(LARGE.plain)],
            ),
            method("mpe.sl.freaddir.tuned", &[cost("read.readahead").at(LARGE.ahead)]),
            method(
                "mpe.sl.fread.tuned",
                &[cost("read.fadvise.ahead").at(LARGE.ahead), cost("read.fadvise.sequential").at(LARGE.plain)],
            ),
        ],
        notes: &[
            "there 24 pages at a time, 24 ahead; here 2 MiB at a time, 2 MiB ahead, or as much as the advice gives",
        ],
    },
    ReadingTable {
        title: "NL.PUB.SYS, cold",
        reads: Some("reads of NL"),
        methods: &[
            method(
                "mpe.nl.mapped",
                &[cost("read.mmap").at(MIDDLE.in_order), cost("read.mmap.random").at(MIDDLE.plain)],
            ),
            method("mpe.nl.freaddir", &[cost("read.pread").at(MIDDLE.in_order)]),
            method("mpe.nl.fread", &[cost("read.read").at(MIDDLE.in_order)]),
            method("mpe.nl.freaddir.seek", &[cost("read.readahead").at(MIDDLE.ahead)]),
            method("mpe.nl.fread.seek", &[cost("read.fadvise.ahead").at(MIDDLE.ahead)]),
            method(
                "",
                &[
                    cost("read.direct").at(MIDDLE.in_order),
                    cost("read.uring").at(MIDDLE.deep),
                    cost("read.uring.registered").at(MIDDLE.deep),
                    cost("read.uring.direct").at(MIDDLE.deep),
                    cost("read.sendfile").at(MIDDLE.plain),
                    cost("read.splice").at(MIDDLE.plain),
                ],
            ),
        ],
        notes: &["there 64,275 records of 256 bytes, 16 MB; here 16 MiB in today's records of 128 KiB"],
    },
    ReadingTable {
        title: "CATALOG.PUB.SYS, warm",
        reads: None,
        methods: &[
            method(
                "mpe.catalog.nm.mapped",
                &[cost("read.mmap.kept").at(SMALL.plain), cost("read.mmap").at(SMALL.in_order)],
            ),
            method("mpe.catalog.nm.freaddir", &[cost("read.pread").at(SMALL.in_order)]),
            method(
                "mpe.catalog.nm.fread",
                &[
                    cost("read.read").at(SMALL.in_order),
                    cost("read.stdio").at(SMALL.plain),
                    cost("read.bufreader").at(SMALL.plain),
                ],
            ),
            method("mpe.catalog.nm.freaddir.seek", &[cost("read.readahead").at(SMALL_NEAR)]),
            method("mpe.catalog.nm.fread.seek", &[cost("read.fadvise.ahead").at(SMALL_NEAR)]),
        ],
        notes: &["7,040 records of 80 bytes, in memory, there and here; a delta here is waiting for a busy CPU"],
    },
];

/// Every method over a file that takes long to read.
pub(super) const HUGE: &[ReadingTable] = &[
    ReadingTable {
        title: "256 MiB, cold",
        reads: Some("reads of 256 MiB"),
        methods: &[method("", &all!(HUGE_COLD))],
        notes: &[],
    },
    ReadingTable { title: "256 MiB, warm", reads: None, methods: &[method("", &all!(HUGE_WARM))], notes: &[] },
    ReadingTable {
        title: "256 MiB, past memory",
        reads: Some("reads past memory"),
        methods: &[method(
            "",
            &[cost("read.direct").at(HUGE_COLD.in_order), cost("read.uring.direct").at(HUGE_COLD.deep)],
        )],
        notes: &[],
    },
];

impl ReadingTable {
    /// The costs of a run that it needs.
    pub fn parts(&self) -> impl Iterator<Item = &'static Part> + use<> {
        self.methods.iter().flat_map(|method| method.here)
    }

    /// The costs of the book that it needs.
    pub fn printed(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.methods.iter().map(|method| method.paper).filter(|id| !id.is_empty())
    }

    /// The times, and for a cold file the reads from the device.
    pub fn tables(&self, paper: &Paper, run: &Run, one: Option<f64>) -> Vec<TableAnswer> {
        let times = TableAnswer {
            title: self.title.into(),
            columns: times_columns(),
            rows: self.rows(|id, part| times(id, part, paper, run)),
            notes: self.notes.iter().map(|note| (*note).into()).collect(),
        };
        let Some(title) = self.reads else { return vec![times] };
        let device = TableAnswer {
            title: title.into(),
            columns: device_columns(),
            rows: self.rows(|id, part| device(id, part, paper, run, one)),
            notes: vec![
                "reads as the kernel counts them for the whole device, and as the paper inferred them: delta over the \
                 time of one read"
                    .into(),
            ],
        };
        vec![times, device]
    }

    /// A row for each method here. The first row of a method has the paper's figures.
    fn rows(&self, row: impl Fn(Option<&str>, &Part) -> Vec<Cell>) -> Vec<Vec<Cell>> {
        let of = |method: &ReaderMethod| {
            let parts = method.here.iter().enumerate();
            parts.map(|(place, part)| row((place == 0).then_some(method.paper), part)).collect::<Vec<_>>()
        };
        self.methods.iter().flat_map(of).collect()
    }
}

fn times_columns() -> Vec<Column> {
    vec![
        words("paper", ""),
        figures("cpu_ms", "CPU").gives_way(3),
        figures("elapsed_ms", "elapsed"),
        figures("delta_ms", "delta").gives_way(2),
        told("recomputed_delta_ms"),
        shown("here", false),
        told("here"),
        figures("user_ns", "user").gives_way(1),
        figures("system_ns", "system").gives_way(1),
        figures("here_ns", "elapsed"),
        figures("here_delta_ns", "delta").gives_way(2),
        figures("faster", "faster"),
        told("why_not"),
        DOUBTS,
    ]
}

fn times(id: Option<&str>, part: &Part, paper: &Paper, run: &Run) -> Vec<Cell> {
    let mut cells = vec![Cell::Empty; 5];
    match id.map(|id| paper.entry(id)) {
        Some(Some((book, entry))) => cells = printed(book, entry),
        Some(None) => cells[0] = Cell::Text("not in the paper".into()),
        None => {}
    }
    cells.extend([Cell::Text(part.term.operation.into()), Cell::Text(part.name())]);
    match found(part, run) {
        Ok(cost) => {
            let then = id.and_then(|id| paper.cost(id));
            cells.extend([cost.cpu_ns.user, cost.cpu_ns.system].map(Cell::Time));
            cells.extend([Cell::Cost(net(cost)), Cell::Time(cost.wait_ns)]);
            cells.push(then.map_or(Cell::Empty, |then| Cell::ratio(quotient(then, net(cost)))));
            cells.push(Cell::Empty);
        }
        Err(why) => {
            cells.extend([Cell::Unknown, Cell::Unknown, Cell::Missing(why.clone()), Cell::Unknown, Cell::Unknown]);
            cells.push(Cell::Text(why));
        }
    }
    cells.push(Cell::doubts_of([part.find(run)]));
    cells
}

fn printed(book: &Book, entry: &Entry) -> Vec<Cell> {
    vec![
        Cell::Text(entry.name.clone()),
        Cell::printed(entry.cpu_ms.as_ref()),
        Cell::printed(entry.ms.as_ref()),
        Cell::printed(entry.delta_ms.as_ref()),
        Cell::number(book.recomputed_delta_ms(entry)),
    ]
}

fn device_columns() -> Vec<Column> {
    vec![
        shown("", false),
        told("here"),
        figures("mb_s", "MB/s").gives_way(3),
        figures("major_faults", "faults").gives_way(1),
        figures("reads", "reads"),
        figures("mean_kib", "KiB each").gives_way(2),
        figures("inferred_reads", "inferred"),
        figures("inferred_over_counted", "x reads"),
        words("paper", "there").gives_way(4),
        figures("paper_inferred_reads", "inferred").gives_way(4),
        DOUBTS,
    ]
}

fn device(id: Option<&str>, part: &Part, paper: &Paper, run: &Run, one: Option<f64>) -> Vec<Cell> {
    let mut cells = vec![Cell::Text(part.term.operation.into()), Cell::Text(part.name())];
    match part.find(run) {
        Some(cost) => {
            let rate = Some(net(cost).value).filter(|time| *time > 0.0).map(|time| cost.bytes.0 as f64 * 1e3 / time);
            let reads = cost.reads.as_ref();
            let inferred = one.map(|one| inferred(cost.wait_ns, one));
            let share = inferred.zip(reads.map(|reads| reads.count).filter(|count| *count > 0.0));
            cells.extend([known(rate), Cell::Number(cost.faults.major)]);
            cells.extend([known(reads.map(|reads| reads.count))]);
            cells.push(known(reads.and_then(record::Reads::mean).map(|mean| mean / 1024.0)));
            cells.push(known(inferred));
            cells.push(share.map_or(Cell::Unknown, |(inferred, count)| Cell::Number(inferred / count)));
        }
        None => cells.extend(vec![Cell::Unknown; 6]),
    }
    let (book, entry) = id.and_then(|id| paper.entry(id)).unzip();
    let waited = book.zip(entry).and_then(|(book, entry)| book.recomputed_delta_ms(entry));
    let guess = super::arithmetic::guessed_read(paper);
    cells.push(entry.map_or(Cell::Empty, |entry| Cell::Text(entry.name.clone())));
    cells.push(Cell::number(waited.zip(guess).map(|(waited, guess)| waited / guess)));
    cells.push(Cell::doubts_of([part.find(run)]));
    cells
}

fn known(value: Option<f64>) -> Cell {
    value.map_or(Cell::Unknown, Cell::Number)
}

fn found<'a>(part: &Part, run: &'a Run) -> Result<&'a Cost, String> {
    part.find(run).ok_or_else(|| why_missing(run, &[part.name()]))
}
