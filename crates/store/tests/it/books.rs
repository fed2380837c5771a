//! The books that come with howslow: every printed figure against what the printed rates give.

use std::fs;

use howslow_store::{Store, book, book_names};
use record::{Book, CountedIn, Departure, Nanoseconds, Value};

fn named(name: &str) -> Book {
    book(name).expect("there is such a book").expect("and it is one")
}

fn departures(name: &str) -> Vec<String> {
    named(name).departures().iter().map(Departure::text).collect()
}

#[test]
fn every_book_is_one_and_is_found_by_its_name_as_a_run() {
    for name in book_names() {
        let book = named(name);
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
    assert_eq!(
        departures("pdp-11-24"),
        [
            "GSSW 0.31 block moves is 0.317",
            "SETF 0.55 ms is 0.559",
            "VSDA/VRCD 458 kbit/s is 458.8",
            "SDAT/RCST 25 kbit/s is 25.6",
            "SDRC/RCVX 12.34 ms is 12.346",
            "AST by SDAT/RCVD 1.43 ms is 1.423",
            "AST by SDAT/RCVD 1.05 block moves is 1.043",
            "S/R (1 task) 4.87 block moves is 4.887",
            "Context switch 0.95 block moves is 0.931",
        ]
    );
}

/// Table I as the paper prints it: 645, 6180, adjusted, 6080, 645 over adjusted, 6080 over adjusted.
const TABLE: &str = "\
ada    | 1920 |  832 |  735 |  700 | 2.62 | 0.95
sta    | 2250 | 1140 | 1038 | 1000 | 2.17 | 0.96
eapbp  | 2970 | 1505 | 1408 |      | 2.11 |
eapbp* | 5320 | 2960 | 2763 |      | 1.93 |
stpbp  | 2870 | 2230 | 2133 |      | 1.35 |
sarl   |      | 2230 | 2130 | 1660 |      | .77
larl   |      | 1990 | 1893 | 1660 |      | .87";

#[test]
fn the_books_of_the_6180_hold_table_one() {
    let names = ["multics-645", "multics-6180", "multics-6180-adjusted", "gcos-6080"];
    let books = names.map(named);
    let mut shown = 0;
    for line in TABLE.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let printed = |book: &Book| {
            let entry = book.costs.iter().find(|entry| entry.name == cells[0]);
            entry.and_then(|entry| entry.ns.clone()).unwrap_or_default()
        };
        let checked =
            |column: &str| books[2].check_of(cells[0], column).map(|check| check.printed.clone()).unwrap_or_default();
        let mut found: Vec<String> = books.iter().map(printed).collect();
        shown += found.iter().filter(|text| !text.is_empty()).count();
        found.extend([checked("645/6180"), checked("6080/6180")]);
        assert_eq!(found, cells[1..], "{line}");
    }
    let instructions = books.iter().flat_map(|book| &book.costs).filter(|entry| entry.group == "instructions");
    assert_eq!(instructions.count(), shown);
}

#[test]
fn the_departures_of_the_6180_are_known() {
    assert_eq!(departures("multics-6180"), ["call-save-return 645/6180 1.54 is 1.545"]);
    assert_eq!(
        departures("multics-6180-adjusted"),
        [
            "ada 645/6180 2.62 is 2.612", "sarl 6080/6180 .77 is 0.779", "larl 6080/6180 .87 is 0.877",
            "ada adjustment 100 is 97.0", "sta adjustment 100 is 102.0", "eapbp adjustment 100 is 97.0",
            "eapbp* adjustment 200 is 197.0", "stpbp adjustment 100 is 97.0", "larl adjustment 100 is 97.0",
        ]
    );
    assert!(departures("multics-645").is_empty() && departures("gcos-6080").is_empty());
}

#[test]
fn the_checks_of_the_6180_are_made_of_figures_that_the_books_print() {
    let names = ["multics-645", "multics-6180", "multics-6180-adjusted", "gcos-6080"];
    let books = names.map(named);
    let all = books.iter().flat_map(|book| &book.costs);
    let printed: Vec<(&str, &str)> =
        all.filter_map(|entry| Some((entry.name.as_str(), entry.printed_time()?.0))).collect();
    for check in books.iter().flat_map(|book| &book.checks) {
        for text in [&check.over, &check.under, &check.of, &check.less].into_iter().flatten() {
            assert!(printed.contains(&(check.name.as_str(), text.as_str())), "{}: {text}", check.name);
        }
    }
}

#[test]
fn books_of_cores_are_in_cycles_and_each_figure_has_its_source() {
    let mut cores = 0;
    for name in book_names() {
        let book = named(name);
        let run = book.run();
        if book.counted_in == CountedIn::Nanoseconds {
            assert!(run.costs.iter().all(|cost| cost.cycles == 0.0), "{name}");
            continue;
        }
        cores += 1;
        assert!(run.noise.cycle_ns > 0.2 && run.noise.cycle_ns < 0.5, "{name}");
        assert!(!book.source.is_empty() && book.clock.is_some_and(|clock| !clock.source.is_empty()), "{name}");
        for cost in &run.costs {
            assert!((cost.cycles * run.noise.cycle_ns - cost.quoted().0).abs() < 1e-9, "{}", cost.name());
            // No core of these adds more than six at once, or pauses longer than the slowest of them.
            assert!(cost.cycles > 0.16 && cost.cycles < 161.0, "{name} {}: {}", cost.name(), cost.cycles);
        }
    }
    assert!(cores >= 6, "{cores} books of cores");
}

#[test]
fn known_figures_of_cascade_lake() {
    let run = Store::open_any("cascade-lake").expect("a run");
    let cycles = |operation: &str, axis: &str, value: u64| {
        let cost = run.cost(operation, &[(axis, Value::Number(value))]).expect(operation);
        let rounded = |ns: Nanoseconds| (ns.0 / run.noise.cycle_ns * 100.0).round() / 100.0;
        (rounded(cost.net_ns.low), rounded(cost.net_ns.high))
    };
    assert_eq!(cycles("instruction.add.latency", "width", 64), (1.0, 1.0));
    assert_eq!(cycles("instruction.multiply.latency", "width", 64), (3.0, 3.0));
    assert_eq!(cycles("instruction.address.latency", "parts", 3), (3.0, 3.0));
    assert_eq!(cycles("instruction.divide.latency", "width", 64), (6.0, 89.0));
    assert_eq!(cycles("instruction.add.throughput", "width", 64), (0.25, 0.26));
    assert_eq!(cycles("memory.load", "set", 16384), (4.0, 5.0));
    assert_eq!(cycles("memory.load", "set", 262_144), (13.0, 14.0));
}

#[test]
fn rsx_holds_every_figure_of_the_paper() {
    let book = named("pdp-11-24");
    let paper = include_str!("../data/rsx-tables.txt");
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
fn a_book_quotes_the_most_exact_of_its_figures_within_its_digits() {
    let run = named("pdp-11-24").run();
    let set = run.cost("rsx.setf", &[]).expect("SETF");
    // 1790 a second, and not the 0.55 ms that it does not even give.
    assert_eq!(set.quoted(), Nanoseconds(1e9 / 1790.0));
    assert!((set.net_ns.low.0 - 1e9 / 1790.5).abs() < 1e-6 && (set.net_ns.high.0 - 1e9 / 1789.5).abs() < 1e-6);
    let start = run.cost("rsx.send.256.exit", &[]).expect("VSRC/VRCX");
    // 16.95 ms, and not 59 a second.
    assert_eq!(start.quoted(), Nanoseconds(16_950_000.0));
    for cost in &run.costs {
        let (low, high) = (cost.net_ns.low.0, cost.net_ns.high.0);
        assert!(low < cost.quoted().0 && cost.quoted().0 < high, "{}", cost.name());
        assert!(!cost.terms.is_empty() || high / low < 1.005, "{}", cost.name());
    }
    assert_eq!(run.block_move().expect("the unit").operation, "rsx.block.move");
    assert!(set.doubts.is_empty() && set.rounds.is_empty() && set.neighbours.is_none());
}

#[test]
fn the_example_of_the_documentation_is_a_book() {
    let page = include_str!("../../../../docs/STUDIES.md");
    let text = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let book = Book::from_toml(text).expect("a book");
    assert_eq!(book.departures(), []);
    let run = book.run();
    let divide = run.cost("instruction.divide.latency", &[("width", Value::Number(64))]).expect("the division");
    assert_eq!(format!("{:.1}", divide.cycles), "15.9");
    for name in book_names() {
        assert!(page.contains(&format!("`{name}`")), "{name} is not mentioned");
    }
}

#[test]
fn a_book_of_ones_own_is_read_from_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.toml");
    fs::write(&path, include_str!("../../../../books/pdp-11-24.toml").replace("pdp-11-24", "mine")).expect("written");
    assert_eq!(Store::open_any(path.to_str().expect("text")).expect("a run").id, "mine");
    fs::write(&path, "name = 1").expect("written");
    let error = Store::open_any(path.to_str().expect("text")).expect_err("no book").to_string();
    assert!(error.contains("mine.toml") && error.contains("not a book"), "{error}");
    fs::write(&path, "#".repeat((1 << 20) + 1)).expect("written");
    let error = Store::open_any(path.to_str().expect("text")).expect_err("no book").to_string();
    assert!(error.contains("larger"), "{error}");
}

/// A book as the first version that had books of this machine wrote it: without the names that other people give its operations.
#[test]
fn a_book_of_before_has_the_figures_of_today() {
    let before = Book::from_toml(include_str!("../data/book-of-before.toml")).expect("a book").run();
    let today = named("multics-645").run();
    let figures = |run: &record::Run| -> Vec<_> {
        run.costs.iter().map(|cost| (cost.operation.clone(), cost.at.clone(), cost.net_ns)).collect()
    };
    assert_eq!((figures(&before), before.costs.len()), (figures(&today), today.costs.len()));
    assert!(!before.costs.is_empty() && before.is_published());
}

#[test]
fn the_departures_of_mpe_are_known_and_its_deltas_are_right() {
    let book = named("mpe-xl-1.1");
    assert_eq!(
        departures("mpe-xl-1.1"),
        [
            "page faults of the 89,867 records 5625 is 5616.7",
            "consumption bytes/ms 3111 is 3111.6",
            "distance pages 24 is 22.8",
            "24 pages bytes 100000 is 98304.0",
            "an array of 1,000,000 bytes pages 256 is 244.1",
        ]
    );
    assert_eq!(book.costs.iter().filter(|entry| entry.delta_ms.is_some()).count(), 13);
    for entry in &book.costs {
        let delta = book.recomputed_delta_ms(entry).expect("every row has both times");
        assert!(delta > 0.0, "{}", entry.operation);
    }
    let run = book.run();
    let mapped = run.costs.iter().find(|cost| cost.operation == "mpe.sl.mapped").expect("the first row");
    assert_eq!((mapped.cpu_ns.user, mapped.wait_ns), (Nanoseconds(19_686e6), Nanoseconds(126_612e6)));
}
