//! A prediction of a configuration, beside what was measured.

use analysis::load::{Forecast, Judged, Measured, Usual, error, judged};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::configuration::LoadConfiguration;

/// A prediction. Its figures are null where the model gave none.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadForecast {
    /// What it is of.
    pub configuration: LoadConfiguration,
    /// Why there is none.
    pub failed: Option<String>,
    /// What was predicted.
    pub predicted: Option<LoadJudged>,
    /// Lower ends of the intervals, from those of the demands.
    pub low: Option<LoadJudged>,
    /// Upper ends.
    pub high: Option<LoadJudged>,
    /// The same of the steady state, which knows the mean time to think, and not the times that the users draw.
    pub steady: Option<LoadJudged>,
    /// What was measured; null before it was, or where an interaction did not end.
    pub measured: Option<LoadJudged>,
    /// The error, as a share of what was measured; of idle, as a difference of shares.
    pub error: Option<LoadJudged>,
}

/// The figures by which a prediction is judged.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LoadJudged {
    /// Interactions per second.
    pub throughput: f64,
    /// Processor time of an interaction of the script.
    pub cpu_s: f64,
    /// Page faults of an interaction that waited for a page.
    pub faults: f64,
    /// Mean response.
    pub response_s: f64,
    /// Share of the processors' time.
    pub idle_multiprogramming: f64,
    /// Share of the processors' time.
    pub idle_non_multiprogramming: f64,
    /// Share of the processors' time.
    pub idle_zero: f64,
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
            configuration: LoadConfiguration::from(&it.configuration),
            failed: it.predicted.as_ref().err().cloned(),
            predicted: known.map(|it| LoadJudged::from(&it.value)),
            low: known.map(|it| LoadJudged::from(&it.low)),
            high: known.map(|it| LoadJudged::from(&it.high)),
            steady: it.steady.as_ref().map(LoadJudged::from),
            measured: measured.as_ref().map(LoadJudged::from),
            error: known.zip(measured.as_ref()).map(|(it, measured)| LoadJudged::from(&error(&it.value, measured))),
        }
    }
}

impl From<&Judged> for LoadJudged {
    fn from(it: &Judged) -> LoadJudged {
        LoadJudged {
            throughput: it.throughput,
            cpu_s: it.cpu_s,
            faults: it.faults,
            response_s: it.response_s,
            idle_multiprogramming: it.idle[0],
            idle_non_multiprogramming: it.idle[1],
            idle_zero: it.idle[2],
        }
    }
}
