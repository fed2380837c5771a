//! The paper's arithmetic repeated, also with this machine's figures: reads from waiting, bytes per read, how far ahead
//! to request.

use std::sync::LazyLock;

use record::{Nanoseconds, Run};

use super::points::{DATA, LARGE_BYTES, MIDDLE_BYTES, PAGE, SMALL_BYTES, inferred};
use crate::derived::{Part, net};
use crate::study::definition::Paper;
use crate::study::table::{Cell, TableAnswer};

/// The costs of a run that it needs: single pages and records of the large file, single pages of the middle one, and the small one in
/// memory.
pub(super) struct Passes {
    paged: Part,
    read: Part,
    middle_paged: Part,
    resident: Part,
}

pub(super) static PARTS: LazyLock<Passes> = LazyLock::new(|| Passes {
    paged: DATA.part("read.mmap.random@sl"),
    read: DATA.part("read.read@sl,ordered"),
    middle_paged: DATA.part("read.mmap.random@nl"),
    resident: DATA.part("read.mmap.kept@catalog"),
});

impl Passes {
    pub(super) fn all(&'static self) -> [&'static Part; 4] {
        [&self.paged, &self.read, &self.middle_paged, &self.resident]
    }
}

/// Nanoseconds in a millisecond.
const MS: f64 = 1e6;

/// The paper's assumed time of one read of its disc, in ms.
pub(super) fn guessed_read(paper: &Paper) -> Option<f64> {
    paper.fact("one disc read")?.value()
}

/// The results of this machine's passes.
struct Here<'a> {
    run: &'a Run,
    /// One read of a page in ns.
    one: Option<f64>,
}

impl Here<'_> {
    fn inferred(&self, part: &Part) -> Option<f64> {
        Some(inferred(part.find(self.run)?.wait_ns, self.one?))
    }

    fn counted(&self, part: &Part) -> Option<f64> {
        Some(part.find(self.run)?.reads?.count)
    }

    /// Pages per read of the file.
    fn pages(bytes: u64, reads: Option<f64>) -> Option<f64> {
        reads.filter(|reads| *reads > 0.0).map(|reads| bytes as f64 / PAGE / reads)
    }

    /// Bytes used in a ms, for data in memory.
    fn consumption(&self) -> Option<f64> {
        let time = net(PARTS.resident.find(self.run)?).value;
        (time > 0.0).then(|| SMALL_BYTES as f64 * MS / time)
    }
}

pub(super) fn table(paper: &Paper, run: &Run, one: Option<f64>) -> TableAnswer {
    let here = Here { run, one };
    let row = |what: &str, (name, column): (&str, &str), value: Option<f64>| {
        let check = paper.books.iter().find_map(|book| book.check_of(name, column));
        vec![
            Cell::Text(what.into()),
            Cell::printed(check.map(|check| &check.printed)),
            Cell::number(check.and_then(record::Check::recomputed)),
            Cell::known(value),
        ]
    };
    let bare = |what: &str, recomputed: Option<f64>, value: Option<f64>| {
        vec![Cell::Text(what.into()), Cell::Empty, Cell::number(recomputed), Cell::known(value)]
    };
    let pages = |bytes: u64| Some(bytes as f64 / PAGE);
    let distance = here.consumption().zip(one).map(|(rate, one)| rate * one / MS);
    DATA.table(
        "arithmetic",
        vec![
            guess("one disc read, as guessed", "one disc read", paper, one),
            row("reads of SL by mapping, a page each", ("page faults", "of the 89,867 records"), pages(LARGE_BYTES)),
            row(
                "  inferred: delta / one read",
                ("disc reads of the mapped file", "by delta"),
                here.inferred(&PARTS.paged),
            ),
            bare("  counted by the kernel", None, here.counted(&PARTS.paged)),
            row("reads of SL by Fread, inferred", ("disc reads of Fread", "by delta"), here.inferred(&PARTS.read)),
            bare("  counted by the kernel", None, here.counted(&PARTS.read)),
            row(
                "  pages in one, inferred (printed 15 or 16)",
                ("pages in one read of Fread", "by delta"),
                Here::pages(LARGE_BYTES, here.inferred(&PARTS.read)),
            ),
            bare("  pages in one, counted", None, Here::pages(LARGE_BYTES, here.counted(&PARTS.read))),
            bare("reads of NL by mapping, a page each", Some(NL_BYTES as f64 / PAGE), pages(MIDDLE_BYTES)),
            bare("  inferred: delta / one read", nl_inferred(paper), here.inferred(&PARTS.middle_paged)),
            bare("  counted by the kernel", None, here.counted(&PARTS.middle_paged)),
            row("bytes of CATALOG used in a ms, in memory", ("consumption", "bytes/ms"), here.consumption()),
            guess("one disc read, for prefetching", "one disc read when tuning", paper, one),
            row("pages to ask ahead: read x bytes/ms", ("distance", "pages"), distance.map(|bytes| bytes / PAGE)),
        ],
    )
}

/// NL.PUB.SYS: 64,275 records of 256 bytes.
const NL_BYTES: u64 = 64_275 * 256;

/// A time that the paper guessed, beside the measured one.
fn guess(what: &str, fact: &str, paper: &Paper, one: Option<f64>) -> Vec<Cell> {
    vec![
        Cell::Text(what.into()),
        paper.fact(fact).map_or(Cell::Empty, |fact| Cell::Text(format!("{} {}", fact.printed, fact.unit))),
        Cell::Empty,
        one.map_or(Cell::Unknown, |one| Cell::Time(Nanoseconds(one))),
    ]
}

/// The paper's inference for its second file, which it left to the reader.
fn nl_inferred(paper: &Paper) -> Option<f64> {
    let (book, entry) = paper.entry("mpe.nl.mapped")?;
    Some(book.recomputed_delta_ms(entry)? / guessed_read(paper)?)
}
