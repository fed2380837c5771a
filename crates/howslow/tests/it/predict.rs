//! `howslow predict` on the command line: pages, documents, and all kinds of misuse.

use std::fs;
use std::path::PathBuf;

use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{EXAMPLE, folder, howslow};

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

/// A data folder with a run, the same run at half the speed, and a mix.
struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        let desk = Desk(folder());
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
        howslow(&self.0).current_dir(&self.0).arg("predict").args(arguments).assert()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let assert = self.predict(&[arguments, &["--json"]].concat()).success().stderr(is_empty());
        serde_json::from_slice(&assert.get_output().stdout).expect("JSON")
    }

    /// Checks that the command is refused with one sentence that contains this, before anything is printed.
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
    // Several runs or mixes give a list of the same documents.
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
        ("soon", "give a time above 0"),
        ("0ms", "give a time above 0"),
        ("-1ms", "give a time above 0"),
        ("other=1ms", "names none of the runs"),
    ] {
        desk.refuses(&["mix.toml", "--on", "run.json", &format!("--measured={nonsense}")], says);
    }
    desk.refuses(&["mix.toml", "--on", "run.json", "slower.json", "--measured", "1ms"], "give RUN=TIME");
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
    refused("memory.load=x2", "matches nothing in the mix 'service'");
    refused("pipe.self@size=65=x2", "matches nothing in the mix");
    refused("syscall.getppid", "give OPERATION=CHANGE");
    refused("syscall.getppid=", "cannot read the change");
    refused("syscall.getppid=x-1", "cannot read the change");
    refused("syscall.getppid=xnan", "cannot read the change");
    refused("syscall.getppid=2", "cannot read the change");
    refused("syscall.getppid=-1us", "negative");
    refused("pipe[=x2", "cannot read the pattern");
    let mut short: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    short["costs"].as_array_mut().expect("costs").retain(|cost| cost["operation"] != "pipe.self");
    desk.write("short.json", &short.to_string());
    refused("pipe.self=short.json", "from a run that lacks it");
    // A book matches by a shared name: a message to the same task on a PDP-11.
    assert!(after(&["pipe.self=pdp-11-24"]).as_f64().expect("a number") > 1e6);
}

#[test]
fn a_mix_that_cannot_be_meant_is_refused() {
    let desk = Desk::new();
    for (from, to, says) in [
        ("syscall.getppid", "syscall.getpid", "did you mean syscall.getppid"),
        ("syscall.getppid", "openat", "is timed by syscall.open.close"),
        ("size=64\"\ntimes = 2", "size=65\"\ntimes = 2", "pipe.self is not measured; it is measured at @size=1"),
        ("syscall.getppid", "syscall.getppid@size=1", "without a point"),
        ("@distance=same,size=64", "", "pipe.roundtrip is ambiguous"),
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
    desk.predict(&["mix.toml", "--on", "no-such.json"]).code(2).stdout("");
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
    // A skip's reason is reported; what is done 0 times is not needed; a command is timed with `time`, not `run`.
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
    // instruction.nothing cannot be told from zero: there is no ratio of it, and no factor if its count differs.
    let nothing = "name = \"n\"\nunit = \"u\"\n[[operation]]\noperation = \"instruction.nothing\"\ntimes = 3\n";
    desk.write("nothing.toml", nothing);
    desk.refuses(
        &["nothing.toml", "--on", "run.json", "slower.json", "--factors"],
        "cannot be distinguished from zero",
    );
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
        // Every name in it is known: the message says only that this run lacks it, and what measures it.
        desk.refuses(&[name, "--on", "run.json"], "measure them there: howslow run ");
    }
}

#[test]
fn the_papers_mix_is_priced_by_the_papers_machines() {
    let data = folder();
    let arguments = ["predict", "call-save-return", "--on", "multics-645", "multics-6180", "--factors", "--json"];
    let output = howslow(&data).args(arguments).assert().success();
    let said: Value = serde_json::from_slice(&output.get_output().stdout).expect("JSON");
    let text = said.to_string();
    assert!(text.contains("unexplained") && text.contains("pointer stores"), "{text}");
}

/// The example with one cost that has a single round.
fn one_round(desk: &Desk) -> PathBuf {
    let mut run: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    for cost in run["costs"].as_array_mut().expect("costs") {
        if cost["operation"] == "pipe.self" {
            for figures in ["net_ns", "gross_ns"] {
                (cost[figures]["low"], cost[figures]["high"]) = (Value::Null, Value::Null);
            }
            cost["doubts"] = json!([{ "kind": "few_rounds", "rounds": 1 }]);
        }
    }
    desk.write("one.json", &run.to_string())
}

#[test]
fn a_prediction_from_one_round_says_that_it_has_no_interval() {
    let desk = Desk::new();
    one_round(&desk);
    let said = desk.json(&["mix.toml", "--on", "one.json"]);
    near(&said["total_ns"], TOTAL);
    assert!(said["low_ns"].is_null() && said["high_ns"].is_null(), "{said}");
    assert_eq!(said["doubts"][0]["kind"], "inherited");
    assert_eq!(said["doubts"][0]["from"], "pipe.self@size=64");
    let row = |name: &str| {
        let rows = said["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["operation"] == name).expect("the row").clone()
    };
    assert_eq!(row("pipe.self")["doubts"][0]["doubt"]["kind"], "few_rounds");
    assert!(row("pipe.self")["low_ns"].is_null() && row("pipe.roundtrip")["low_ns"].is_number());
    assert_eq!(row("pipe.roundtrip")["doubts"], json!([]));
    let page = desk.predict(&["mix.toml", "--on", "one.json"]).success().stderr(is_empty());
    page.stdout(
        contains("the sum has no interval, because these costs have none: pipe.self@size=64")
            .and(contains("[1] inherited from pipe.self@size=64: a single round gave a figure"))
            .and(contains("inf").not())
            .and(contains("NaN").not()),
    );
    let split = desk.json(&["mix.toml", "--on", "one.json", "slower.json", "--factors"]);
    assert!(split["predicted"]["low"].is_null() && split["predicted"]["value"].is_number(), "{split}");
    let page = desk.predict(&["mix.toml", "--on", "one.json", "slower.json", "--factors"]).success();
    page.stdout(
        contains("Whether that is what the costs promise ").and(contains("inf ").not()).and(contains("NaN").not()),
    );
    let change = desk.predict(&["mix.toml", "--on", "one.json", "--what-if", "pipe.self=x0.5"]).success();
    change.stdout(contains("the change has no interval").and(contains("NaN").not()));
    // A price taken from another run keeps that run's doubts.
    let taken = ["mix.toml", "--on", "run.json", "--what-if", "pipe.self=one.json"];
    desk.predict(&taken).success().stdout(contains("[1] inherited from pipe.self@size=64"));
    assert_eq!(desk.json(&taken)["what_if"]["rows"][0]["doubts"][0]["from"], "pipe.self@size=64");
}

#[test]
fn prices_are_of_the_state_that_is_asked_for() {
    let desk = Desk::new();
    let typical = 3930.4 + 2.5 * 120.099 + 2.0 * 539.11;
    let said = desk.json(&["mix.toml", "--on", "run.json", "--by", "typical"]);
    near(&said["total_ns"], typical);
    near(&said["otherwise"]["ns"], TOTAL);
    assert_eq!(said["by"], "typical");
    let quiet = desk.json(&["mix.toml", "--on", "run.json", "--by", "quiet"]);
    assert_eq!(quiet, desk.json(&["mix.toml", "--on", "run.json"]));
    near(&quiet["otherwise"]["ns"], typical);
    let page = desk.predict(&["mix.toml", "--on", "run.json", "--by", "typical"]).success();
    page.stdout(contains("sum, by typical prices").and(contains("sum, by quiet prices")));
    desk.refuses(&["mix.toml", "--on", "run.json", "--by", "best"], "invalid value 'best'");
    // The run with the prices, and another run from which a what-if cost is taken.
    let supposed = desk.json(&["mix.toml", "--on", "run.json", "--by", "typical", "--what-if", "*=slower.json"]);
    near(&supposed["what_if"]["total"]["ns"], 2.0 * typical);
}

#[test]
fn what_the_mix_left_out_widens_the_prediction_and_is_said() {
    let desk = Desk::new();
    let measured = format!("run.json={}ns", 1.5 * TOTAL);
    let said = desk.json(&["mix.toml", "--on", "run.json", "slower.json", "--measured", &measured]);
    let (own, other) = (&said["predictions"][0], &said["predictions"][1]);
    let half = |of: &Value| (of["high_ns"].as_f64().expect("high") - of["low_ns"].as_f64().expect("low")) / 2.0;
    assert!((own["left_out"].as_f64().expect("known") - 0.5).abs() < 1e-3, "{own}");
    assert!(half(own) > 0.49 * TOTAL && half(&own["prices"]) < 0.02 * TOTAL);
    // The slower run measured 9 us, and 7.8 are predicted.
    assert!((other["left_out"].as_f64().expect("known") - (9000.0 / TOTAL / 2.0 - 1.0)).abs() < 1e-3, "{other}");
    let page = desk.predict(&["mix.toml", "--on", "run.json", "--measured", &format!("{}ns", 1.5 * TOTAL)]).success();
    page.stdout(contains("sum, as far as the mix goes").and(contains("50 % of the sum")));
    // Counted on another machine: by squares, 15 % and what may differ here are a quarter.
    desk.write("counted.toml", &SERVICE.replace("whole = \"file.sync\"", "left_out = 0.15"));
    let page = desk.predict(&["counted.toml", "--on", "run.json"]).success();
    page.stdout(contains("15 % of the sum").and(contains("25 % of the sum together")));
    let said = desk.json(&["counted.toml", "--on", "run.json"]);
    assert!((half(&said) / TOTAL - 0.25).abs() < 0.01 && (said["left_out"] == 0.15), "{said}");
}
