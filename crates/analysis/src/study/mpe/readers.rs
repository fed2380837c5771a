//! The tables of readers: the paper's rows with today's methods beside them, and the reads that each of these caused.

use std::sync::LazyLock;

use record::{Book, Entry, Run};

use super::points::{DATA, inferred};
use crate::derived::{Part, net};
use crate::study::data::{PrintedRow, PrintedTable};
use crate::study::definition::Paper;
use crate::study::missing::found;
use crate::study::table::{Cell, TableAnswer};

/// The tables of the paper with today's methods, and every method over a file that takes long to read. Without a heading of reads
/// the file is in memory and the device is not used.
pub(super) static TABLES: LazyLock<Vec<PrintedTable>> = LazyLock::new(|| reading(false));
pub(super) static HUGE: LazyLock<Vec<PrintedTable>> = LazyLock::new(|| reading(true));

fn reading(slow: bool) -> Vec<PrintedTable> {
    DATA.printed("reading").into_iter().filter(|table| table.data.slow == slow).collect()
}

impl PrintedTable {
    /// The costs of a run that it needs.
    pub fn parts(&'static self) -> impl Iterator<Item = &'static Part> {
        self.rows.iter().flat_map(|method| method.here).flat_map(|route| route.plus)
    }

    /// The times, and for a cold file the reads from the device.
    pub fn tables(&self, paper: &Paper, run: &Run, one: Option<f64>) -> Vec<TableAnswer> {
        let rows = self.filled(|id, part| times(id, part, paper, run));
        let times = self.data.named(DATA.table("times", rows));
        let Some(title) = &self.data.reads else { return vec![times] };
        let rows = self.filled(|id, part| device(id, part, paper, run, one));
        let device = TableAnswer { title: title.clone(), ..DATA.table("device", rows) };
        vec![times, device]
    }

    /// A row for each method here. The first row of a method has the paper's figures.
    fn filled(&self, row: impl Fn(Option<&str>, &Part) -> Vec<Cell>) -> Vec<Vec<Cell>> {
        let rows = |method: &PrintedRow| {
            let parts = method.here.iter().flat_map(|route| route.plus).enumerate();
            parts.map(|(place, part)| row((place == 0).then_some(method.paper), part)).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(rows).collect()
    }
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
            cells.push(then.map_or(Cell::Empty, |then| Cell::ratio(Some(then), Some(net(cost)))));
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

fn device(id: Option<&str>, part: &Part, paper: &Paper, run: &Run, one: Option<f64>) -> Vec<Cell> {
    let mut cells = vec![Cell::Text(part.term.operation.into()), Cell::Text(part.name())];
    match part.find(run) {
        Some(cost) => {
            let rate = Some(net(cost).value).filter(|time| *time > 0.0).map(|time| cost.bytes.0 as f64 * 1e3 / time);
            let reads = cost.reads.as_ref();
            let inferred = one.map(|one| inferred(cost.wait_ns, one));
            let share = inferred.zip(reads.map(|reads| reads.count).filter(|count| *count > 0.0));
            cells.extend([Cell::known(rate), Cell::Number(cost.faults.major)]);
            cells.extend([Cell::known(reads.map(|reads| reads.count))]);
            cells.push(Cell::known(reads.and_then(record::Reads::mean).map(|mean| mean / 1024.0)));
            cells.push(Cell::known(inferred));
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
