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
    fn a_sum_without_its_costs_is_not_known() {
        let without = Paper::new(&books(&STUDY)[1..]).map(|paper| arithmetic::table(&paper)).expect("books");
        assert!(without.rows.iter().filter(|row| row[4] == Cell::Unknown).count() > 5);
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
