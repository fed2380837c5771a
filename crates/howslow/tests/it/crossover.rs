//! `howslow crossover`, and points of the user's own: from the command line to the page, the document and the chart.

use crate::support::{count, folder, howslow, json};

/// Few rounds, little time.
const QUICK: [&str; 4] = ["--budget", "3s", "--rounds", "2"];

#[test]
fn a_crossover_is_a_page_a_document_and_a_chart() {
    let data = folder();
    let charts = tempfile::tempdir().expect("a folder");
    let words = ["crossover", "pipe.self", "shared.self", "--axis", "size", "--range", "64..16KiB", "--json"];
    let document = json(howslow(&data).args(words).args(QUICK).arg("--svg").arg(charts.path()));
    assert_eq!(document["operations"][0], "pipe.self");
    assert_eq!(document["axis"], "size");
    let answer = document["answer"].as_str().expect("an answer");
    assert!(["once", "several", "never", "undecided"].contains(&answer), "{answer}");
    let points = document["points"].as_array().expect("points");
    assert!(points.len() >= 2, "{points:?}");
    let numbers: Vec<f64> = points.iter().filter_map(|point| point["at"].as_f64()).collect();
    assert!(numbers.is_sorted() && numbers[0] >= 64.0 && numbers[numbers.len() - 1] <= 16384.0, "{numbers:?}");
    assert!(points.iter().all(|point| point["costs"][0]["ns"].as_f64().is_some_and(|ns| ns > 0.0)));
    assert!(charts.path().join("crossover-pipe.self-shared.self-offset-0.svg").exists() && count(&charts) == 1);
    // The run is kept, with every number that was visited; some are visited again.
    let different = numbers.chunk_by(|one, other| one == other).count();
    let run = json(howslow(&data).args(["show", "@1", "--json"]));
    let costs = run["costs"].as_array().expect("costs");
    let kept = costs.iter().filter(|cost| cost["operation"] == "pipe.self").count();
    assert_eq!(kept, different, "{numbers:?}");
}
