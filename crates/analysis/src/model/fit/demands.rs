//! CPU time, the handling of faults, page devices and other waiting.

use super::found::Fit;
use super::means::mean;
use crate::distinct;
use crate::model::error::ModelError;
use crate::model::figure::Figure;
use crate::model::measured::{MeasuredConfiguration, MeasuredMeans};
use crate::model::solve::predict;
use crate::model::system::PageSource;
use crate::squares::{LeastSquares, least_squares};

fn weight(means: &MeasuredMeans) -> f64 {
    means.interactions as f64
}

/// Faults of an interaction on this page device.
fn faults_on(device: &str, means: &MeasuredMeans) -> f64 {
    if means.configuration.page_device == device { means.faults.value } else { 0.0 }
}

/// CPU time in the system with the handling of faults, in seconds.
fn whole_system_s(means: &MeasuredMeans) -> f64 {
    means.system_s.value + handling_s(means)
}

/// CPU time of an interaction in seconds.
fn cpu_s(means: &MeasuredMeans) -> f64 {
    means.user_s.value + means.system_s.value + handling_s(means)
}

fn handling_s(means: &MeasuredMeans) -> f64 {
    means.handling_s.map_or(0.0, |handling| handling.value)
}

/// A row of the least squares over the faults of each device: a constant, the faults, the result, the weight.
fn row(names: &[String], means: &MeasuredMeans, result: f64) -> (Vec<f64>, f64, f64) {
    let faults = names.iter().map(|name| faults_on(name, means));
    ([1.0].into_iter().chain(faults).collect(), result, weight(means))
}

/// CPU time in user mode and in the system, and what a fault takes on each device.
pub(super) fn cpu(measured: &[&MeasuredMeans]) -> Result<Fit, ModelError> {
    let user_s = mean(measured.iter().map(|means| (means.user_s, weight(means))));
    let mut fit = Fit { user_s, ..Fit::default() };
    let with_faults = measured.iter().filter(|means| means.faults.value > 0.0);
    let names: Vec<String> = distinct(with_faults.map(|means| means.configuration.page_device.clone())).collect();
    let handling_known = measured.iter().all(|means| means.handling_s.is_some() || means.faults.value == 0.0);
    let (system_s, each) = if handling_known {
        measured_handling(measured, &names)
    } else {
        inferred_handling(measured, &names, &mut fit)
    };
    fit.system_s = system_s;
    let least = each.iter().copied().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap_or_default();
    fit.handling_s = least;
    let device = |(name, cost): (String, &Figure)| {
        let cpu_s = Figure::from((cost.value - least.value).max(0.0));
        PageSource { name, cpu_s, ..PageSource::default() }
    };
    fit.devices = names.into_iter().zip(&each).map(device).collect();
    if fit.user_s.value + fit.system_s.value > 0.0 {
        return Ok(fit);
    }
    Err(ModelError::Undetermined {
        what: "the execution of an interaction: its CPU time is zero".into(),
        remedy: "measure interactions that use the CPU".into(),
    })
}

fn measured_handling(measured: &[&MeasuredMeans], names: &[String]) -> (Figure, Vec<Figure>) {
    let system = mean(measured.iter().map(|means| (means.system_s, weight(means))));
    let each = names.iter().map(|name| {
        let of_it = measured.iter().filter(|means| faults_on(name, means) > 0.0);
        mean(of_it.filter_map(|means| {
            Some((means.handling_s?.times(1.0 / means.faults.value), weight(means) * means.faults.value))
        }))
    });
    (system, each.collect())
}

/// Where it was not: the slope of the system time over the faults of each device.
fn inferred_handling(measured: &[&MeasuredMeans], names: &[String], fit: &mut Fit) -> (Figure, Vec<Figure>) {
    let rows: Vec<_> = measured.iter().map(|means| row(names, means, whole_system_s(means))).collect();
    match least_squares(&rows).map(|found| found.coefficients) {
        Some(found) if found.iter().all(|&cost| cost >= 0.0) => {
            fit.notes.push("what a fault takes of the CPU is the slope of the system time over faults".into());
            (with_scatter(found[0], &rows, &found), found[1..].iter().map(|&cost| cost.into()).collect())
        }
        _ => {
            fit.notes.push(
                "what a fault takes of the CPU could not be told from the rest of the system time, and is taken as zero; measure \
                 one user alone with several memory limits"
                    .into(),
            );
            let system = mean(measured.iter().map(|means| (whole_system_s(means).into(), weight(means))));
            (system, vec![Figure::default(); names.len()])
        }
    }
}

/// A constant with the interval that the residuals give.
fn with_scatter(value: f64, rows: &[(Vec<f64>, f64, f64)], found: &[f64]) -> Figure {
    let residuals = rows.iter().map(|(factors, result, weight)| {
        let fitted: f64 = factors.iter().zip(found).map(|(factor, coefficient)| factor * coefficient).sum();
        (Figure::from((value + result - fitted).max(0.0)), *weight)
    });
    Figure { value, interval: mean(residuals).interval.map(|(low, high)| (low.min(value), high.max(value))) }
}

/// Time for a page on each device, and other waiting: from users alone.
pub(super) fn devices(measured: &[&MeasuredMeans], fit: &mut Fit) {
    let alone: Vec<&MeasuredMeans> = measured.iter().copied().filter(|means| means.configuration.users == 1).collect();
    for device in &mut fit.devices {
        let wait = |means: &&MeasuredMeans| means.page_wait_s.filter(|_| faults_on(&device.name, means) > 0.0);
        let waits: Vec<(Figure, f64)> =
            alone.iter().filter_map(|means| Some((wait(means)?, weight(means) * means.faults.value))).collect();
        device.service_s = if waits.is_empty() {
            // With more eligible than one, pages queue: the least wait is nearest to that of the device alone.
            measured.iter().filter_map(wait).min_by(|a, b| a.value.total_cmp(&b.value)).unwrap_or_default()
        } else {
            mean(waits)
        };
    }
    let known = alone.iter().filter(|means| means.page_wait_s.is_some() || means.faults.value == 0.0);
    let waits = known.filter_map(|means| {
        let pages = means.page_wait_s.map_or(0.0, |wait| wait.value) * means.faults.value;
        Some((Figure::from((means.response_s?.value - cpu_s(means) - pages).max(0.0)), weight(means)))
    });
    fit.other_wait_s = mean(waits);
    waits_from_response(&alone, fit);
    if alone.iter().all(|means| means.response_s.is_none()) {
        fit.notes.push("no user alone was measured, so that other waiting is taken as zero".into());
    }
}

/// Where the wait for a page was not measured: the slope over faults of what a user alone waits.
fn waits_from_response(alone: &[&MeasuredMeans], fit: &mut Fit) {
    let is_known = |device: &PageSource| {
        let is_of_it = |means: &&MeasuredMeans| faults_on(&device.name, means) > 0.0 && means.page_wait_s.is_some();
        device.service_s.value > 0.0 || alone.iter().any(is_of_it)
    };
    let known: Vec<bool> = fit.devices.iter().map(is_known).collect();
    if !known.is_empty() && known.iter().all(|known| *known) {
        return;
    }
    let names: Vec<String> = fit.devices.iter().map(|device| device.name.clone()).collect();
    let rows = alone.iter().filter_map(|means| Some(row(&names, means, means.response_s?.value - cpu_s(means))));
    let rows: Vec<_> = rows.collect();
    let Some(LeastSquares { coefficients: found, .. }) = least_squares(&rows) else {
        if !names.is_empty() {
            fit.notes.push("the wait for a page was not measured, and is taken as zero; measure one user alone with several memory limits".into());
        }
        return;
    };
    fit.other_wait_s = with_scatter(found[0].max(0.0), &rows, &found);
    let waits = fit.devices.iter_mut().zip(&found[1..]).zip(&known);
    for ((device, wait), _) in waits.filter(|(_, known)| !**known) {
        device.service_s = wait.max(0.0).into();
    }
    if !names.is_empty() {
        fit.notes.push("the wait for a page is the slope over faults of what a user alone waits".into());
    }
}

/// How many faults each device serves at once: the number with which the model's page waits are nearest to the measured ones.
pub(super) fn channels(measured: &[&MeasuredMeans], fit: &mut Fit) {
    for index in 0..fit.devices.len() {
        let name = fit.devices[index].name.clone();
        let waits = measured.iter().filter(|means| faults_on(&name, means) > 0.0 && means.page_wait_s.is_some());
        let is_of_several =
            |configuration: &MeasuredConfiguration| configuration.users > 1 && configuration.eligible != Some(1);
        let several: Vec<&&MeasuredMeans> = waits.filter(|means| is_of_several(&means.configuration)).collect();
        if several.is_empty() || fit.devices[index].service_s.value <= 0.0 {
            continue;
        }
        let misfit = |channels: Option<u32>| -> f64 {
            let mut tried = fit.clone();
            tried.devices[index].channels = channels;
            let each = several.iter().map(|means| {
                let found = tried.system(&means.configuration).and_then(|system| predict(&system));
                let wait = means.page_wait_s.map_or(0.0, |wait| wait.value);
                found.map_or(f64::INFINITY, |found| (found.page_wait_s / wait).ln().powi(2) * weight(means))
            });
            each.sum()
        };
        let candidates = [None, Some(1), Some(2), Some(3), Some(4), Some(6), Some(8)];
        let best = candidates.into_iter().map(|channels| (misfit(channels), channels));
        let best = best.min_by(|a, b| a.0.total_cmp(&b.0)).and_then(|(_, channels)| channels);
        fit.devices[index].channels = best;
    }
}
