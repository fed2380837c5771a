//! The lines of the table: which figure of a prediction and of a measurement they show, and how.

use analysis::model::{MeasuredMeans, PredictionInterval, SteadyState};
use analysis::statistics::Interval;
use record::Nanoseconds;
use record::units::{percent, significant};

use crate::chart::Unit;

pub(crate) type Of = fn(&SteadyState) -> f64;
type OfMeasured = fn(&MeasuredMeans) -> Option<f64>;

/// A line of the table.
pub(crate) struct ModelRow {
    pub(crate) name: &'static str,
    pub(crate) unit: Unit,
    pub(crate) of: Of,
    pub(crate) measured: OfMeasured,
}

/// A row; times are seconds in the model and nanoseconds on the page.
const fn row(name: &'static str, unit: Unit, of: Of, measured: OfMeasured) -> ModelRow {
    ModelRow { name, unit, of, measured }
}

pub(crate) const RESPONSE_95: &str = "95 % of the responses within";

/// Every line, in order.
pub(crate) const ROWS: [ModelRow; 16] = [
    row("interactions", Unit::PerSecond, |it| it.throughput, |it| Some(it.throughput?.value)),
    row("mean response", Unit::Nanoseconds, |it| it.response_s, |it| Some(it.response_s?.value)),
    row(
        RESPONSE_95,
        Unit::Nanoseconds,
        |it| it.response_p95_s.unwrap_or(f64::NAN),
        |it| Some(it.response_p95_s?.value),
    ),
    row(
        "waiting for eligibility",
        Unit::Nanoseconds,
        |it| it.eligibility_wait_s,
        |it| Some(it.eligibility_wait_s?.value),
    ),
    row("CPU, user", Unit::Share, |it| it.cpu.user, |it| busy(it, it.user_s.value)),
    row("CPU, system", Unit::Share, |it| it.cpu.system, |it| busy(it, it.system_s.value)),
    row("CPU, page faults", Unit::Share, |it| it.cpu.faults, |it| busy(it, it.handling_s?.value)),
    row("idle, multiprogramming", Unit::Share, |it| it.cpu.multiprogramming_idle, |it| it.multiprogramming_idle),
    row(
        "idle, not multiprogramming",
        Unit::Share,
        |it| it.cpu.non_multiprogramming_idle,
        |it| it.non_multiprogramming_idle,
    ),
    row("idle, nobody there", Unit::Share, |it| it.cpu.zero_idle, |it| it.zero_idle),
    row("faults of an interaction", Unit::Count, |it| it.faults, |it| Some(it.faults.value)),
    row("CPU time between faults", Unit::Nanoseconds, |it| it.between_faults_s, between_faults),
    row("wait for a page", Unit::Nanoseconds, |it| it.page_wait_s, |it| Some(it.page_wait_s?.value)),
    row("page device busy", Unit::Share, |it| it.page_device, |it| Some(it.page_device_utilization?.value)),
    row("eligible on average", Unit::Count, |it| it.eligible, |_| None),
    row("queueing for eligibility", Unit::Count, |it| it.queued, |_| None),
];

/// The share of all CPUs that CPU seconds of an interaction are.
fn busy(it: &MeasuredMeans, seconds: f64) -> Option<f64> {
    Some(it.throughput?.value * seconds / f64::from(it.configuration.cpus.max(1)))
}

fn between_faults(it: &MeasuredMeans) -> Option<f64> {
    let cpu = it.user_s.value + it.system_s.value + it.handling_s.map_or(0.0, |handling| handling.value);
    (it.faults.value > 0.0).then(|| cpu / it.faults.value)
}

/// The interval of a figure.
pub(crate) fn interval(it: &PredictionInterval, of: Of) -> Interval {
    Interval { value: of(&it.value), low: of(&it.low), high: of(&it.high) }
}

/// A figure of the model in its unit.
pub(super) fn told(unit: Unit, value: f64) -> String {
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
pub(super) fn range(unit: Unit, it: &Interval) -> String {
    let exact = it.high - it.low <= 1e-9 * it.value.abs();
    if exact || !it.low.is_finite() || !it.high.is_finite() {
        return String::new();
    }
    let (low, high) = (told(unit, it.low), told(unit, it.high));
    // A unit stands once where both ends have it.
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, one)), Some((_, other))) if one == other => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}
