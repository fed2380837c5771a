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
    use crate::answer::Answer;
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
    fn all_cells_are_known_and_the_sentences_are_tested_on_the_paper() {
        let answer = followed_through_nothing(&STUDY);
        for table in &answer.tables {
            let unknown = table.rows.iter().flatten().filter(|cell| **cell == Cell::Unknown).count();
            assert_eq!(unknown, 0, "{}", table.title);
        }
        let counted = |answer_wanted: Answer| {
            answer.findings.iter().filter(|finding| finding.there.answer == answer_wanted).count()
        };
        assert_eq!(counted(Answer::NotMeasured), 0);
        assert!(counted(Answer::Yes) >= 10, "{:#?}", answer.findings);
        let answer_to = |text: &str| {
            let found = answer.findings.iter().find(|finding| finding.claim.contains(text));
            found.unwrap_or_else(|| panic!("no sentence about {text}")).there.answer
        };
        assert_eq!(answer_to("predicts the multiprogramming idle of 384 K words"), Answer::Yes);
        assert_eq!(answer_to("page faults fall to 61 to 65 %, 6.0"), Answer::No, "1879 of 2839 is 66 %");
        assert_eq!(answer_to("fault handling explains the decrease of CPU time, 6.0"), Answer::No);
    }

    #[test]
    fn the_averages_that_do_not_follow_from_the_totals_are_reported() {
        let departures: Vec<String> = books(&STUDY)[0].departures().iter().map(record::Departure::text).collect();
        let reported = |text: &str| departures.iter().any(|departure| departure == text);
        assert!(
            reported("MPM103 page faults 41 is 42.0") && reported("MPM96 page faults 52 is 53.0"),
            "{departures:?}"
        );
        assert!(
            departures.iter().all(|departure| departure.contains("page faults") || departure.contains("CPU time")),
            "{departures:?}"
        );
    }
}
