//! `howslow crossover`, and points of the user's own: from the command line to the page, the document and the chart.

use predicates::str::contains;

use crate::support::{folder, howslow};

/// Few rounds, little time.
const QUICK: [&str; 4] = ["--budget", "3s", "--rounds", "2"];

#[test]
fn a_crossover_is_a_page_a_document_and_a_chart() {
    let data = folder();
    let charts = tempfile::tempdir().expect("a folder");
    let asked = ["crossover", "pipe.self", "shared.self", "--axis", "size", "--range", "64..16KiB", "--json"];
    let result = howslow(&data).args(asked).args(QUICK).arg("--svg").arg(charts.path()).assert().success();
    let said: serde_json::Value = serde_json::from_slice(&result.get_output().stdout).expect("JSON");
    assert_eq!(said["operations"][0], "pipe.self");
    assert_eq!(said["axis"], "size");
    let answer = said["answer"].as_str().expect("an answer");
    assert!(["once", "several", "never", "undecided"].contains(&answer), "{answer}");
    let points = said["points"].as_array().expect("points");
    assert!(points.len() >= 2, "{points:?}");
    let numbers: Vec<f64> = points.iter().filter_map(|point| point["at"].as_f64()).collect();
    assert!(numbers.is_sorted() && numbers[0] >= 64.0 && numbers[numbers.len() - 1] <= 16384.0, "{numbers:?}");
    assert!(points.iter().all(|point| point["costs"][0]["ns"].as_f64().is_some_and(|ns| ns > 0.0)));
    let files: Vec<_> =
        std::fs::read_dir(charts.path()).expect("a folder").flatten().map(|it| it.file_name()).collect();
    assert_eq!(files, ["crossover-pipe.self-shared.self-offset-0.svg"]);
    // The run is kept, with every number that was visited; some are visited again.
    let different = numbers.chunk_by(|one, other| one == other).count();
    let shown = howslow(&data).args(["show", "@1", "--json"]).assert().success();
    let run: serde_json::Value = serde_json::from_slice(&shown.get_output().stdout).expect("JSON");
    let costs = run["costs"].as_array().expect("costs");
    let kept = costs.iter().filter(|cost| cost["operation"] == "pipe.self").count();
    assert_eq!(kept, different, "{numbers:?}");
}

#[test]
fn a_number_of_ones_own_is_measured_and_one_outside_its_bounds_is_refused() {
    let data = folder();
    let asked = ["run", "pipe.self@size=100", "poll.poll@descriptors=300", "--json"];
    let result = howslow(&data).args(asked).args(QUICK).assert().success();
    let run: serde_json::Value = serde_json::from_slice(&result.get_output().stdout).expect("JSON");
    let costs = run["costs"].as_array().expect("costs");
    let at = |operation: &str| costs.iter().find(|cost| cost["operation"] == operation).map(|cost| cost["at"].clone());
    assert_eq!(at("pipe.self"), Some(serde_json::json!({"size": 100})));
    assert_eq!(at("poll.poll"), Some(serde_json::json!({"descriptors": 300})));
    let outside = howslow(&data).args(["run", "pipe.self@size=2MiB"]).assert().code(2);
    outside.stderr(contains("pipe.self: size=2097152 is not possible: it goes from 1 B to 1 MiB"));
    let list = howslow(&data).args(["list", "pipe.self"]).assert().success();
    list.stdout(contains("or any size from 1 B to 1 MiB"));
}
