//! Books from texts: figures, intervals, departures, refusals.

use super::*;

const SMALL: &str = r#"
    name = "small"
    title = "A title"
    source = "a journal"
    measured = "1986"
    block_move = "x.move"
    [[cost]]
    operation = "x.move"
    rate = "733"
    ms = "1.36"
    [[cost]]
    operation = "x.two"
    rate = "126"
    ms = "7.94"
    bytes = 26
    kbit_s = "26"
    explained_by = [{ times = 2.0, operation = "x.move" }]
    [[cost]]
    operation = "x.null"
    rate = "57142"
    [[cost]]
    operation = "x.rest"
    name = "the rest"
    ms = "6.57"
    difference = { of = "x.two", less = "x.move" }
"#;

#[test]
fn printed_digits_become_figures_and_intervals() {
    let run = Book::from_toml(SMALL).expect("a book").run();
    let figures = |index: usize| {
        let net = run.costs[index].net_ns;
        [net.low.0, net.typical.0, net.high.0].map(|ns| (ns * 1000.0).round() / 1000.0)
    };
    // 733 a second is ten times as exact as 1.36 ms, and 7.94 ms is ten times as exact as 126 a second.
    assert_eq!(figures(0), [1_363_326.517, 1_364_256.480, 1_365_187.713]);
    assert_eq!(figures(1), [7_935_000.0, 7_940_000.0, 7_945_000.0]);
    assert_eq!(figures(2), [17_500.109, 17_500.263, 17_500.416]);
    let open = 5_000.0 + (1_365_187.713 - 1_363_326.517) / 2.0;
    assert_eq!(figures(3), [6_570_000.0 - open, 6_570_000.0, 6_570_000.0 + open]);
    assert_eq!(run.costs[3].gross_ns, run.costs[1].net_ns);
    assert_eq!(run.costs[3].terms[0].operation, "x.move");
    let text = serde_json::to_vec(&run).expect("a run is JSON");
    assert_eq!(crate::run_from_bytes(&text).expect("and can be read"), run);
}

#[test]
fn processor_time_and_waiting_are_as_exact_as_their_digits() {
    let text = SMALL.replace("bytes = 26", "bytes = 26\n    cpu_ms = \"5.9\"");
    let cost = Book::from_toml(&text).expect("a book").run().costs.remove(1);
    let near = |ends: Option<crate::Ends>, low: f64, high: f64| {
        ends.is_some_and(|ends| (ends.low - low).abs() < 1e-3 && (ends.high - high).abs() < 1e-3)
    };
    assert!(near(cost.cpu_interval_ns, 5_850_000.0, 5_950_000.0), "{:?}", cost.cpu_interval_ns);
    assert!((cost.wait_ns.0 - 2_040_000.0).abs() < 1e-3);
    assert!(near(cost.wait_interval_ns, 7_935_000.0 - 5_950_000.0, 7_945_000.0 - 5_850_000.0));
}

#[test]
fn what_the_rates_do_not_give_is_a_departure() {
    let departures = Book::from_toml(&SMALL.replace("6.57", "6.58")).expect("a book").departures();
    assert_eq!(departures.len(), 1);
    assert_eq!((departures[0].name.as_str(), departures[0].unit.as_str()), ("the rest", "ms"));
    assert!((departures[0].recomputed - (1000.0 / 126.0 - 1000.0 / 733.0)).abs() < 1e-12);
}

/// Holds that a book is refused with one sentence once a text in it is replaced: what, by what, and a part of the sentence.
fn are_refused(book: &str, changes: &[(&str, &str, &str)]) {
    for (from, to, why) in changes {
        let error = Book::from_toml(&book.replace(from, to)).expect_err(why).to_string();
        assert!(error.contains(why) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn a_bad_book_is_one_clear_sentence() {
    let changes = [
        ("name = \"small\"", "", "missing field"),
        ("[[cost]]", "[[cost", "not a book"),
        ("\"x.null\"", "\"x.two\"", "stands twice"),
        ("less = \"x.move\"", "less = \"x.gone\"", "x.gone"),
        ("\"57142\"", "\"many\"", "not a positive number"),
        ("\"57142\"", "\"0\"", "not a positive number"),
        ("\"57142\"", "\"-1\"", "not a positive number"),
        ("rate = \"57142\"", "", "neither a time nor a rate"),
        ("block_move = \"x.move\"", "block_move = \"x.gone\"", "the unit"),
        ("bytes = 26", "byte = 26", "unknown field"),
    ];
    are_refused(SMALL, &changes);
    assert!(matches!(Book::from_toml(&"#".repeat(MOST_BYTES + 1)), Err(BookError::TooLarge)));
}

const CYCLES: &str = r#"
    name = "core"
    title = "A manual"
    source = "a maker"
    measured = "2020"
    counted_in = "cycles"
    [clock]
    ghz = "2.5"
    source = "the base clock of a model"
    [[cost]]
    operation = "instruction.divide.latency"
    at = { width = 64 }
    name = "DIV r64"
    cycles = "36-64"
    [[cost]]
    operation = "instruction.divide.latency"
    at = { width = 32 }
    name = "DIV r32"
    cycles = "26"
    source = "another manual"
    [[cost]]
    operation = "memory.load"
    name = "far memory"
    ns = "80"
    [[check]]
    name = "DIV"
    column = "64 over 32"
    printed = "2.47"
    over = "64"
    under = "26"
"#;

#[test]
fn cycles_become_times_at_the_nominal_clock() {
    let book = Book::from_toml(CYCLES).expect("a book");
    let run = book.run();
    assert_eq!((run.counted_in, run.noise.cycle_ns), (CountedIn::Cycles, 0.4));
    let [wide, narrow, far] = run.costs.as_slice() else { panic!("{run:?}") };
    assert_eq!(wide.at.to_string(), "@width=64");
    let figures = [wide.cycles, wide.net_ns.low.0, wide.net_ns.typical.0, wide.net_ns.high.0];
    for (figure, expected) in figures.into_iter().zip([48.0, 14.4, 19.2, 25.6]) {
        assert!((figure - expected).abs() < 1e-9, "{figures:?}");
    }
    assert_eq!((narrow.net_ns.low, narrow.net_ns.high), (narrow.net_ns.typical, narrow.net_ns.typical));
    assert_eq!(narrow.summary, "DIV r32 (another manual)");
    assert_eq!((far.cycles, far.net_ns.low.0), (200.0, 79.5));
    let text = serde_json::to_vec(&run).expect("a run is JSON");
    assert_eq!(crate::run_from_bytes(&text).expect("and can be read"), run);
}

#[test]
fn a_check_that_does_not_follow_departs() {
    let book = Book::from_toml(CYCLES).expect("a book");
    let texts: Vec<String> = book.departures().iter().map(Departure::text).collect();
    assert_eq!(texts, ["DIV 64 over 32 2.47 is 2.462"]);
    let right = Book::from_toml(&CYCLES.replace("2.47", "2.46")).expect("a book");
    assert!(right.departures().is_empty());
    let less = CYCLES.replace("over = \"64\"\n    under", "of = \"64\"\n    less").replace("2.47", "38");
    assert!(Book::from_toml(&less).expect("a book").departures().is_empty());
}

#[test]
fn a_bad_book_in_cycles_is_one_clear_sentence() {
    let changes = [
        ("[clock]\n    ghz = \"2.5\"\n    source = \"the base clock of a model\"", "", "names the clock"),
        ("ghz = \"2.5\"", "ghz = \"0\"", "not a positive number"),
        ("36-64", "64-36", "not a positive number"),
        ("36-64", "36-", "not a positive number"),
        ("width = 32", "width = 64", "stands twice"),
        ("width = 32", "width = -1", "not a book"),
        ("under = \"26\"", "less = \"26\"", "over another"),
        ("printed = \"2.47\"", "printed = \"about\"", "not a positive number"),
        ("counted_in = \"cycles\"", "counted_in = \"hours\"", "not a book"),
    ];
    are_refused(CYCLES, &changes);
    let uncounted = CYCLES.replace("counted_in = \"cycles\"", "").replace("[clock]", "[machine]");
    assert!(Book::from_toml(&uncounted).is_err());
}

#[test]
fn a_book_cannot_steer_a_terminal() {
    let run = Book::from_toml(&CYCLES.replace("DIV r32", "\\u001b[2J")).expect("a book").run();
    assert!(!serde_json::to_string(&run).expect("JSON").contains("\\u001b"));
}

const WAITED: &str = r#"
    name = "waited"
    title = "A title"
    source = "a journal"
    measured = "1990"
    [[cost]]
    operation = "x.pass"
    name = "pass"
    ms = "44957"
    cpu_ms = "36590"
    delta_ms = "8367"
    [[fact]]
    name = "a read"
    printed = "22.5"
    unit = "ms"
    [[check]]
    name = "window"
    column = "pages"
    printed = "24"
    over = "3111"
    by = "30"
    under = "4096"
"#;

#[test]
fn processor_time_and_waiting_come_into_the_run_and_are_held_against_each_other() {
    let book = Book::from_toml(WAITED).expect("a book");
    let cost = &book.run().costs[0];
    assert_eq!((cost.cpu_ns.user.0, cost.cpu_ns.system.0, cost.wait_ns.0), (36_590e6, 0.0, 8_367e6));
    assert_eq!(book.fact("a read").and_then(Fact::value), Some(22.5));
    let reported = |book: &Book| book.departures().iter().map(Departure::text).collect::<Vec<_>>();
    assert_eq!(reported(&book), ["window pages 24 is 22.8"]);
    let other = Book::from_toml(&WAITED.replace("8367", "8368")).expect("a book");
    assert_eq!(reported(&other), ["pass 8368 ms of waiting is 8367.0", "window pages 24 is 22.8"]);
}

#[test]
fn waiting_without_processor_time_and_facts_without_figures_are_refused() {
    let changes = [
        ("    cpu_ms = \"36590\"\n", "", "no processor time"),
        ("\"36590\"", "\"much\"", "much is not a positive number"),
        ("printed = \"22.5\"", "printed = \"guess\"", "a read: guess is not a positive number"),
        ("under = \"4096\"", "less = \"4096\"", "one by another, or one less another"),
    ];
    are_refused(WAITED, &changes);
}

/// A small reference machine.
fn reference() -> Book {
    let text = "name = 'small'\ntitle = 'a machine'\nsource = 'two runs'\nmeasured = '2026-11'\n\
        [reference]\nhowslow = '0.1.0'\nruns = 2\ncycle_ns = 0.25\nundisturbed = 0.8\nunits = { size = 'bytes' }\n\
        [machine]\narchitecture = 'x86_64'\n[machine.cpu]\nmodel = 'A \"quoted\" one'\n\
        [[measured_cost]]\noperation = 'pipe.self'\nat = { size = 64, way = 'a b' }\nversion = 2\ngroup = 'messages'\n\
        per = 'call'\nestimate = 'quiet'\ncpus = 1\nfollows_clock = true\nns = 300.0\nlow = 290.0\nhigh = 312.0\n\
        cycles = 1200.0\nbytes = 64\nruns = 2\n";
    Book::from_toml(text).expect("a book")
}

#[test]
fn a_reference_machine_is_written_and_read_again() {
    let book = reference();
    let text = book.reference_toml().expect("a text");
    assert_eq!(Book::from_toml(&text).expect("a book"), book);
    let run = book.run();
    assert_eq!(run.origin, crate::Origin::Reference);
    assert!(run.is_book() && !run.is_published());
    let cost = &run.costs[0];
    assert_eq!((cost.version, cost.quoted().0, cost.net_ns.low.0, cost.net_ns.high.0), (2, 300.0, 290.0, 312.0));
    assert_eq!(cost.at.values(), "64 B, way a b");
    // It is a run like any other: its document is read again.
    let text = serde_json::to_vec(&run).expect("JSON");
    assert_eq!(crate::run_from_bytes(&text).expect("a run"), run);
}

#[test]
fn published_and_measured_costs_do_not_mix() {
    let text = reference().reference_toml().expect("a text");
    let published = "\n[[cost]]\noperation = 'a'\nname = 'A'\nns = '5'\n";
    let line = text.lines().find(|line| line.starts_with("  {")).expect("a cost");
    let wrong = [
        (format!("{text}{published}"), "nothing published"),
        (text.replace("[reference]", "[other]"), "unknown field"),
        (
            text.replace("]\n\n[reference]\nhowslow = \"0.1.0\"\nruns = 2", "]\n[reference]\nhowslow = '0'\nruns = 0"),
            "rests on no run",
        ),
        (text.replace("cycle_ns = 0.25", "cycle_ns = -1.0"), "cycle_ns"),
        (text.replace("low = 290.00", "low = 301.0"), "outside its own interval"),
        (text.replace("cycles = 1200.0", "cycles = nan"), "positive"),
        (text.replace(line, &format!("{line}\n{line}")), "twice"),
        (text.replace(line, ""), "no cost"),
    ];
    for (text, part) in wrong {
        let error = Book::from_toml(&text).expect_err(part).to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
    let paper = "name = 'p'\ntitle = 't'\nsource = 's'\nmeasured = '1980'\n";
    assert!(Book::from_toml(paper).expect_err("no cost").to_string().contains("no cost"));
    let both = format!("{paper}measured_cost = [\n{line}\n]\n{published}");
    let error = Book::from_toml(&both).expect_err("both").to_string();
    assert!(error.contains("only a book with a table `reference`"), "{error}");
}
