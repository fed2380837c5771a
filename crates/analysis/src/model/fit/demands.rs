//! CPU time, the handling of faults, page devices and other waiting.

use super::found::Fit;
use super::means::mean;
use crate::model::error::ModelError;
use crate::model::figure::Figure;
use crate::model::measured::{MeasuredConfiguration, MeasuredMeans};
use crate::model::solve::predict;
use crate::model::system::PageSource;
use crate::squares::{LeastSquares, least_squares};

fn weight(means: &MeasuredMeans) -> f64 {
    means.interactions as f64
}

/// The names of the page devices with faults, in the order of the configurations.
fn names(measured: &[&MeasuredMeans]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for means in measured.iter().filter(|means| means.faults.value > 0.0) {
        if !names.contains(&means.configuration.page_device) {
            names.push(means.configuration.page_device.clone());
        }
    }
    names
}

/// CPU time in user mode and in the system, and what a fault takes on each device.
pub(super) fn cpu(measured: &[&MeasuredMeans]) -> Result<Fit, ModelError> {
    let user_s = mean(&measured.iter().map(|means| (means.user_s, weight(means))).collect::<Vec<_>>());
    let mut fit = Fit { user_s, ..Fit::default() };
    let names = names(measured);
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
    let system = mean(&measured.iter().map(|means| (means.system_s, weight(means))).collect::<Vec<_>>());
    let each = names.iter().map(|name| {
        let costs =
            measured.iter().filter(|means| means.configuration.page_device == *name && means.faults.value > 0.0);
        let costs = costs.filter_map(|means| {
            Some((means.handling_s?.times(1.0 / means.faults.value), weight(means) * means.faults.value))
        });
        mean(&costs.collect::<Vec<_>>())
    });
    (system, each.collect())
}

/// Where it was not: the slope of the system time over the faults of each device.
fn inferred_handling(measured: &[&MeasuredMeans], names: &[String], fit: &mut Fit) -> (Figure, Vec<Figure>) {
    let all = |means: &MeasuredMeans| means.system_s.value + means.handling_s.map_or(0.0, |handling| handling.value);
    let row = |means: &&MeasuredMeans| {
        let faults = |name: &String| if means.configuration.page_device == *name { means.faults.value } else { 0.0 };
        ([1.0].into_iter().chain(names.iter().map(faults)).collect(), all(means), weight(means))
    };
    let rows: Vec<(Vec<f64>, f64, f64)> = measured.iter().map(row).collect();
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
            let system = mean(&measured.iter().map(|means| (all(means).into(), weight(means))).collect::<Vec<_>>());
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
    let interval = mean(&residuals.collect::<Vec<_>>()).interval;
    Figure { value, interval: interval.map(|(low, high)| (low.min(value), high.max(value))) }
}

/// Time for a page on each device, and other waiting: from users alone.
pub(super) fn devices(measured: &[&MeasuredMeans], fit: &mut Fit) {
    let alone: Vec<&&MeasuredMeans> = measured.iter().filter(|means| means.configuration.users == 1).collect();
    // With more eligible than one, pages queue: the least wait is nearest to that of the device alone.
    for index in 0..fit.devices.len() {
        let name = fit.devices[index].name.clone();
        let of_device = |means: &&&MeasuredMeans| means.configuration.page_device == name && means.faults.value > 0.0;
        let waits = alone
            .iter()
            .filter(|means| of_device(means))
            .filter_map(|means| Some((means.page_wait_s?, weight(means) * means.faults.value)));
        let waits: Vec<(Figure, f64)> = waits.collect();
        if waits.is_empty() {
            let with_others =
                measured.iter().filter(|means| means.configuration.page_device == name && means.faults.value > 0.0);
            let least = with_others.filter_map(|means| means.page_wait_s).min_by(|a, b| a.value.total_cmp(&b.value));
            fit.devices[index].service_s = least.unwrap_or_default();
        } else {
            fit.devices[index].service_s = mean(&waits);
        }
    }
    let cpu = |means: &MeasuredMeans| {
        means.user_s.value + means.system_s.value + means.handling_s.map_or(0.0, |handling| handling.value)
    };
    let known = |means: &&&MeasuredMeans| means.page_wait_s.is_some() || means.faults.value == 0.0;
    if alone.iter().any(&known) {
        let waits = alone.iter().filter(|means| known(means)).filter_map(|means| {
            let pages = means.page_wait_s.map_or(0.0, |wait| wait.value) * means.faults.value;
            Some((Figure::from((means.response_s?.value - cpu(means) - pages).max(0.0)), weight(means)))
        });
        fit.other_wait_s = mean(&waits.collect::<Vec<_>>());
    }
    waits_from_response(&alone, fit);
    if alone.iter().all(|means| means.response_s.is_none()) {
        fit.notes.push("no user alone was measured, so that other waiting is taken as zero".into());
    }
}

/// Where the wait for a page was not measured: the slope over faults of what a user alone waits.
fn waits_from_response(alone: &[&&MeasuredMeans], fit: &mut Fit) {
    let is_known = |device: &PageSource| {
        let mut of_it = alone.iter().filter(|means| means.configuration.page_device == device.name);
        device.service_s.value > 0.0 || of_it.any(|means| means.faults.value > 0.0 && means.page_wait_s.is_some())
    };
    let known: Vec<bool> = fit.devices.iter().map(is_known).collect();
    if !known.is_empty() && known.iter().all(|known| *known) {
        return;
    }
    let names: Vec<String> = fit.devices.iter().map(|device| device.name.clone()).collect();
    let rows = alone.iter().filter_map(|means| {
        let cpu = means.user_s.value + means.system_s.value + means.handling_s.map_or(0.0, |handling| handling.value);
        let faults = |name: &String| if means.configuration.page_device == *name { means.faults.value } else { 0.0 };
        let factors = [1.0].into_iter().chain(names.iter().map(faults)).collect();
        Some((factors, means.response_s?.value - cpu, weight(means)))
    });
    let rows: Vec<(Vec<f64>, f64, f64)> = rows.collect();
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
        let waits = measured.iter().filter(|means| means.faults.value > 0.0 && means.page_wait_s.is_some());
        let is_of_several = |configuration: &MeasuredConfiguration| {
            configuration.page_device == name && configuration.users > 1 && configuration.eligible != Some(1)
        };
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
