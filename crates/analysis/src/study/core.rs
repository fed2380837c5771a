//! `core`: scripted users on Multics while memory, CPUs and the system change; a model that predicts the idle time from the page
//! faults.

mod computed;
mod here;
mod runs;
mod tables;

use super::definition::Study;

pub(super) static STUDY: Study = Study {
    name: "core",
    title: "Effect of Core Size upon System Performance",
    data: &runs::DATA,
    books: &["multics-1970"],
    parts: Vec::new,
    seconds: 2.0,
    rounds: None,
    more: None,
    users: Some(&here::EXPERIMENT),
    computed: Some(computed::costs),
    curves: None,
    tables: tables::tables,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::table::Cell;
    use crate::study::tests::{books, followed_through_nothing};

    #[test]
    fn the_model_predicts_the_idle_time_of_three_runs_from_that_of_one() {
        let books = books(&STUDY);
        let paper = STUDY.paper(&books).expect("a book");
        let wait = computed::page_wait(&paper).expect("a page wait").value;
        assert!((wait - 28.4).abs() < 0.05, "{wait}");
        for (name, expected) in [("mpm98", 5.4), ("mpm103", 19.7), ("mpm102", 5.8)] {
            let predicted = computed::predicted(&paper, name, wait).expect("a prediction") * 100.0;
            let measured = runs::fact(&paper, name, "idle multiprogramming");
            assert!((predicted - expected).abs() < 0.25, "{name}: {predicted}");
            assert!((predicted - measured).abs() < 2.5, "{name}: {predicted} of {measured}");
        }
    }

    #[test]
    fn all_cells_are_known() {
        for table in followed_through_nothing(&STUDY).tables {
            let unknown = table.rows.iter().flatten().filter(|cell| **cell == Cell::Unknown).count();
            assert_eq!(unknown, 0, "{}", table.title);
        }
    }
}
