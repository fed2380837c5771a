//! `howslow study`, `howslow explain` and books on the command line; and the names in their data, checked against the registry.

use std::fs;

use analysis::derived::{DERIVATIONS, REFILLS, RSX_DERIVATIONS, Route};
use analysis::study::STUDIES;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use record::Point;

use crate::support::{EXAMPLE, folder, howslow};

/// Names in books and studies that this version does not measure.
#[derive(Default)]
struct Missing {
    problems: Vec<String>,
}

impl Missing {
    /// Records the operation unless the registry has it and measures it at this point.
    fn check(&mut self, id: &str, point: &Point) {
        let problem = match operations::find(id) {
            None => format!("{id} is no operation"),
            Some(operation) if !operation.points(false).contains(point) => {
                format!("{id} is not measured at '{point}'")
            }
            Some(_) => return,
        };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn report(self) {
        assert!(self.problems.is_empty(), "{:#?}", self.problems);
    }
}

#[test]
fn every_operation_that_studies_and_derivations_name_exists() {
    let mut missing = Missing::default();
    for study in STUDIES {
        let of_users = study.users.map_or_else(Vec::new, |users| (users.names)());
        for (id, point) in study.needs(true).into_iter().filter(|need| !of_users.contains(need)) {
            missing.check(id, &point);
        }
        let plans: Vec<&str> = load::SHIPPED.iter().map(|(name, _)| *name).collect();
        assert!(study.users.is_none_or(|users| plans.contains(&users.plan)), "{}", study.name);
    }
    for (_, part) in DERIVATIONS.iter().chain(REFILLS).flat_map(|it| it.routes).flat_map(Route::parts) {
        missing.check(part.term.operation, &part.term.term().at);
    }
    missing.report();
}

#[test]
fn every_printed_cost_that_a_study_names_is_in_its_books_and_every_cost_of_its_books_is_shown() {
    for study in STUDIES {
        let books = study.books.iter().map(|name| store::book(name).expect("the book").expect("it can be read"));
        let books: Vec<record::Book> = books.collect();
        let paper = study.paper(&books).expect("books");
        let named = study.printed();
        let known = |id: &&String| paper.run.costs.iter().any(|cost| cost.operation == **id);
        let missing: Vec<_> = named.iter().filter(|id| !known(id)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let ids = paper.run.costs.iter().map(|cost| &cost.operation);
        let unused: Vec<_> = ids.filter(|id| !named.contains(id)).collect();
        assert!(unused.is_empty(), "{unused:?}");
    }
    let rsx = store::book("pdp-11-24").expect("the book").expect("it can be read");
    for (_, part) in RSX_DERIVATIONS.iter().flat_map(|it| it.routes).flat_map(Route::parts) {
        assert!(rsx.entry(part.term.operation).is_some(), "{}", part.term.operation);
    }
}

#[test]
fn the_analogues_of_every_book_exist() {
    let mut missing = Missing::default();
    for name in store::book_names() {
        for entry in store::book(name).expect("listed").expect("a book").costs {
            for analogue in &entry.analogues {
                let (id, at) = analogue.split_once('@').unwrap_or((analogue, ""));
                let point = at.split(',').filter_map(|choice| choice.split_once('=')).fold(
                    Point::default(),
                    |point, (axis, value)| {
                        let word = |_| record::Value::Word(value.into());
                        point.with(axis, value.parse().map_or_else(word, record::Value::Number))
                    },
                );
                missing.check(id, &point);
            }
        }
    }
    missing.report();
}

#[test]
fn the_books_of_todays_cores_use_the_ids_of_their_architectures_operations() {
    let mut missing = Missing::default();
    let mut checked = 0;
    for name in store::book_names() {
        let book = store::book(name).expect("listed").expect("a book");
        if book.counted_in == record::CountedIn::Cycles && book.machine.architecture == std::env::consts::ARCH {
            for entry in &book.costs {
                missing.check(&entry.operation, &entry.at);
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "{checked}");
    missing.report();
}

#[test]
fn a_book_is_shown_and_explained_like_a_run() {
    let data = folder();
    let show = howslow(&data).args(["show", "pdp-11-24"]).assert().success().stderr(is_empty());
    show.stdout(starts_with("pdp-11-24   PDP-11/24, 1 CPU   RSX-11M-Plus V3.0").and(contains("rsx.qiow.ast")));
    let json = howslow(&data).args(["show", "pdp-11-24", "--json"]).assert().success();
    let path = data.path().join("book.json");
    fs::write(&path, &json.get_output().stdout).expect("written");
    howslow(&data).arg("show").arg(path).assert().success().stdout(contains("rsx.gssw"));
    let explain = howslow(&data).args(["explain", "pdp-11-24"]).assert().success().stderr(is_empty());
    explain.stdout(contains("AST processing").and(contains("1.40 ms")).and(contains("1.43 ms")));
    howslow(&data).args(["show", "pdp-11-70"]).assert().code(2).stderr(contains("the books are pdp-11-24"));
}

#[test]
fn a_cost_is_explained_with_its_residual() {
    let data = folder();
    let result = howslow(&data).args(["explain", "pdp-11-24", "rsx.qio.wtse"]).assert().success();
    result.stdout(contains("1 x rsx.qiow").and(contains("residual")).and(contains("-322 µs")));
    let json = howslow(&data).args(["explain", "pdp-11-24", "rsx.send.2", "--json"]).assert().success();
    let said: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    let cost = &said["explained"][0];
    assert_eq!((&cost["cost"], &cost["whole"]["ns"]), (&"rsx.send.2".into(), &7_940_000.0.into()));
    let number = |value: &serde_json::Value| value["ns"].as_f64().expect("a figure");
    assert!((number(&cost["sum"]) + number(&cost["residual"]) - number(&cost["whole"])).abs() < 1e-3);
    let part = howslow(&data).args(["explain", "pdp-11-24", "rsx.null"]).assert().success();
    part.stdout(contains("no parts are known of rsx.null"));
    let unknown = howslow(&data).args(["explain", "pdp-11-24", "rsx.nothing"]).assert().code(2);
    unknown.stdout("").stderr(contains("this run has no cost called 'rsx.nothing'"));
}

#[test]
fn everything_explained_is_also_json() {
    let data = folder();
    let path = data.path().join("run.json");
    fs::write(&path, EXAMPLE).expect("written");
    let json = howslow(&data).arg("explain").arg(&path).arg("--json").assert().success();
    let said: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    let names: Vec<&str> =
        said["derived"].as_array().expect("derived").iter().filter_map(|it| it["derived"].as_str()).collect();
    assert_eq!(names[..2], ["signal delivery", "context switch"]);
    assert_eq!(said["derived"][1]["routes"][2]["figure"]["ns"], 1310.0);
    assert_eq!(said["derived"][1]["routes"][0]["missing"][0], "pipe.roundtrip@distance=same,size=26");
    assert!(said["explained"].is_array() && said["entry_shares"].is_array());
}

#[test]
fn a_study_of_a_run_prints_every_row_and_says_what_is_missing() {
    let data = folder();
    let path = data.path().join("run.json");
    fs::write(&path, EXAMPLE).expect("written");
    let page = howslow(&data).args(["study", "rsx", "--run"]).arg(&path).assert().success().stderr(is_empty());
    page.stdout(
        starts_with("How Fast (Slow) Is RSX?\n")
            .and(contains("then: PDP-11/24").and(contains("sentences still hold")).and(contains("GSSW ")))
            .and(contains("not in this run: flag.set@scope=private, flag.clear")),
    );
    let json = howslow(&data).args(["study", "rsx", "--json", "--run"]).arg(&path).assert().success();
    let said: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!(said["paper"], "rsx");
    for table in said["tables"].as_array().expect("tables") {
        let columns = table["columns"].as_array().expect("columns").len();
        for row in table["rows"].as_array().expect("rows") {
            assert_eq!(row.as_array().expect("a row").len(), columns);
        }
    }
    assert_eq!(said["tables"][0]["rows"][1][0], "Block Move");
    assert_eq!(said["tables"][0]["rows"][1][9]["ns"], 10.2);
    for finding in said["findings"].as_array().expect("findings") {
        assert!(finding["claim"].is_string() && finding["figures"][0]["where"] == "paper", "{finding}");
        assert!(finding["holds"].is_boolean() || finding["holds"].is_null());
    }
    let third = &said["findings"][1];
    assert_eq!((&third["holds"], &third["holds_in_the_paper"]), (&false.into(), &true.into()));
}

#[test]
fn the_study_of_hardware_recomputes_the_paper_and_says_what_is_missing_here() {
    let data = folder();
    let path = data.path().join("run.json");
    fs::write(&path, EXAMPLE).expect("written");
    let page = howslow(&data).args(["study", "6180", "--run"]).arg(&path).assert().success().stderr(is_empty());
    page.stdout(
        starts_with("Measurements of Hardware Speed of the 6180\n")
            .and(contains("then: GE 645, Honeywell 6180, Honeywell 6080"))
            .and(contains("not in this run: instruction.load.latency@mode=base"))
            .and(contains("ada 645/6180 2.62 is 2.612"))
            .and(contains("nor is what being a guest of KVM costs")),
    );
    let json = howslow(&data).args(["study", "6180", "--json", "--run"]).arg(&path).assert().success();
    let said: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!(said["paper"], "6180");
    for table in said["tables"].as_array().expect("tables") {
        let columns = table["columns"].as_array().expect("columns");
        for row in table["rows"].as_array().expect("rows") {
            assert_eq!(row.as_array().expect("a row").len(), columns.len(), "{table}");
        }
    }
    let cell = |table: usize, row: usize, column: &str| {
        let table = &said["tables"][table];
        let names = table["columns"].as_array().expect("columns");
        let place = names.iter().position(|name| name == column).expect("the column");
        table["rows"][row][place].clone()
    };
    assert_eq!(cell(0, 0, "ns_645"), 1920.0);
    assert_eq!(cell(0, 0, "ratio_645"), 2.62);
    assert!((cell(0, 0, "ratio_645_recomputed").as_f64().expect("a number") - 1920.0 / 735.0).abs() < 1e-12);
    assert!(cell(0, 0, "here_ns").is_null());
    assert!(cell(0, 0, "why_not").as_str().expect("a reason").contains("instruction.load.latency"));
    assert_eq!(said["findings"].as_array().expect("findings").len(), 6);
    for finding in said["findings"].as_array().expect("findings") {
        assert!(finding["holds"].is_null() && finding["holds_in_the_paper"] == true, "{finding}");
    }
}

#[test]
fn the_study_of_readers_recomputes_the_paper_and_says_what_is_missing_here() {
    let data = folder();
    let path = data.path().join("run.json");
    fs::write(&path, EXAMPLE).expect("written");
    let page = howslow(&data).args(["study", "mpe", "--run"]).arg(&path).assert().success().stderr(is_empty());
    page.stdout(
        starts_with("MPE/iX and Performance\n")
            .and(contains("then: HP 3000"))
            .and(contains("146298"))
            .and(contains("distance pages 24 is 22.8"))
            .and(contains("256 MiB, warm").not()),
    );
    let json = howslow(&data).args(["study", "all", "--json", "--run"]).arg(&path).assert().success();
    let said: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    let studies = said["studies"].as_array().expect("studies");
    let names: Vec<&str> = studies.iter().filter_map(|study| study["paper"].as_str()).collect();
    assert_eq!(names, STUDIES.iter().map(|study| study.name).collect::<Vec<_>>());
    let mpe = studies.iter().find(|study| study["paper"] == "mpe").expect("the study");
    let table = &mpe["tables"][0];
    let column = |name: &str| {
        let columns = table["columns"].as_array().expect("columns");
        columns.iter().position(|column| column == name).expect("the column")
    };
    let first = &table["rows"][0];
    assert_eq!(first[column("delta_ms")], 126_612.0);
    assert_eq!(first[column("recomputed_delta_ms")], 126_612.0);
    assert!(first[column("here_ns")].is_null());
    assert!(first[column("why_not")].as_str().expect("a reason").contains("read.mmap@file=23005952"));
    for finding in mpe["findings"].as_array().expect("findings") {
        assert_eq!(finding["holds_in_the_paper"], true, "{finding}");
    }
}

#[test]
fn a_study_measures_more_only_where_it_has_more() {
    let data = folder();
    howslow(&data).args(["study", "rsx", "--full"]).assert().code(2).stderr(contains("measures nothing more"));
    let both = howslow(&data).args(["study", "mpe", "--full", "--run", "@1"]).assert().code(2);
    both.stderr(contains("cannot be used with"));
}

#[test]
fn a_book_of_ones_own_is_shown_from_its_file() {
    let data = folder();
    let path = data.path().join("mine.toml");
    let text = "name = \"mine\"\ntitle = \"Our core\"\nsource = \"our laboratory\"\nmeasured = \"2026\"\n\
                counted_in = \"cycles\"\nclock = { ghz = \"2.0\", source = \"our board\" }\n\
                [[cost]]\noperation = \"instruction.divide.latency\"\nat = { width = 64 }\ncycles = \"9-16\"\n";
    fs::write(&path, text).expect("written");
    let show = howslow(&data).arg("show").arg(&path).assert().success().stderr(is_empty());
    show.stdout(
        contains("Our core: our laboratory")
            .and(contains("clock: our board"))
            .and(contains("instruction.divide.latency"))
            .and(contains("6.00 ns"))
            .and(contains("12.0")),
    );
    fs::write(&path, text.replace("9-16", "16-9")).expect("written");
    let refused = howslow(&data).arg("show").arg(&path).assert().code(1).stdout("");
    refused.stderr(contains("instruction.divide.latency@width=64: 16-9 is not a positive number or a range"));
}

#[test]
fn a_study_that_does_not_exist_or_is_asked_for_both_ways_is_misuse() {
    let data = folder();
    howslow(&data).args(["study", "pdp"]).assert().code(2).stderr(contains("rsx").and(contains("mpe")));
    let both = howslow(&data).args(["study", "rsx", "--run", "@1", "--budget", "5s"]).assert().code(2);
    both.stderr(contains("cannot be used with"));
    howslow(&data).args(["study", "rsx", "--run", "@1"]).assert().code(2).stderr(contains("no run is kept"));
}

#[test]
fn a_study_measures_what_it_needs_and_keeps_the_run() {
    let data = folder();
    let quick = ["--rounds", "1", "--precision", "100%", "--budget", "3s", "--count", "1"];
    let result = howslow(&data).args(["study", "rsx"]).args(quick).assert().success();
    result.stdout(contains("the paper's sentences, tested here"));
    let kept = howslow(&data).args(["show", "@1", "--json"]).assert().success();
    let run = record::run_from_bytes(&kept.get_output().stdout).expect("a run");
    assert!(run.costs.iter().any(|cost| cost.name() == "poll.poll@descriptors=1"));
    assert!(run.costs.iter().any(|cost| cost.operation == "syscall.getppid"));
}

#[test]
fn a_claim_without_evidence_is_inconclusive_and_says_what_it_rests_on() {
    let data = folder();
    let path = data.path().join("run.json");
    let mut run: serde_json::Value = serde_json::from_str(EXAMPLE).expect("JSON");
    for cost in run["costs"].as_array_mut().expect("costs") {
        if cost["operation"] == "syscall.getppid" {
            (cost["net_ns"]["low"], cost["net_ns"]["high"]) = (serde_json::Value::Null, serde_json::Value::Null);
            cost["doubts"] = serde_json::json!([{ "kind": "few_rounds", "rounds": 1 }]);
        }
    }
    fs::write(&path, run.to_string()).expect("written");
    let json = howslow(&data).args(["study", "rsx", "--json", "--run"]).arg(&path).assert().success();
    let said: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    let findings = said["findings"].as_array().expect("findings");
    // Nine times as much by its value, but from a single round.
    assert_eq!((&findings[1]["holds"], &findings[1]["answer"]), (&serde_json::Value::Null, &"inconclusive".into()));
    assert_eq!(findings[1]["figures"][1]["doubts"][0]["from"], "syscall.getppid");
    assert_eq!(findings[1]["answer_in_the_paper"], "yes");
    assert_eq!((&findings[2]["holds"], &findings[2]["answer"]), (&serde_json::Value::Null, &"not measured".into()));
    let table = &said["tables"][0];
    assert_eq!(table["columns"].as_array().and_then(|columns| columns.last()), Some(&"doubts".into()));
    assert_eq!(table["rows"][2].as_array().and_then(|row| row.last()).expect("doubts")[0]["from"], "syscall.getppid");
    assert_eq!(table["rows"][1].as_array().and_then(|row| row.last()), Some(&serde_json::json!([])));
    let page = howslow(&data).args(["study", "rsx", "--all", "--run"]).arg(&path).assert().success();
    page.stdout(
        contains("inconclusive  What every directive has in common costs about a third of a block move")
            .and(contains("(no interval): inconclusive [1]"))
            .and(contains("  [1] inherited from syscall.getppid: a single round gave a figure"))
            .and(contains("inf ").not()),
    );
    let explain = howslow(&data).arg("explain").arg(&path).assert().success();
    explain.stdout(contains("NaN").not().and(contains("inf ").not()));
}

#[test]
fn the_paper_of_rsx_is_read_to_its_last_digit() {
    let data = folder();
    let json = howslow(&data).args(["show", "pdp-11-24", "--json"]).assert().success();
    let run = record::run_from_bytes(&json.get_output().stdout).expect("a run");
    let figure = |id: &str| run.cost(id, &[]).map(|cost| cost.net_ns).expect("a cost");
    let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-6 * other, "{one} {other}");
    near(figure("rsx.gssw").typical.0, 1e9 / 2310.0);
    near(figure("rsx.gssw").low.0, 1e9 / 2310.5);
    near(figure("rsx.block.move").typical.0, 1e9 / 733.0);
    // 45 a second has fewer digits than 22.2 ms.
    near(figure("rsx.pfcs").typical.0, 22.2e6);
    near(figure("rsx.send.256.exit").high.0, 16.955e6);
}

/// A reader of today does not know the paper's abbreviations.
#[test]
fn the_legend_explains_every_abbreviation_of_the_pages() {
    /// Known to everyone who reads a cost, names of files and programs, and numerals.
    const KNOWN: [&str; 18] = [
        "CPU", "KVM", "MB", "ASCII", "BINARY", "NL", "SORT", "PUB", "SYS", "WASI", "MIX", "MPE", "VAX", "RSX", "II",
        "III", "XL", "PDP",
    ];
    let data = folder();
    let run = data.path().join("run.json");
    fs::write(&run, EXAMPLE).expect("written");
    for name in ["rsx", "6180", "mpe", "vax", "core"] {
        let page = howslow(&data).args(["study", name, "--run"]).arg(&run).assert().code(0);
        let page = String::from_utf8_lossy(&page.get_output().stdout).into_owned();
        let (head, body) = page.split_once("\n\n").expect("a legend and tables");
        let legend = head.lines().skip_while(|line| !line.starts_with("  now:")).skip(1).collect::<Vec<_>>().join("\n");
        let words = |text: &str| {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric()).map(String::from);
            let short = words.filter(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()));
            short.collect::<std::collections::BTreeSet<_>>()
        };
        assert!(legend.lines().count() > 3, "{head}");
        let known = words(&legend);
        let unknown: Vec<_> =
            words(body).into_iter().filter(|word| !known.contains(word) && !KNOWN.contains(&word.as_str())).collect();
        assert!(unknown.is_empty(), "{name} explains no {unknown:?}");
    }
}
