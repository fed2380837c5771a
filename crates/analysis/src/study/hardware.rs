//! `6180`: the instruction times of three machines of 1973 beside this one, the paper's arithmetic repeated, and the
//! value of its buffer memory here.

mod arithmetic;
mod buffer;
mod handicap;
mod instructions;
mod parts;

use super::definition::Study;
use crate::derived::{Part, Route};

pub(super) static STUDY: Study = Study {
    name: "6180",
    title: "Measurements of Hardware Speed of the 6180",
    data: &parts::DATA,
    books: &["multics-645", "multics-6180", "multics-6180-adjusted", "gcos-6080"],
    parts,
    seconds: 60.0,
    rounds: None,
    more: None,
    users: None,
    computed: None,
    curves: None,
    tables: |paper, run| {
        vec![
            instructions::instructions(paper, run),
            instructions::programs(paper, run),
            handicap::table(paper, run),
            arithmetic::table(paper),
            arithmetic::factors(paper),
            buffer::table(paper, run),
        ]
    },
};

/// Every cost of this machine that the tables use.
fn parts() -> Vec<&'static Part> {
    instructions::routes().flat_map(Route::parts).map(|(_, part)| part).chain(buffer::parts()).collect()
}

#[cfg(test)]
mod tests {
    use super::parts::KERNEL;
    use super::*;
    use crate::study::definition::Paper;
    use crate::study::table::Cell;
    use crate::study::tests::books;

    #[test]
    fn two_of_the_papers_sums_depart() {
        let books = books(&STUDY);
        let paper = Paper::new(&books).expect("books");
        let table = arithmetic::table(&paper);
        let departs = |row: &&Vec<Cell>| row.last() == Some(&Cell::Text("departs".into()));
        let departing: Vec<&Cell> = table.rows.iter().filter(departs).map(|row| &row[1]).collect();
        assert_eq!(departing, [&Cell::Text("170 / 110".into()), &Cell::Text("1660 / 2130".into())]);
        let without = Paper::new(&books[1..]).expect("books");
        let unknown = arithmetic::table(&without).rows.iter().filter(|row| row[4] == Cell::Unknown).count();
        assert!(unknown > 5, "a sum without its costs is not known");
    }

    #[test]
    fn the_factors_of_the_whole_multiply_to_it() {
        let books = books(&STUDY);
        let table = arithmetic::factors(&Paper::new(&books).expect("books"));
        let number = |row: &Vec<Cell>| if let Cell::Number(value) = row[2] { Some(value) } else { None };
        let values: Vec<f64> = table.rows.iter().filter_map(number).collect();
        let [hardware, crossing, store, whole] = values[..] else { panic!("{values:?}") };
        assert!((hardware * crossing * store - whole).abs() < 1e-12);
        assert!((whole - 25.0 / 14.0).abs() < 1e-12);
    }

    #[test]
    fn the_buffer_memory_makes_the_sequence_half_as_fast_again() {
        let books = books(&STUDY);
        let run = books[0].run();
        let table = buffer::table(&Paper::new(&books).expect("books"), &run);
        let Cell::Ratio(ratio) = table.rows[1][5] else { panic!("{table:?}") };
        assert!((ratio.value - 110.0 / (110.0 - 65.0 * 0.59)).abs() < 1e-9, "{ratio:?}");
        assert!(matches!(&table.rows[2][2], Cell::Missing(why) if why.contains("memory.load@set=16KiB")));
    }

    #[test]
    fn neighbours_are_a_handicap_with_an_interval_where_the_run_reports_them() {
        let books = books(&STUDY);
        let mut run = books[0].run();
        let cost = &mut run.costs[0];
        (cost.operation, cost.at) = (KERNEL.term.operation.into(), KERNEL.term.term().at);
        cost.gross_ns.quiet = record::Nanoseconds(100.0);
        cost.doubts = vec![record::Doubt::NeverQuiet];
        let paper = Paper::new(&books).expect("books");
        let rows = |run: &record::Run| handicap::table(&paper, run).rows;
        let is_neighbours = |row: &&Vec<Cell>| row[1] == Cell::Text("neighbours".into());
        assert_eq!(rows(&run).iter().filter(is_neighbours).count(), 0);
        run.costs[0].neighbours = Some(record::Neighbours { ratio: 1.08, low: 1.05, high: 1.12 });
        let all = rows(&run);
        let row = all.iter().find(is_neighbours).expect("the run tells them");
        let (Cell::Cost(added), Cell::Ratio(ratio)) = (&row[4], &row[5]) else { panic!("{row:?}") };
        assert!((added.low - 5.0).abs() < 1e-9 && (added.high - 12.0).abs() < 1e-9, "{added:?}");
        assert!((ratio.low - 1.05).abs() < 1e-6 && (ratio.high - 1.12).abs() < 1e-6, "{ratio:?}");
        assert!(matches!(row.last(), Some(Cell::Doubts(doubts)) if doubts.len() == 1), "{row:?}");
    }
}
