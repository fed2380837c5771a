//! A prediction of a configuration, beside what was measured.

use analysis::load::{Configuration, Forecast, Judged, Measured, Usual, error, judged};
use serde::Serialize;

/// A prediction. Its figures are null where the model gave none.
#[derive(Debug, Serialize, JsonSchema)]
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
    /// What was measured; null before it was, and where an interaction did not end or too many were unfinished.
    pub measured: Option<Judged>,
    /// The error, as a share of what was measured; of idle, as a difference of shares.
    pub error: Option<Judged>,
}

impl LoadForecast {
    /// A prediction beside what was measured of the same configuration.
    pub fn with(forecast: &Forecast, measured: &[Measured], usual: &Usual) -> LoadForecast {
        let found = measured.iter().find(|one| one.configuration == forecast.configuration);
        LoadForecast::of(forecast, found.and_then(|one| judged(one, usual)))
    }

    /// A prediction beside these figures, if there are any.
    pub fn of(forecast: &Forecast, measured: Option<Judged>) -> LoadForecast {
        let known = forecast.predicted.as_ref().ok();
        LoadForecast {
            configuration: forecast.configuration.clone(),
            failed: forecast.predicted.as_ref().err().cloned(),
            predicted: known.map(|prediction| prediction.value),
            low: known.map(|prediction| prediction.low),
            high: known.map(|prediction| prediction.high),
            steady: forecast.steady,
            measured,
            error: known.zip(measured.as_ref()).map(|(prediction, measured)| error(&prediction.value, measured)),
        }
    }
}
