//! A mix with the prices of runs, beside what was measured there.

use analysis::predict::{Accuracy, MachineState, MixPrediction, predict_in};
use record::Mix;

use super::whole::{self, Whole};
use crate::output::Misuse;
use crate::resolve::Named;

/// The mix at the prices of each run, with what was measured there.
pub(crate) fn priced(
    state: MachineState,
    mix: &Mix,
    runs: &[Named],
    measured: &[Whole],
) -> Result<Vec<MixPrediction>, Misuse> {
    let mut predictions = Vec::new();
    for (place, named) in runs.iter().enumerate() {
        let mut prediction = predict_in(state, mix, named.run, place, &names);
        let typed = measured.iter().find(|whole| whole.place == place).map(|whole| whole.of(state, mix)).transpose()?;
        let written = mix.measured.iter().find(|(run, _)| whole::is_called(named, run));
        let given = typed.or(written.and_then(|(_, time)| whole::figure(time)));
        if given.is_none() {
            whole::is_one(mix, named.run)?;
        }
        prediction.measured = given.or(prediction.measured);
        predictions.push(prediction);
    }
    validate(runs, mix.left_out, &mut predictions);
    Ok(predictions)
}

/// Sets how well the mix has predicted: measured with the run itself, or with another of these runs on the same machine, of which the
/// worst counts; otherwise where the work was counted, if the mix has that.
fn validate(runs: &[Named], where_counted: Option<f64>, predictions: &mut [MixPrediction]) {
    let left_out: Vec<Option<f64>> = predictions.iter().map(MixPrediction::left_out).collect();
    let machine = |place: usize| {
        let machine = &runs[place].run.machine;
        (machine.cpu.signature.as_str(), machine.host.as_deref().unwrap_or_default())
    };
    for place in 0..predictions.len() {
        let same = |other: &usize| !machine(place).0.is_empty() && machine(place) == machine(*other);
        let others = (0..runs.len()).filter(same).filter_map(|other| left_out[other]);
        let here = left_out[place].or_else(|| others.reduce(f64::max)).map(Accuracy::Here);
        predictions[place].accuracy = here.or(where_counted.map(Accuracy::Elsewhere));
    }
}

/// The names that an operation shares with published costs.
pub(crate) fn names(id: &str) -> &'static [&'static str] {
    catalogue::find(id).map_or(&[], |operation| operation.aliases)
}
