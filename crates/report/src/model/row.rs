//! The lines of the table: which figure of a prediction and of a measurement they show, and how.

use analysis::model::answer::ModelAnswer;
use analysis::model::{MeasuredMeans, PredictionInterval, SteadyState};
use analysis::statistics::Interval;
use record::Nanoseconds;
use record::units::{percent, significant};

use crate::chart::Unit;
use crate::interval::ends;

pub(crate) type Of = fn(&SteadyState) -> f64;
type OfMeasured = fn(&MeasuredMeans) -> Option<f64>;

/// A line of the table.
pub(crate) struct ModelRow {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    of: Of,
    of_measured: OfMeasured,
}

impl ModelRow {
    /// The bound that no system exceeds, if there is one.
    pub(crate) fn bound(&self, answer: &ModelAnswer) -> Option<f64> {
        match self.name {
            INTERACTIONS => Some(answer.bounds.throughput),
            MEAN_RESPONSE => Some(answer.bounds.response_s),
            _ => None,
        }
    }

    /// The solution, with the interval from the parameters; `None` if the solution does not give it.
    pub(crate) fn solved(&self, answer: &ModelAnswer) -> Option<Interval> {
        self.is_solved().then(|| interval(&answer.prediction, self.of))
    }

    /// By the flow-equivalent server, if the solution is exact.
    pub(crate) fn by_server(&self, answer: &ModelAnswer) -> Option<f64> {
        answer.hierarchy.as_ref().filter(|_| self.is_solved()).map(self.of)
    }

    /// By simulation, with the interval of its randomness.
    pub(crate) fn simulated(&self, answer: &ModelAnswer) -> Option<Interval> {
        answer.simulated.as_ref().ok().map(|simulation| interval(&simulation.prediction, self.of))
    }

    /// What was measured.
    pub(crate) fn measured(&self, answer: &ModelAnswer) -> Option<f64> {
        answer.measured.as_ref().and_then(self.of_measured)
    }

    /// Means are solved; percentiles are only simulated.
    fn is_solved(&self) -> bool {
        self.name != RESPONSE_95
    }
}

/// A row; times are seconds in the model and nanoseconds on the page.
const fn row(name: &'static str, unit: Unit, of: Of, of_measured: OfMeasured) -> ModelRow {
    ModelRow { name, unit, of, of_measured }
}

const INTERACTIONS: &str = "interactions";
const MEAN_RESPONSE: &str = "mean response";
const RESPONSE_95: &str = "95 % of the responses within";

/// Every line, in order.
pub(crate) const ROWS: [ModelRow; 16] = [
    row(INTERACTIONS, Unit::PerSecond, |state| state.throughput, |means| Some(means.throughput?.value)),
    row(MEAN_RESPONSE, Unit::Nanoseconds, |state| state.response_s, |means| Some(means.response_s?.value)),
    row(
        RESPONSE_95,
        Unit::Nanoseconds,
        |state| state.response_p95_s.unwrap_or(f64::NAN),
        |means| Some(means.response_p95_s?.value),
    ),
    row(
        "waiting for eligibility",
        Unit::Nanoseconds,
        |state| state.eligibility_wait_s,
        |means| Some(means.eligibility_wait_s?.value),
    ),
    row("CPU, user", Unit::Share, |state| state.cpu.user, |means| busy(means, means.user_s.value)),
    row("CPU, system", Unit::Share, |state| state.cpu.system, |means| busy(means, means.system_s.value)),
    row("CPU, page faults", Unit::Share, |state| state.cpu.faults, |means| busy(means, means.handling_s?.value)),
    row(
        "idle, multiprogramming",
        Unit::Share,
        |state| state.cpu.multiprogramming_idle,
        |means| means.multiprogramming_idle,
    ),
    row(
        "idle, not multiprogramming",
        Unit::Share,
        |state| state.cpu.non_multiprogramming_idle,
        |means| means.non_multiprogramming_idle,
    ),
    row("idle, nobody there", Unit::Share, |state| state.cpu.zero_idle, |means| means.zero_idle),
    row("faults of an interaction", Unit::Count, |state| state.faults, |means| Some(means.faults.value)),
    row("CPU time between faults", Unit::Nanoseconds, |state| state.between_faults_s, between_faults),
    row("wait for a page", Unit::Nanoseconds, |state| state.page_wait_s, |means| Some(means.page_wait_s?.value)),
    row("page device busy", Unit::Share, |state| state.page_device, |means| Some(means.page_device_utilization?.value)),
    row("eligible on average", Unit::Count, |state| state.eligible, |_| None),
    row("queueing for eligibility", Unit::Count, |state| state.queued, |_| None),
];

/// The share of all CPUs that CPU seconds of an interaction are.
fn busy(means: &MeasuredMeans, seconds: f64) -> Option<f64> {
    Some(means.throughput?.value * seconds / f64::from(means.configuration.cpus.max(1)))
}

fn between_faults(means: &MeasuredMeans) -> Option<f64> {
    let cpu = means.user_s.value + means.system_s.value + means.handling_s.map_or(0.0, |handling| handling.value);
    (means.faults.value > 0.0).then(|| cpu / means.faults.value)
}

/// The interval of a figure.
pub(crate) fn interval(prediction: &PredictionInterval, of: Of) -> Interval {
    Interval { value: of(&prediction.value), low: of(&prediction.low), high: of(&prediction.high) }
}

/// A figure of the model in its unit.
pub(super) fn in_unit(unit: Unit, value: f64) -> String {
    match unit {
        _ if !value.is_finite() => "-".into(),
        Unit::Nanoseconds if value == 0.0 => "0 s".into(),
        Unit::Nanoseconds => Nanoseconds(value * 1e9).to_string(),
        Unit::Share if value < 5e-5 => "0 %".into(),
        Unit::Share => percent(value),
        Unit::PerSecond => format!("{} /s", significant(value)),
        _ => significant(value),
    }
}

/// `low to high`, or nothing for an exact figure.
pub(super) fn range(unit: Unit, interval: &Interval) -> String {
    let exact = interval.high - interval.low <= 1e-9 * interval.value.abs();
    if exact || !interval.low.is_finite() || !interval.high.is_finite() {
        return String::new();
    }
    ends(&in_unit(unit, interval.low), &in_unit(unit, interval.high))
}
