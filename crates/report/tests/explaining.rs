//! Explanations and studies as people read them: snapshots of a fixed run and of a book.

use analysis::derived::{derive, entry_shares};
use analysis::explain::explain_all;
use record::{Book, Run, Term};
use report::Style;

fn book() -> Book {
    Book::from_toml(include_str!("../../../books/pdp-11-24.toml")).expect("a book")
}

/// The example, in which two costs name their parts; one part is missing, one residual is negative.
fn example() -> Run {
    let bytes = include_bytes!("../../record/tests/data/example-run.json");
    let mut run = record::run_from_bytes(bytes).expect("a run");
    let term = |times, operation: &str| Term { times, operation: operation.into(), at: record::Point::default() };
    for cost in &mut run.costs {
        cost.explained_by = match cost.operation.as_str() {
            "syscall.read" => vec![term(2.0, "syscall.getppid")],
            "pipe.self" => vec![term(1.0, "syscall.read"), term(1.0, "syscall.write")],
            _ => Vec::new(),
        };
    }
    run
}

#[test]
fn everything_explained() {
    for (name, run) in [("explained_book", book().run()), ("explained_run", example())] {
        let page = report::explained(&run, &derive(&run), &entry_shares(&run), &explain_all(&run), Style::Plain);
        insta::assert_snapshot!(name, page);
    }
}

#[test]
fn two_costs_explained() {
    let run = example();
    insta::assert_snapshot!(report::explanations(&run, &explain_all(&run), Style::Plain));
}

#[test]
fn a_study() {
    let study = analysis::study::study("rsx").expect("there is such a study");
    let page = report::study(&study.follow(&book(), &example()), &book(), &example(), Style::Plain);
    insta::assert_snapshot!(page);
    for line in page.lines().skip(2) {
        assert!(line.chars().count() <= 120, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn a_run_that_explains_nothing_says_so() {
    let mut run = example();
    run.costs.retain(|cost| cost.operation == "loop.empty");
    let page = report::explained(&run, &derive(&run), &entry_shares(&run), &explain_all(&run), Style::Plain);
    assert!(page.contains("no cost of this run names its parts"));
    assert!(page.contains("nothing to agree with"));
}
