//! What holds for every study, and the books that its own tests work on.

use record::{Book, Run};

use super::*;

pub(super) fn books(study: &Study) -> Vec<Book> {
    let text = |name| std::fs::read_to_string(format!("{}/../../books/{name}.toml", env!("CARGO_MANIFEST_DIR")));
    study.books.iter().map(|name| Book::from_toml(&text(name).expect(name)).expect(name)).collect()
}

pub(super) fn followed_through_nothing(study: &Study) -> StudyAnswer {
    let books = books(study);
    study.follow(&books, &Run { costs: Vec::new(), ..books[0].run() }).expect("books")
}

#[test]
fn a_study_names_what_it_needs_once() {
    for study in STUDIES {
        let needs = study.needs(true);
        assert!(needs.len() > if study.name == "rsx" { 30 } else { 15 }, "{}: {needs:?}", study.name);
        for (index, need) in needs.iter().enumerate() {
            assert!(!needs[..index].contains(need), "{}: {need:?}", study.name);
        }
    }
}

#[test]
fn rows_are_as_wide_as_their_tables() {
    for study in STUDIES {
        let books = books(study);
        let own = study.follow(&books, &books[0].run()).expect("books");
        for table in followed_through_nothing(study).tables.iter().chain(&own.tables) {
            assert!(!table.rows.is_empty(), "{}: {}", study.name, table.title);
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}: {}", study.name, table.title);
        }
        assert!(study.follow(&[], &books[0].run()).is_none());
    }
}
