//! `howslow predict` from the command line: pages, documents, and everything that cannot be meant.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use serde_json::{Value, json};
use tempfile::TempDir;

const EXAMPLE: &str = include_str!("../../record/tests/data/example-run.json");

const SERVICE: &str = r#"
name = "service"
unit = "request"
whole = "file.sync"
[measured]
slower = "9us"
[[operation]]
operation = "pipe.roundtrip@distance=same,size=64"
times = 1
[[operation]]
operation = "syscall.getppid"
times = 2.5
[[operation]]
operation = "pipe.self@size=64"
times = 2
"#;

/// A data folder with a run, the same one half as fast, and a mix.
struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        let desk = Desk(tempfile::tempdir().expect("a folder"));
        desk.write("run.json", EXAMPLE);
        let mut slower: Value = serde_json::from_str(EXAMPLE).expect("JSON");
        slower["id"] = json!("slower");
        for cost in slower["costs"].as_array_mut().expect("costs") {
            for figure in cost["net_ns"].as_object_mut().expect("figures").values_mut() {
                *figure = json!(figure.as_f64().expect("a number") * 2.0);
            }
        }
        desk.write("slower.json", &slower.to_string());
        desk.write("mix.toml", SERVICE);
        desk
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).expect("written");
        path
    }

    /// `howslow predict` in the folder.
    fn predict(&self, arguments: &[&str]) -> assert_cmd::assert::Assert {
        let mut command = Command::cargo_bin("howslow").expect("the binary is built");
        command.env("HOWSLOW_DATA", self.0.path()).current_dir(&self.0).timeout(Duration::from_secs(60));
        command.arg("predict").args(arguments).assert()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let assert = self.predict(&[arguments, &["--json"]].concat()).success().stderr(is_empty());
        serde_json::from_slice(&assert.get_output().stdout).expect("JSON")
    }

    /// Refused with one sentence that says this, before anything is printed.
    fn refuses(&self, arguments: &[&str], says: &str) {
        self.predict(arguments).code(2).stdout("").stderr(contains(says));
    }
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{value}, expected {expected}");
}

/// 1 x 2890 + 2.5 x 93.1 + 2 x 377.
const TOTAL: f64 = 2890.0 + 2.5 * 93.1 + 2.0 * 377.0;

#[test]
fn a_prediction_is_a_page_and_a_document() {
    let desk = Desk::new();
    let page = desk.predict(&["mix.toml", "--on", "run.json"]).success().stderr(is_empty());
    page.stdout(starts_with("mix service, per request\n").and(contains("residual")).and(contains("3.88 µs")));
    let said = desk.json(&["mix.toml", "--on", "run.json"]);
    near(&said["total_ns"], TOTAL);
    assert_eq!(said["families"][0]["family"], "pipe");
    near(&said["families"][0]["share"], (2890.0 + 754.0) / TOTAL);
    near(&said["residual_ns"], 812_000.0 - TOTAL);
    near(&said["per_second"], 1e9 / TOTAL);
    assert_eq!(said["rows"].as_array().map(Vec::len), Some(3));
    assert_eq!(said["rows"][0]["at"], json!({ "distance": "same", "size": 64 }));
    assert_eq!((&said["lacking"], &said["what_if"], &said["at_least"]), (&json!([]), &Value::Null, &json!(false)));
    // Several runs or mixes are a list of the same.
    let both = desk.json(&["mix.toml", "--on", "run.json", "slower.json"]);
    assert_eq!(both["predictions"][0], said);
    near(&both["predictions"][1]["total_ns"], 2.0 * TOTAL);
    near(&both["predictions"][1]["measured"]["ns"], 9000.0);
    desk.predict(&["mix.toml", "mix.toml", "--on", "run.json"]).success();
}

#[test]
fn what_was_measured_is_typed_or_taken_from_a_run() {
    let desk = Desk::new();
    let measured =
        |arguments: &[&str]| desk.json(&[&["mix.toml", "--on", "run.json"], arguments].concat())["measured"].clone();
    near(&measured(&["--measured", "1.2ms"])["low_ns"], 1.15e6);
    near(&measured(&["--measured", "run.json=5us"])["ns"], 5000.0);
    near(&measured(&["--measured", "slower.json"])["ns"], 2.0 * 812_000.0);
    for (nonsense, says) in [
        ("soon", "say a time above 0"),
        ("0ms", "say a time above 0"),
        ("-1ms", "say a time above 0"),
        ("other=1ms", "names none of the runs"),
    ] {
        desk.refuses(&["mix.toml", "--on", "run.json", &format!("--measured={nonsense}")], says);
    }
    desk.refuses(&["mix.toml", "--on", "run.json", "slower.json", "--measured", "1ms"], "say RUN=TIME");
}

#[test]
fn what_if_changes_what_it_means() {
    let desk = Desk::new();
    let after = |changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|change| format!("--what-if={change}")).collect();
        let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
        desk.json(&[&["mix.toml", "--on", "run.json"], &changes[..]].concat())["what_if"]["total"]["ns"].clone()
    };
    near(&after(&["syscall.*=x0.5"]), TOTAL - 2.5 * 93.1 / 2.0);
    near(&after(&["pipe=x1", "syscall.getppid=+0ns"]), TOTAL);
    near(&after(&["pipe.self@size=64B=70ns"]), TOTAL - 2.0 * 307.0);
    near(&after(&["pipe@size=64=x0"]), 2.5 * 93.1);
    near(&after(&["syscall.getppid=-3.1ns"]), TOTAL - 2.5 * 3.1);
    near(&after(&["*=slower.json"]), 2.0 * TOTAL);
    near(&after(&["*=slower.json", "*=x0.25"]), TOTAL / 2.0);
    let refused = |change: &str, says: &str| {
        desk.refuses(&["mix.toml", "--on", "run.json", &format!("--what-if={change}")], says);
    };
    refused("memory.load=x2", "is nothing in the mix 'service'");
    refused("pipe.self@size=65=x2", "is nothing in the mix");
    refused("syscall.getppid", "say OPERATION=CHANGE");
    refused("syscall.getppid=", "cannot read the change");
    refused("syscall.getppid=x-1", "cannot read the change");
    refused("syscall.getppid=xnan", "cannot read the change");
    refused("syscall.getppid=2", "cannot read the change");
    refused("syscall.getppid=-1us", "less than nothing");
    refused("pipe[=x2", "cannot read the pattern");
    let mut short: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    short["costs"].as_array_mut().expect("costs").retain(|cost| cost["operation"] != "pipe.self");
    desk.write("short.json", &short.to_string());
    refused("pipe.self=short.json", "from a run that lacks it");
    // A book answers to the name that both share: a message to oneself on a PDP-11.
    assert!(after(&["pipe.self=pdp-11-24"]).as_f64().expect("a number") > 1e6);
}

#[test]
fn a_mix_that_cannot_be_meant_is_refused() {
    let desk = Desk::new();
    for (from, to, says) in [
        ("syscall.getppid", "syscall.getpid", "did you mean syscall.getppid"),
        ("syscall.getppid", "openat", "is timed by syscall.open.close"),
        ("size=64\"\ntimes = 2", "size=65\"\ntimes = 2", "pipe.self is not measured; it is @size=1"),
        ("syscall.getppid", "syscall.getppid@size=1", "without a point"),
        ("@distance=same,size=64", "", "does not say which pipe.roundtrip it means"),
        ("times = 2.5", "times = -2.5", "times = -2.5"),
        ("times = 2.5", "times = nan", "say how often"),
        ("unit =", "units =", "unknown field"),
        ("operation = \"sys", "\u{1b}[31m = \"sys", "not a mix"),
    ] {
        desk.write("bad.toml", &SERVICE.replace(from, to));
        desk.refuses(&["bad.toml", "--on", "run.json"], says);
        desk.predict(&["bad.toml", "--on", "run.json"]).stderr(contains("\u{1b}").not());
    }
    desk.write("bad.toml", "name = \"x\"\nunit = \"y\"\n");
    desk.refuses(&["bad.toml", "--on", "run.json"], "the mix is empty");
    desk.write("bad.toml", &"#".repeat((1 << 20) + 5));
    desk.refuses(&["bad.toml", "--on", "run.json"], "larger than");
    desk.refuses(&["no-such", "--on", "run.json"], "call-save-return, true, echo");
    desk.refuses(&["./no-such.toml", "--on", "run.json"], "cannot read the mix");
    desk.refuses(&["mix.toml", "--on", "run.json", "run.json"], "twice");
    desk.refuses(&["mix.toml"], "--on");
    desk.predict(&["mix.toml", "--on", "no-such.json"]).code(1).stdout("");
}

#[test]
fn what_a_run_lacks_is_said_with_what_measures_it() {
    let desk = Desk::new();
    let lacking = SERVICE.replace("syscall.getppid", "syscall.stat").replace("\"pipe.self", "\"unix.self");
    desk.write(
        "lacking.toml",
        &lacking.replace("distance=same,size=64", "distance=same").replace("size=64", "size=26"),
    );
    let refused = desk.predict(&["lacking.toml", "--on", "run.json"]).code(2).stdout("");
    refused.stderr(
        contains("run.json lacks 2 of the 3 costs of the mix 'service':\n  syscall.stat\n  unix.self@size=26\n")
            .and(
                contains("howslow run syscall.stat 'unix.self@size=26'\n")
                    .or(contains("howslow run syscall.stat unix.self@size=26\n")),
            )
            .and(contains("--partial")),
    );
    let page = desk.predict(&["lacking.toml", "--on", "run.json", "--partial"]).code(3);
    page.stdout(contains("at least 2.89 µs").and(contains("lacking: syscall.stat: not in this run")));
    let json = desk.predict(&["lacking.toml", "--on", "run.json", "--partial", "--json"]).code(3);
    let said: Value = serde_json::from_slice(&json.get_output().stdout).expect("JSON");
    assert_eq!((&said["at_least"], &said["lacking"][0]["operation"]), (&json!(true), &json!("syscall.stat")));
    assert_eq!(said["lacking"][0]["command"], "howslow run syscall.stat");
    // A skip's reason is told; what is done 0 times is not needed; a command is timed, not run.
    desk.write("skip.toml", &SERVICE.replace("syscall.getppid", "page.fault.huge"));
    desk.refuses(&["skip.toml", "--on", "run.json"], "page.fault.huge (transparent huge pages are off");
    desk.write("zero.toml", &SERVICE.replace("syscall.getppid", "page.fault.huge").replace("2.5", "0"));
    desk.predict(&["zero.toml", "--on", "run.json"]).success();
    desk.write("own.toml", &SERVICE.replace("syscall.getppid", "command: sort words.txt"));
    desk.refuses(&["own.toml", "--on", "run.json"], "howslow time -- sort words.txt");
    desk.refuses(&["true", "--on", "pdp-11-24"], "it is a book");
}

#[test]
fn factors_multiply_to_the_ratio() {
    let desk = Desk::new();
    let said = desk.json(&["mix.toml", "--on", "run.json", "slower.json", "--factors", "--measured", "run.json=5us"]);
    let product: f64 =
        said["factors"].as_array().expect("factors").iter().filter_map(|it| it["factor"].as_f64()).product();
    near(&json!(product), 2.0);
    near(&said["predicted"]["value"], 2.0);
    near(&said["measured"]["value"], 9.0 / 5.0);
    near(&said["unexplained"]["value"], 0.9);
    near(&said["users"], 5.0 / 9.0);
    for factor in said["factors"].as_array().expect("factors") {
        let value = |key: &str| factor[key].as_f64().expect("a number");
        assert!(value("low") <= value("factor") && value("factor") <= value("high"), "{factor}");
    }
    let page = desk.predict(&["mix.toml", "--on", "run.json", "slower.json", "--factors"]).success();
    page.stdout(contains("all of them: what the costs say").and(contains("consequences")));
    desk.write("more.toml", &SERVICE.replace("times = 2.5", "times = 25"));
    let said = desk.json(&["mix.toml", "more.toml", "--on", "run.json", "--factors"]);
    near(&said["factors"][0]["counts"]["value"], (TOTAL + 22.5 * 93.1) / TOTAL);
    for (arguments, says) in [
        (&["mix.toml", "--on", "run.json", "--factors"][..], "compares two"),
        (&["mix.toml", "--on", "run.json", "slower.json", "--factors", "--partial"], "--partial"),
        (&["mix.toml", "--on", "run.json", "slower.json", "--factors", "--what-if", "pipe=x2"], "--what-if"),
        (&["true", "--on", "run.json", "pdp-11-24", "--factors"], "lacks"),
    ] {
        desk.refuses(arguments, says);
    }
    // instruction.nothing is not told from nothing: no ratio of it, and no factor where its count differs.
    let nothing = "name = \"n\"\nunit = \"u\"\n[[operation]]\noperation = \"instruction.nothing\"\ntimes = 3\n";
    desk.write("nothing.toml", nothing);
    desk.refuses(&["nothing.toml", "--on", "run.json", "slower.json", "--factors"], "cannot be told from nothing");
    desk.write("some.toml", &SERVICE.replace("syscall.getppid", "instruction.nothing"));
    desk.write("others.toml", &SERVICE.replace("syscall.getppid", "instruction.nothing").replace("2.5", "5"));
    desk.refuses(
        &["some.toml", "others.toml", "--on", "run.json", "slower.json", "--factors"],
        "instruction.nothing a different number",
    );
}

#[test]
fn mixes_that_come_with_howslow_name_what_can_be_measured() {
    let desk = Desk::new();
    for name in ["true", "echo"] {
        // Nothing in it is unknown: all that is said is that this run lacks it, and what measures it.
        desk.refuses(&[name, "--on", "run.json"], "measure there: howslow run ");
    }
}

#[test]
fn the_papers_mix_is_priced_by_the_papers_machines() {
    let data = tempfile::tempdir().expect("a folder");
    let mut command = Command::cargo_bin("howslow").expect("the binary is built");
    command.env("HOWSLOW_DATA", data.path()).args(["predict", "call-save-return"]);
    command.args(["--on", "multics-645", "multics-6180", "--factors", "--json"]);
    let output = command.assert().success();
    let said: Value = serde_json::from_slice(&output.get_output().stdout).expect("JSON");
    let text = said.to_string();
    assert!(text.contains("unexplained") && text.contains("pointer stores"), "{text}");
}
