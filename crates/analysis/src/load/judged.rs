//! The figures by which a prediction is judged, predicted or measured.

use serde::Serialize;

use super::demands::{Usual, mean_of};
use super::figures::{Idle, row};
use super::measured::Measured;
use crate::form::As;

/// The figures by which a prediction is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Judged {
    /// Interactions per second.
    pub throughput: f64,
    /// Processor time of an interaction, in seconds.
    pub cpu_s: f64,
    /// Page faults of an interaction.
    pub faults: f64,
    /// Mean response in seconds.
    pub response_s: f64,
    /// The three kinds of idle, as shares.
    #[serde(flatten, with = "As::<Idle>")]
    pub idle: [f64; 3],
}

/// These figures, measured.
pub fn judged(measured: &Measured, usual: &Usual) -> Option<Judged> {
    let row = row(measured);
    let mean = |of| mean_of(measured, usual, of).map(|figure| figure.value);
    Some(Judged {
        throughput: row.throughput,
        cpu_s: mean(|finished| finished.user_s + finished.system_s)?,
        faults: mean(|finished| finished.major_faults)?,
        response_s: mean(|finished| finished.response_s)?,
        idle: [row.idle.multiprogramming, row.idle.non_multiprogramming, row.idle.zero],
    })
}

/// Each figure of several, made one.
pub(super) fn over(all: &[Judged], how: impl Fn(Vec<f64>) -> f64) -> Judged {
    let one = |figure: fn(&Judged) -> f64| how(all.iter().map(figure).collect());
    Judged {
        throughput: one(|judged| judged.throughput),
        cpu_s: one(|judged| judged.cpu_s),
        faults: one(|judged| judged.faults),
        response_s: one(|judged| judged.response_s),
        idle: [one(|judged| judged.idle[0]), one(|judged| judged.idle[1]), one(|judged| judged.idle[2])],
    }
}
