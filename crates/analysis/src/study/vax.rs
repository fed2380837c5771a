//! The VAX CPU: what loads a machine. Terminal output, neighbours, switches and a second CPU, on the paper's machines and here.

mod tables;

use super::definition::Study;

pub(super) static STUDY: Study = Study {
    name: "vax",
    title: "The VAX CPU",
    data: &tables::DATA,
    books: &["vax-1986"],
    parts: tables::parts,
    seconds: 90.0,
    // What passes through a kernel thread on any CPU scatters between rounds.
    rounds: Some(30),
    more: None,
    users: None,
    computed: None,
    curves: Some(tables::curves),
    printed: tables::printed,
    tables: tables::tables,
};

#[cfg(test)]
mod tests {
    use record::Book;

    use super::*;

    #[test]
    fn rows_are_as_wide_as_their_tables_and_a_run_without_costs_says_what_is_missing() {
        let books = [Book::from_toml(include_str!("../../../../books/vax-1986.toml")).expect("a book")];
        assert_eq!(books[0].departures(), [], "what is kept of the paper is right by its own arithmetic");
        let run = record::Run { costs: vec![], ..books[0].run() };
        let answer = STUDY.follow(&books, &run).expect("a book");
        for table in &answer.tables {
            assert!(!table.rows.is_empty(), "{}", table.title);
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.title);
        }
        for finding in &answer.findings {
            assert_eq!(finding.holds(), None, "{}", finding.claim);
            assert_ne!(finding.there.holds(), Some(false), "the paper contradicts itself: {}", finding.claim);
            let said = finding
                .here
                .iter()
                .all(|here| here.one.figure.as_ref().is_err_and(|why| why.contains("not in this run")));
            assert!(said, "{}", finding.claim);
        }
        let printed = answer.findings.iter().filter(|finding| finding.there.holds() == Some(true)).count();
        assert!(printed >= 5, "{printed} sentences have figures in the paper");
    }
}
