//! What the tests share: the example run, a mix of lines, its price.

use howslow_analysis::predict::{MixPrediction, predict};
use record::{Mix, Run};

pub fn example() -> Run {
    record::run_from_bytes(include_bytes!("../../../record/tests/data/example-run.json")).expect("a run")
}

pub fn mix(lines: &[(&str, f64)]) -> Mix {
    let lines: String =
        lines.iter().map(|(id, times)| format!("[[operation]]\noperation = \"{id}\"\ntimes = {times:?}\n")).collect();
    Mix::from_toml(&format!("name = \"m\"\nunit = \"u\"\n{lines}")).expect("a mix")
}

pub fn priced(mix: &Mix, run: &Run, place: usize) -> MixPrediction {
    predict(mix, run, place, &|_| &[])
}

pub fn total(prediction: &MixPrediction) -> f64 {
    prediction.total().figure().value
}

pub fn places(prediction: &MixPrediction, name: &str) -> Vec<usize> {
    (0..prediction.rows.len()).filter(|&place| prediction.rows[place].line.term.operation == name).collect()
}

pub fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1e-300)
}
