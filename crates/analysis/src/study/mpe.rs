//! `mpe`: one file read by every access method, out of memory and in memory; three modes; keyed files, conversions and
//! the rest of the paper beside this machine; its arithmetic of reads and of prefetching repeated.

mod arithmetic;
mod modes;
mod points;
mod readers;
mod subjects;

use super::data::PrintedTable;
use super::definition::{SlowCosts, Study};
use crate::derived::Part;

pub(super) static STUDY: Study = Study {
    name: "mpe",
    title: "MPE/iX and Performance",
    data: &points::DATA,
    books: &["mpe-xl-1.1"],
    parts,
    seconds: 80.0,
    rounds: None,
    more: Some(SlowCosts { parts: || readers::HUGE.iter().flat_map(|table| table.parts()).collect(), seconds: 900.0 }),
    users: None,
    computed: None,
    curves: None,
    tables: |paper, run| {
        let one = points::one_read(run);
        let mut tables = Vec::new();
        for table in &*readers::TABLES {
            tables.extend(table.tables(paper, run, one));
        }
        tables.extend(modes::TABLES.iter().map(|table| table.table(paper, run)));
        tables.extend(subjects::TABLES.iter().map(|table| table.table(paper, run)));
        tables.push(arithmetic::table(paper, run, one));
        let measured = |table: &&'static PrintedTable| table.parts().any(|part| part.find(run).is_some());
        tables.extend(readers::HUGE.iter().filter(measured).flat_map(|table| table.tables(paper, run, one)));
        tables
    },
};

/// Every cost of this machine that the tables use.
fn parts() -> Vec<&'static Part> {
    let read = readers::TABLES.iter().flat_map(|table| table.parts());
    let subjects = subjects::TABLES.iter().flat_map(|table| table.parts());
    let modes = modes::TABLES.iter().flat_map(|table| table.parts());
    std::iter::once(&*points::ONE_READ)
        .chain(read)
        .chain(modes)
        .chain(subjects)
        .chain(arithmetic::PARTS.all())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::definition::Paper;
    use crate::study::tests::books;

    #[test]
    fn the_study_leaves_what_takes_long_to_who_requests_it() {
        let usual = STUDY.needs(false);
        let all = STUDY.needs(true);
        let huge = |need: &&(&str, record::Point)| need.1.number("file") == Some(256 << 20);
        assert_eq!(usual.iter().filter(huge).count(), 0);
        assert!(all.iter().filter(huge).count() > 30, "{}", all.len());
    }

    #[test]
    fn emulated_code_has_a_row_where_a_run_has_it() {
        let books = books(&STUDY);
        let paper = Paper::new(&books).expect("a paper");
        let without = record::Run { costs: vec![], ..books[0].run() };
        let at = record::Point::default().with("mode", record::Value::Word("emulated".into()));
        let cost = record::Cost { operation: "mode.convert".into(), at, ..paper.run.costs[0].clone() };
        let with = record::Run { costs: vec![cost], ..without.clone() };
        let rows = |run: &record::Run| {
            modes::TABLES.iter().map(|table| table.table(&paper, run).rows.len()).collect::<Vec<_>>()
        };
        let more: Vec<usize> = rows(&with).iter().zip(rows(&without)).map(|(with, without)| with - without).collect();
        assert_eq!(more, [0, 0, 1]);
        let last = modes::TABLES[2].table(&paper, &with);
        assert_eq!(last.rows.last().map(Vec::len), Some(last.columns.len()));
    }
}
