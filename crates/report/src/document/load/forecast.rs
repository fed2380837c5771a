//! A prediction of a configuration, beside what was measured.

use analysis::load::{Configuration, Forecast, Judged, Measured, Usual, error, judged};
use serde::Serialize;

/// A prediction. Its figures are null where the model gave none.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadForecast {
    /// What it is of.
    pub configuration: Configuration,
    /// Why there is none.
    pub failed: Option<String>,
    /// What was predicted.
    pub predicted: Option<Judged>,
    /// Lower ends of the intervals, from those of the demands.
    pub low: Option<Judged>,
    /// Upper ends.
    pub high: Option<Judged>,
    /// The same of the steady state, which knows the mean time to think, and not the times that the users draw.
    pub steady: Option<Judged>,
    /// What was measured; null before it was, or where an interaction did not end.
    pub measured: Option<Judged>,
    /// The error, as a share of what was measured; of idle, as a difference of shares.
    pub error: Option<Judged>,
}

impl LoadForecast {
    /// A prediction beside what was measured of the same configuration.
    pub fn with(it: &Forecast, measured: &[Measured], usual: &Usual) -> LoadForecast {
        let found = measured.iter().find(|one| one.configuration == it.configuration);
        LoadForecast::of(it, found.and_then(|one| judged(one, usual)))
    }

    /// A prediction beside these figures, if there are any.
    pub fn of(it: &Forecast, measured: Option<Judged>) -> LoadForecast {
        let known = it.predicted.as_ref().ok();
        LoadForecast {
            configuration: it.configuration.clone(),
            failed: it.predicted.as_ref().err().cloned(),
            predicted: known.map(|it| it.value),
            low: known.map(|it| it.low),
            high: known.map(|it| it.high),
            steady: it.steady,
            measured,
            error: known.zip(measured.as_ref()).map(|(it, measured)| error(&it.value, measured)),
        }
    }
}
