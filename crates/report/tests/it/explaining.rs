//! Studies of a run that has every cost that they need.

use analysis::study::Study;
use howslow_report::Style;
use record::{Book, Reads, Run};

use crate::support::example;

/// The pages of a run and of the example, which has few costs that the study needs.
fn pages(study: &Study, books: &[Book], run: &Run) -> [String; 2] {
    let page = |run| howslow_report::study(&study.follow(books, run).expect("books"), run, Style::PLAIN);
    let pages = [page(run), page(&example())];
    for line in pages.iter().flat_map(|page| page.lines()) {
        assert!(line.chars().count() <= 120, "{} columns: {line}", line.chars().count());
    }
    pages
}

/// The example with every cost that the study needs, each with another figure. One costs almost nothing.
fn complete(study: &Study) -> Run {
    let mut run = example();
    let pattern = run.costs[1].clone();
    run.costs.clear();
    for (index, (operation, at)) in study.needs(true).into_iter().enumerate() {
        let mut cost = pattern.clone();
        (cost.operation, cost.at) = (operation.into(), at);
        let factor = 1.6_f64.powi(index as i32);
        (cost.net_ns, cost.gross_ns) = (cost.net_ns.times(factor), cost.gross_ns.times(factor));
        if index == 3 {
            cost.net_ns.low.0 = -0.1;
        }
        run.costs.push(cost);
    }
    run
}

#[test]
fn a_study_of_hardware() {
    let study = analysis::study::study("6180").expect("there is such a study");
    let texts = [
        include_str!("../../../../books/multics-645.toml"),
        include_str!("../../../../books/multics-6180.toml"),
        include_str!("../../../../books/multics-6180-adjusted.toml"),
        include_str!("../../../../books/gcos-6080.toml"),
    ];
    let books: Vec<Book> = texts.into_iter().map(|text| Book::from_toml(text).expect("a book")).collect();
    let [page, bare] = pages(study, &books, &complete(study));
    insta::assert_snapshot!(page);
    assert!(bare.contains("not in this run: crossing.sequence"));
}

#[test]
fn a_study_of_readers() {
    let study = analysis::study::study("mpe").expect("there is such a study");
    let books = [Book::from_toml(include_str!("../../../../books/mpe-xl-1.1.toml")).expect("a book")];
    let mut run = example();
    let pattern = run.costs[1].clone();
    // The pass at position N takes N ms, a third of it waiting, with reads of 64 KiB.
    let pass = |(index, (operation, at)): (usize, (&str, record::Point))| {
        let ms = |share: f64| record::Nanoseconds((index + 1) as f64 * 1e6 * share);
        let figures = record::Figures::given(ms(1.0).0, ms(0.99).0, ms(1.02).0);
        let file = at.number("file");
        record::Cost {
            operation: operation.into(),
            net_ns: figures,
            gross_ns: figures,
            cpu_ns: record::Cpu { user: ms(0.5), system: ms(1.0 / 6.0) },
            wait_ns: ms(1.0 / 3.0),
            bytes: record::Bytes(file.unwrap_or(80)),
            faults: record::Faults { minor: 10.0, major: 3.0 },
            reads: file.map(|file| Reads { count: file as f64 / 65_536.0, bytes: file as f64, own_bytes: None }),
            at,
            ..pattern.clone()
        }
    };
    run.costs = study.needs(false).into_iter().enumerate().map(pass).collect();
    let [page, bare] = pages(study, &books, &run);
    insta::assert_snapshot!(page);
    assert!(bare.contains("not in this run: read.mmap@file=23005952"));
}
