//! The books that come with howslow: every printed figure against what the printed rates give.

use std::fs;

use record::{Book, Nanoseconds};
use store::{Store, book, book_names};

fn rsx() -> Book {
    book("pdp-11-24").expect("there is such a book").expect("and it is one")
}

#[test]
fn every_book_is_one_and_is_found_by_its_name_as_a_run() {
    for name in book_names() {
        let book = book(name).expect("it is listed").expect("it can be read");
        assert_eq!(book.name, name);
        let run = Store::open_any(name).expect("a run");
        assert_eq!(run, book.run());
        assert_eq!(run.costs.len(), book.costs.len());
        let text = serde_json::to_vec(&run).expect("a run is JSON");
        assert_eq!(record::run_from_bytes(&text).expect("and can be read"), run);
    }
    assert!(book("pdp-11").is_none());
}

#[test]
fn the_departures_of_rsx_are_known() {
    let found: Vec<String> = rsx()
        .departures()
        .iter()
        .map(|it| format!("{}: {} {} is {:.3}", it.name, it.printed, it.unit, it.recomputed))
        .collect();
    assert_eq!(
        found,
        [
            "GSSW: 0.31 block moves is 0.317",
            "SETF: 0.55 ms is 0.559",
            "VSDA/VRCD: 458 kbit/s is 458.752",
            "SDAT/RCST: 25 kbit/s is 25.584",
            "SDRC/RCVX: 12.34 ms is 12.346",
            "AST by SDAT/RCVD: 1.43 ms is 1.423",
            "AST by SDAT/RCVD: 1.05 block moves is 1.043",
            "S/R (1 task): 4.87 block moves is 4.887",
            "Context switch: 0.95 block moves is 0.931",
        ]
    );
}

#[test]
fn rsx_holds_every_figure_of_the_paper() {
    let book = rsx();
    let paper = include_str!("data/rsx-tables.txt");
    let mut rows = 0;
    for line in paper.lines().filter(|line| !line.is_empty()) {
        let (name, figures) = line.split_once('|').expect("a name and its figures");
        let entry = book.costs.iter().find(|entry| entry.name == name).unwrap_or_else(|| panic!("no {name}"));
        let printed = [&entry.rate, &entry.ms, &entry.block_moves, &entry.kbit_s];
        let printed: Vec<&str> = printed.into_iter().flatten().map(String::as_str).collect();
        assert_eq!(printed.join(" "), figures, "{name}");
        rows += 1;
    }
    assert_eq!(rows, book.costs.len());
}

#[test]
fn a_book_quotes_the_printed_time_within_its_digits() {
    let run = rsx().run();
    let set = run.cost("rsx.setf", &[]).expect("SETF");
    assert_eq!(set.quoted(), Nanoseconds(550_000.0));
    assert!((set.net_ns.low.0 - 545_000.0).abs() < 1e-6 && (set.net_ns.high.0 - 555_000.0).abs() < 1e-6);
    assert_eq!(run.block_move().expect("the unit").operation, "rsx.block.move");
    assert!(set.doubts.is_empty() && set.rounds.is_empty() && set.neighbour_tax().is_none());
}

#[test]
fn a_book_of_ones_own_is_read_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.toml");
    fs::write(&path, include_str!("../../../books/pdp-11-24.toml").replace("pdp-11-24", "mine")).expect("written");
    assert_eq!(Store::open_any(path.to_str().expect("text")).expect("a run").id, "mine");
    fs::write(&path, "name = 1").expect("written");
    let error = Store::open_any(path.to_str().expect("text")).expect_err("no book").to_string();
    assert!(error.contains("mine.toml") && error.contains("not a book"), "{error}");
    fs::write(&path, "#".repeat((1 << 20) + 1)).expect("written");
    let error = Store::open_any(path.to_str().expect("text")).expect_err("no book").to_string();
    assert!(error.contains("larger"), "{error}");
}
