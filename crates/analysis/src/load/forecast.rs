//! Predictions of configurations by the model, and how far they were off.

use std::collections::BTreeSet;

use super::configuration::{Configuration, PageDevice};
use super::demands::{Demands, Usual};
use super::judged::{Judged, judged, over};
use super::measured::Measured;
use super::played;
use super::system::system;
use crate::model::{PredictionInterval, Script, SteadyState, predict_interval};
use crate::statistics::{median, sorted};

/// A prediction, made before the configuration ran or without its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    pub configuration: Configuration,
    /// The figures; an error says why there are none. Of users whose times to think are known, those of just these times.
    pub predicted: Result<PredictionInterval<Judged>, String>,
    /// The same of the steady state, which knows the mean time to think alone.
    pub steady: Option<Judged>,
}

impl Forecast {
    /// The figures, if there are some.
    pub fn value(&self) -> Option<Judged> {
        self.predicted.as_ref().ok().map(|prediction| prediction.value)
    }
}

/// The predictions of an experiment, and what they were made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forecasts {
    pub usual: Usual,
    /// What the predictions were made from.
    pub demands: Option<Demands>,
    /// One user alone with several limits of memory: what the predictions were made from.
    pub alone: Vec<Measured>,
    /// The same with all pages pushed out before each interaction.
    pub flushed: Vec<Measured>,
    /// Made before the configurations ran.
    pub before: Vec<Forecast>,
    /// From every other configuration, of those in between.
    pub half: Vec<Forecast>,
}

/// The configurations of one user alone that show the demands: memory at the shares that users and eligible ones have in these
/// configurations, six at most for each device.
pub fn alone(all: &[Configuration], stays: bool) -> Vec<Configuration> {
    /// With less, a process and its tables have no room.
    const LEAST: f64 = (3 << 20) as f64;
    const MOST: usize = 6;
    /// Closer ones show the same.
    const APART: f64 = 1.1;
    let devices: BTreeSet<_> = all.iter().map(|configuration| configuration.device).collect();
    let mut found = Vec::new();
    for device in devices {
        let with_device = || all.iter().filter(|configuration| configuration.device == device);
        let shares = with_device()
            .filter_map(|configuration| configuration.memory.map(|bytes| (bytes as f64, configuration)))
            .flat_map(|(bytes, configuration)| {
                let eligible = bytes / f64::from(configuration.most_eligible().max(1));
                [eligible, if stays { bytes / f64::from(configuration.users) } else { eligible }]
            });
        let mut shares = sorted(shares.map(|share| share.max(LEAST)));
        shares.dedup_by(|next, before| *next < *before * APART);
        let last = shares.len().saturating_sub(1);
        let chosen = shares.iter().enumerate().filter(|(place, _)| {
            last < MOST || (0..MOST).any(|step| (step * last + (MOST - 1) / 2) / (MOST - 1) == *place)
        });
        let one = |memory: Option<u64>| Configuration { memory, device, ..Configuration::default() };
        let mut memory: Vec<Option<u64>> = chosen.map(|(_, share)| Some(*share as u64 >> 12 << 12)).collect();
        if memory.is_empty() {
            memory.push(None);
        }
        found.extend(memory.into_iter().map(one));
    }
    found
}

/// The configurations of one user alone, all of whose pages leave memory before each interaction, as they do where pages stay
/// while users think, and do not all fit: the largest memory of an eligible one, with each page device.
pub fn flushed(all: &[Configuration], stays: bool) -> Vec<Configuration> {
    let devices = all.iter().map(|configuration| configuration.device);
    let devices: BTreeSet<_> = devices.filter(|device| stays && *device != PageDevice::None).collect();
    let one = |device| {
        let share = |configuration: &Configuration| {
            configuration.memory.map(|bytes| bytes / u64::from(configuration.most_eligible().max(1)))
        };
        let memory = all.iter().filter(|configuration| configuration.device == device).filter_map(share).max()?;
        Some(Configuration { memory: Some(memory), device, ..Configuration::default() })
    };
    devices.into_iter().filter_map(one).collect()
}

/// How far a kind of predictions was off: shares of what was measured; of idle, points as shares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Missed {
    /// The median over configurations.
    pub median: Judged,
    pub largest: Judged,
}

/// Predicts a configuration: with the requests that its users will make, if these are known, else its steady state.
pub fn forecast(demands: &Demands, configuration: &Configuration, script: Option<&Script>) -> Forecast {
    let steady = steady(demands, configuration);
    let known = steady.as_ref().ok().map(|prediction| prediction.value);
    let played = script.and_then(|script| played::predicted(demands, configuration, script));
    let predicted = steady.map(|steady| played.unwrap_or(steady));
    Forecast { configuration: configuration.clone(), predicted, steady: known }
}

fn steady(demands: &Demands, configuration: &Configuration) -> Result<PredictionInterval<Judged>, String> {
    let found = predict_interval(&system(demands, configuration)).map_err(|error| error.to_string())?;
    let judged = |of: &SteadyState| Judged {
        throughput: of.throughput,
        cpu_s: (of.cpu.user + of.cpu.system + of.cpu.faults) * f64::from(configuration.cpus) / of.throughput,
        faults: of.faults,
        response_s: of.response_s,
        idle: [of.cpu.multiprogramming_idle, of.cpu.non_multiprogramming_idle, of.cpu.zero_idle],
    };
    let value = judged(&found.value);
    // A quotient of two figures has no interval of its own here, so that of the processor's demand is taken.
    let end = |state: &SteadyState, user_s: f64| Judged {
        cpu_s: value.cpu_s - demands.user_s.value + user_s,
        ..judged(state)
    };
    let user = demands.user_s.interval();
    Ok(PredictionInterval { value, low: end(&found.low, user.low), high: end(&found.high, user.high) })
}

/// Fits on every other configuration, and predicts those in between. None of the predicted ones is among the fitted. How many
/// pages a user misses that have all left comes from the experiment before, and so does what a crowd adds.
pub fn by_half(
    measured: &[Measured],
    of: &Forecasts,
    script: &dyn Fn(&Configuration) -> Option<Script>,
) -> Vec<Forecast> {
    let fitted: Vec<&Measured> = measured.iter().step_by(2).collect();
    let Some(mut demands) = Demands::of(&fitted, &of.flushed.iter().collect::<Vec<_>>(), &of.usual) else {
        return Vec::new();
    };
    demands.crowding = of.demands.iter().flat_map(|before| before.crowding.clone()).collect();
    let known = |measured: &&Measured| fitted.iter().all(|other| !other.configuration.repeats(&measured.configuration));
    let one =
        |measured: &Measured| forecast(&demands, &measured.configuration, script(&measured.configuration).as_ref());
    measured.iter().skip(1).step_by(2).filter(known).map(one).collect()
}

/// How far these figures `of` predictions were off. `None` if none can be held against a measurement.
pub fn missed(
    forecasts: &[Forecast],
    measured: &[Measured],
    usual: &Usual,
    of: fn(&Forecast) -> Option<Judged>,
) -> Option<Missed> {
    let errors = forecasts.iter().filter_map(|forecast| {
        let found = measured.iter().find(|measured| measured.configuration == forecast.configuration)?;
        Some(error(&of(forecast)?, &judged(found, usual)?))
    });
    let errors: Vec<Judged> = errors.collect();
    (!errors.is_empty()).then(|| Missed {
        median: over(&errors, |values| median(values).unwrap_or(0.0)),
        largest: over(&errors, |values| sorted(values).last().copied().unwrap_or(0.0)),
    })
}

/// The error of each figure, without its sign. Fewer than a fault in an interaction counts as one.
pub fn error(predicted: &Judged, measured: &Judged) -> Judged {
    let share = |predicted: f64, measured: f64| if measured == 0.0 { 0.0 } else { (predicted / measured - 1.0).abs() };
    Judged {
        throughput: share(predicted.throughput, measured.throughput),
        cpu_s: share(predicted.cpu_s, measured.cpu_s),
        faults: share(predicted.faults.max(1.0), measured.faults.max(1.0)),
        response_s: share(predicted.response_s, measured.response_s),
        idle: [0, 1, 2].map(|kind| (predicted.idle[kind] - measured.idle[kind]).abs()),
    }
}

#[cfg(test)]
mod tests;
