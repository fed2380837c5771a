//! `howslow compare` on the command line: runs, books, filters, JSON, and misuse.

use std::path::PathBuf;

use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use record::Run;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{EXAMPLE, howslow};

/// A folder that keeps the example (`@2`) and a later run with another kernel, whose calls cost a quarter more (`@1`).
fn kept() -> TempDir {
    let data = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(data.path().join("runs")).expect("a folder");
    keep(&data, &enough_rounds());
    keep(&data, &later());
    data
}

fn keep(data: &TempDir, run: &Run) -> PathBuf {
    let path = data.path().join("runs").join(format!("{}.json", run.id));
    std::fs::write(&path, serde_json::to_vec(run).expect("JSON")).expect("written");
    path
}

/// The example with enough rounds for a verdict.
fn enough_rounds() -> Run {
    let mut run = record::run_from_bytes(EXAMPLE.as_bytes()).expect("a run");
    for cost in &mut run.costs {
        let mut round = cost.rounds[0].clone();
        round.quiet = vec![true; round.ns.len()];
        cost.rounds = vec![round; 10];
    }
    run
}

fn later() -> Run {
    let mut run = enough_rounds();
    run.id = "20261122-090000-abcd".into();
    run.started = "2026-11-22T09:00:00Z".into();
    run.machine.kernel.release = "6.19.1".into();
    for cost in run.costs.iter_mut().filter(|cost| cost.family() == "syscall") {
        let net = &mut cost.net_ns;
        for figure in [&mut net.best, &mut net.quiet, &mut net.typical, &mut net.low, &mut net.high] {
            figure.0 *= 1.25;
        }
        cost.cycles *= 1.25;
    }
    run
}

fn json(data: &TempDir, arguments: &[&str]) -> Value {
    let result = howslow(data).arg("compare").args(arguments).arg("--json").assert().success().stderr(is_empty());
    serde_json::from_slice(&result.get_output().stdout).expect("JSON")
}

fn row<'a>(document: &'a Value, operation: &str) -> &'a Value {
    let mut rows = document["rows"].as_array().expect("rows").iter();
    rows.find(|row| row["operation"] == operation).expect(operation)
}

#[test]
fn two_runs_are_compared_with_the_first_as_base() {
    let data = kept();
    let page = howslow(&data).args(["compare", "@2", "@1"]).assert().success().stderr(is_empty());
    page.stdout(
        starts_with("2 slower, 0 faster, ")
            .and(contains("@1 beside @2"))
            .and(contains("machine.kernel.release"))
            .and(contains("\u{1b}").not()),
    );
    let document = json(&data, &["@2", "@1"]);
    let call = row(&document, "syscall.getppid");
    assert_eq!(call["verdict"], "slower");
    assert!((call["ratio"]["value"].as_f64().expect("a number") - 1.25).abs() < 1e-9);
    let end = |name: &str| call["ratio"][name].as_f64().expect("a number");
    assert!(end("low") > 1.2 && end("low") < 1.25 && end("high") > 1.25 && end("high") < 1.3);
    assert_eq!(call["against"][0]["ratio"], call["ratio"]);
    assert_eq!((call["unit"].as_str(), call["values"][0]["unit"].as_str()), (Some("cycles"), None));
    assert_eq!(document["clock"]["ratio"], 1.0);
    let in_times = json(&data, &["@2", "@1", "--in", "ns"]);
    assert_eq!(row(&in_times, "syscall.getppid")["values"][0]["value"], 93.1);
    assert_eq!(row(&document, "pipe.self")["verdict"], "same");
    let nothing = row(&document, "instruction.nothing");
    assert!(nothing["ratio"].is_null() && nothing["verdict"] == "inconclusive", "{nothing}");
    assert!(nothing["against"][0]["why"].as_str().is_some_and(|why| why.contains("zero")), "{nothing}");
    assert_eq!(document["differences"][0]["field"], "machine.kernel.release");
    assert_eq!(document["differences"][0]["values"], serde_json::json!(["6.18.44", "6.19.1"]));
    let mut families = document["families"].as_array().expect("families").iter();
    let calls = families.find(|family| family["family"] == "system calls").expect("the family");
    assert_eq!(calls["pairs"], 2);
    assert!((calls["ratio"]["value"].as_f64().expect("a number") - 1.25).abs() < 1e-9);
    assert_eq!(document["runs"][1]["name"], "@1");
    assert!(document.get("factors").is_none());
    let swapped = json(&data, &["@1", "@2"]);
    assert_eq!(row(&swapped, "syscall.getppid")["verdict"], "faster");
}

#[test]
fn many_runs_and_books_stand_beside_the_first() {
    let data = kept();
    let document = json(&data, &["@2", "@2", "pdp-11-24", "@1"]);
    let call = row(&document, "syscall.getppid");
    let verdicts: Vec<&Value> =
        call["against"].as_array().expect("runs").iter().map(|against| &against["verdict"]).collect();
    assert_eq!(verdicts, ["same", "slower", "slower"]);
    assert_eq!(call["values"][2]["operation"], "rsx.gssw");
    assert_eq!(call["values"].as_array().expect("values").len(), 4);
    assert!(row(&document, "file.sync")["against"][1].is_null());
    assert!(document["only_in"][2]["costs"].as_array().is_some_and(|costs| costs.len() > 20));
    let page = howslow(&data).args(["compare", "pdp-11-24", "@1", "--all"]).assert().success();
    page.stdout(contains("published").and(contains("by memory.copy 512 B")).and(contains("only in pdp-11-24")));
}

#[test]
fn rows_are_filtered_and_sorted_and_the_verdicts_stay() {
    let data = kept();
    let names = |arguments: &[&str]| -> Vec<String> {
        let document = json(&data, arguments);
        let rows = document["rows"].as_array().expect("rows").iter();
        rows.map(|row| row["operation"].as_str().expect("an id").to_string()).collect()
    };
    assert_eq!(names(&["@2", "@1", "--changed"]), ["syscall.getppid", "syscall.read"]);
    assert_eq!(names(&["@2", "@1", "--only", "memory.load@size=4KiB"]), ["memory.load"]);
    assert_eq!(
        names(&["@2", "@1", "--only", "pipe.self", "--only", "*.read"]),
        ["syscall.read", "file.read", "file.read", "pipe.self"]
    );
    assert!(names(&["@2", "@1", "--threshold", "30%", "--changed"]).is_empty());
    assert_eq!(names(&["pdp-11-24", "@1", "--only", "rsx.gssw"]), ["rsx.gssw"]);
    for sort in ["ratio", "name", "family"] {
        howslow(&data).args(["compare", "@2", "@1", "--sort", sort]).assert().success().stdout(contains("slower"));
    }
    let page = howslow(&data).args(["compare", "@2", "@1", "--changed", "--threshold", "30%"]).assert().success();
    page.stdout(starts_with("0 slower, 0 faster, ").and(contains("(--all shows them)")));
    assert_eq!(json(&data, &["@2", "@1", "--in", "cycles"])["unit"], "cycles");
}

#[test]
fn other_versions_are_listed_and_compared_only_when_told_to() {
    let data = kept();
    let mut run = later();
    run.costs.retain(|cost| cost.operation == "syscall.read");
    run.costs[0].version = 2;
    let path = data.path().join("versioned.json");
    std::fs::write(&path, serde_json::to_vec(&run).expect("JSON")).expect("written");
    let path = path.to_str().expect("text");
    let document = json(&data, &["@2", path]);
    assert_eq!(document["rows"], serde_json::json!([]));
    assert_eq!(document["versions"][0]["versions"], serde_json::json!([1, 2]));
    howslow(&data).args(["compare", "@2", path]).assert().success().stdout(contains("--ignore-versions"));
    assert_eq!(json(&data, &["@2", path, "--ignore-versions"])["rows"].as_array().map(Vec::len), Some(1));
}

const WORK: &str = r#"
name = "work"
unit = "request"
[[operation]]
operation = "syscall.getppid"
times = 10
[[operation]]
operation = "pipe.self@size=64"
times = 1
"#;

#[test]
fn a_mix_splits_the_ratios_into_factors() {
    let data = kept();
    let mix = data.path().join("work.toml");
    std::fs::write(&mix, WORK).expect("written");
    let mix = mix.to_str().expect("text");
    let number = |value: &Value| value.as_f64().expect("a number");
    // 10 x 93.1 + 377, of which the calls cost a quarter more in the later run.
    let ratio = (10.0 * 93.1 * 1.25 + 377.0) / (10.0 * 93.1 + 377.0);
    let document = json(&data, &["@2", "@1", "--mix", mix]);
    let factors = document["factors"].as_array().expect("factors");
    let product: f64 = factors.iter().map(|it| number(&it["factor"])).product();
    assert!((product - ratio).abs() < 1e-9, "{factors:?}");
    assert_eq!(factors[0]["family"], "syscall");
    assert!(document["unexplained"].is_null());
    // Both wholes were measured, and the later one took twice as long. What the costs do not explain is the residual.
    let measured = ["--measured", "@2=1.50us", "--measured", "@1=3.00us"];
    let all = [&["@2", "@1", "@2", "--mix", mix][..], &measured].concat();
    let document = json(&data, &all);
    assert!((number(&document["unexplained"]["value"]) - 2.0 / ratio).abs() < 1e-9);
    assert_eq!(document["split"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["split"][0]["factors"], document["factors"]);
    assert!((number(&document["split"][1]["predicted"]["value"]) - 1.0).abs() < 1e-9);
    let page = howslow(&data).args(["compare", "@2", "@1", "--mix", mix]).args(measured).assert().success();
    page.stdout(contains("B over A").and(contains("what the costs do not explain")).and(contains("syscall.getppid")));
    let refused = |arguments: &[&str], says: &str| {
        let result = howslow(&data).args(["compare", "@2", "@1"]).args(arguments).assert().code(2).stdout("");
        result.stderr(contains(says));
    };
    refused(&["--measured", "@1=1ms"], "--mix");
    refused(&["--mix", "no-such"], "neither a file nor a mix");
    refused(&["--mix", mix, "--measured", "@7=1ms"], "names none of the runs");
    refused(&["--mix", mix, "--measured", "1ms"], "give RUN=TIME");
    refused(&["--mix", "true"], "costs of the mix 'true'");
    refused(&["--mix", "true"], "`howslow predict MIX --on RUN --partial`");
}

#[test]
fn what_cannot_be_compared_is_one_sentence_and_misuse() {
    let data = kept();
    let mut alone = later();
    alone.id = "alone".into();
    alone.costs.retain(|cost| cost.operation == "file.sync");
    let alone = keep(&data, &alone);
    let alone = alone.to_str().expect("text");
    for (arguments, says) in [
        (&["@1"][..], "2 values required"),
        (&[], "required"),
        (&["@1", "@9"], "@9"),
        (&["@1", "1999"], "names no run"),
        (&["@1", "2026"], "2026"),
        (&["@1", "missing.json"], "missing.json"),
        (&["@1", "@2", "--only", "syscall.getpid"], "did you mean syscall.getppid"),
        (&["@1", "@2", "--only", "a["], "cannot read the pattern"),
        (&["pdp-11-24", alone], "nothing to compare"),
        (&["@1", "@2", "--threshold", "0.03"], "say 3% or 0.03%"),
        (&["@1", "@2", "--sort", "size"], "--sort"),
        (&["@1", "@2", "--in", "hours"], "--in"),
    ] {
        let result = howslow(&data).arg("compare").args(arguments).assert().code(2).stdout("");
        result.stderr(contains(says));
    }
    let damaged = data.path().join("damaged.json");
    std::fs::write(&damaged, "{").expect("written");
    howslow(&data).args(["compare", "@1"]).arg(damaged).assert().code(1).stdout("").stderr(contains("damaged"));
}
