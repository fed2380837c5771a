//! The demands of an interaction, from configurations that were measured: best from one user alone with several limits of memory.

use std::collections::BTreeSet;

use record::smallest_first;

use super::configuration::{Configuration, PageDevice, Relief};
use super::measured::{Finished, Measured, Outcome};
use super::response::response_at;
use crate::model::{CurvePoint, FaultCurve, Figure, Kind};
use crate::statistics::{mean, squares};

/// What the script has for all configurations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usual {
    pub names: Vec<String>,
    /// How often each interaction occurs in the script.
    pub weights: Vec<f64>,
    /// The mean time to think, in seconds.
    pub think_s: f64,
    /// True if pages stay while a user thinks, as those of jobs do: then users share the memory, not the eligible alone.
    pub stays: bool,
    /// Where they stay: all pages of a user, in bytes.
    pub pages_bytes: u64,
}

/// Page faults at one share of memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultsAt {
    /// Memory of one process in bytes.
    pub share: f64,
    /// Faults of an interaction.
    pub faults: Figure,
    /// Interactions that this is the mean of.
    pub weight: f64,
}

/// What is known of a page device.
#[derive(Clone, Debug, PartialEq)]
pub struct Paged {
    pub device: PageDevice,
    /// By share, ascending; faults never rise with memory.
    pub curve: Vec<FaultsAt>,
    /// Faults of an interaction all of whose pages had left memory.
    pub reload: Option<Figure>,
    /// Processor time for one fault, in seconds, that of the device included.
    pub handling_s: f64,
    /// The part of it that the device takes, as compressed memory does.
    pub device_cpu_s: f64,
    /// Waiting for one page, in seconds.
    pub wait_s: f64,
}

/// What each further eligible interaction adds to a fault, as shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowding {
    pub device: PageDevice,
    /// With so many processors.
    pub cpus: u32,
    /// To the processor time that it takes.
    pub handling: f64,
    /// To the wait for the page.
    pub wait: f64,
}

/// The demands of the mean interaction of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Demands {
    /// Processor time in user mode.
    pub user_s: Figure,
    /// Processor time in the kernel, without faults that wait for a page.
    pub system_s: Figure,
    /// Waiting that is neither for a processor nor for a page: for files.
    pub other_wait_s: Figure,
    /// By device.
    pub paged: Vec<Paged>,
    /// What changes while others are eligible; empty if that was not measured.
    pub crowding: Vec<Crowding>,
    /// Processor time in user mode of each interaction of the script, in seconds.
    pub each_user_s: Vec<f64>,
    pub usual: Usual,
}

/// The mean interaction of a configuration: each counts as often as the script has it, whatever a short run had. With twice
/// the standard error to either side. `None` if one of them did not end at all, or those that ended are no sample of all.
pub fn mean_of(measured: &Measured, usual: &Usual, of: fn(&Finished) -> f64) -> Option<Figure> {
    let total: f64 = usual.weights.iter().sum();
    let (mut value, mut variance) = (0.0, 0.0);
    for (place, weight) in usual.weights.iter().enumerate() {
        let (mean, of_mean) = mean_at(measured, place, of)?;
        value += weight / total * mean;
        variance += (weight / total).powi(2) * of_mean;
    }
    let reach = 2.0 * variance.sqrt();
    (value.is_finite() && reach.is_finite())
        .then(|| Figure { value, interval: Some(((value - reach).max(0.0), value + reach)) })
}

/// The mean over those that did their work at this place of the script, and the variance of that mean; `None` if none did.
fn mean_at(measured: &Measured, place: usize, of: fn(&Finished) -> f64) -> Option<(f64, f64)> {
    if !measured.unfinished.is_empty() {
        response_at(measured, place).mean?;
    }
    let done =
        measured.finished.iter().filter(|finished| finished.interaction == place && finished.outcome == Outcome::Done);
    let values: Vec<f64> = done.map(of).collect();
    let count = values.len() as f64;
    let middle = mean(&values);
    // One that ended alone shows no scatter: it is uncertain by as much as itself.
    let scatter = if values.len() == 1 { middle * middle } else { squares(&values) / (count - 1.0) };
    (count > 0.0).then_some((middle, scatter / count))
}

/// The share of memory that decides on faults: that of a user where pages stay while it thinks, else that of an eligible one.
pub fn share(configuration: &Configuration, usual: &Usual) -> f64 {
    let among = if usual.stays { configuration.users } else { configuration.most_eligible() };
    configuration.memory.map_or(f64::INFINITY, |bytes| bytes as f64 / f64::from(among.max(1)))
}

impl Demands {
    /// The demands that these configurations show, and others in which all pages had been pushed out of memory before each
    /// interaction. `None` if nothing ended in them.
    pub fn of(measured: &[&Measured], flushed: &[&Measured], usual: &Usual) -> Option<Demands> {
        let has_ended = |measured: &&Measured| mean_of(measured, usual, |finished| finished.user_s).is_some();
        let usable: Vec<&Measured> = measured.iter().copied().filter(has_ended).collect();
        let plain: Vec<&Measured> =
            usable.iter().copied().filter(|measured| measured.configuration.relief == Relief::None).collect();
        if plain.is_empty() {
            return None;
        }
        let user_s = weighted(&plain, usual, |finished| finished.user_s)?;
        let devices: BTreeSet<PageDevice> = plain.iter().map(|measured| measured.configuration.device).collect();
        let (paged, other_s): (Vec<Paged>, Vec<f64>) =
            devices.into_iter().map(|device| of_device(device, &plain, flushed, usual)).unzip();
        // What the kernel took beyond the faults, as these are handled.
        let handling = |measured: &Measured| {
            paged
                .iter()
                .find(|paged| paged.device == measured.configuration.device)
                .map_or(0.0, |paged| paged.handling_s)
        };
        let (mut rest, mut count) = (0.0, 0.0);
        for measured in &plain {
            let (system, faults) = (
                mean_of(measured, usual, |finished| finished.system_s)?,
                mean_of(measured, usual, |finished| finished.major_faults)?,
            );
            rest += (system.value - faults.value * handling(measured)).max(0.0) * measured.finished.len() as f64;
            count += measured.finished.len() as f64;
        }
        let of_place = |place: usize| {
            let work = |measured: &&Measured| mean_at(measured, place, |finished| finished.user_s);
            mean(&plain.iter().filter_map(work).map(|(mean, _)| mean).collect::<Vec<_>>())
        };
        Some(Demands {
            user_s,
            system_s: (rest / count).into(),
            other_wait_s: other_s.into_iter().reduce(f64::min).unwrap_or(0.0).into(),
            each_user_s: (0..usual.weights.len()).map(of_place).collect(),
            paged,
            crowding: Vec::new(),
            usual: usual.clone(),
        })
    }

    pub fn of_device(&self, device: PageDevice) -> Option<&Paged> {
        self.paged.iter().find(|paged| paged.device == device)
    }

    /// What each further eligible interaction adds to a fault of this configuration: measured with so many processors, else with the
    /// number that is nearest.
    pub fn crowded(&self, configuration: &Configuration) -> Option<&Crowding> {
        let known = self.crowding.iter().filter(|one| one.device == configuration.device);
        known.min_by_key(|one| one.cpus.abs_diff(configuration.cpus))
    }

    /// Faults by memory, as the model takes them.
    pub fn curve(&self, configuration: &Configuration) -> FaultCurve {
        let Some(paged) = self.of_device(configuration.device) else { return FaultCurve::None };
        let work_s = self.user_s.value + self.system_s.value;
        let finite: Vec<&FaultsAt> = paged.curve.iter().filter(|point| point.share.is_finite()).collect();
        if configuration.memory.is_none() || finite.is_empty() || work_s <= 0.0 {
            let faults = paged.at(f64::INFINITY);
            return if faults.value > 0.0 { FaultCurve::PerInteraction(faults) } else { FaultCurve::None };
        }
        // The model joins points by other logarithms, so it gets points between them.
        const BETWEEN: u32 = 4;
        let stretches = finite.windows(2).flat_map(|ends| {
            let ratio = ends[1].share / ends[0].share;
            (0..BETWEEN).map(move |part| ends[0].share * ratio.powf(f64::from(part) / f64::from(BETWEEN)))
        });
        let shares = stretches.chain(finite.last().map(|last| last.share));
        let point = |share: f64| CurvePoint {
            share_bytes: share.round().max(1.0) as u64,
            per_s: paged.at(share).times(1.0 / work_s),
        };
        let mut points: Vec<CurvePoint> = shares.map(point).collect();
        points.dedup_by_key(|point| point.share_bytes);
        FaultCurve::falling(points)
    }

    /// The interactions of the script as kinds for the simulation; none if one of them has no work of its own.
    pub fn kinds(&self) -> Vec<Kind> {
        let (names, weights) = (&self.usual.names, &self.usual.weights);
        let usable = names.len() == weights.len() && self.each_user_s.iter().all(|size| *size > 0.0);
        let each = names.iter().zip(weights).zip(&self.each_user_s).filter(|_| usable);
        each.map(|((name, &weight), &size)| Kind { name: name.clone(), weight, size: size / self.user_s.value })
            .collect()
    }
}

impl Paged {
    /// Faults at this share: between two points interpolated on logarithms, beyond them and below all there is as at the nearest.
    fn at(&self, share: f64) -> Figure {
        let above = self.curve.partition_point(|point| point.share < share);
        match (above.checked_sub(1).and_then(|below| self.curve.get(below)), self.curve.get(above)) {
            (None, None) => 0.0.into(),
            (Some(one), None) | (None, Some(one)) => one.faults,
            (Some(below), Some(next)) if next.share.is_infinite() => {
                [below.faults, next.faults][usize::from(share.is_infinite())]
            }
            (Some(below), Some(next)) => {
                let part = (share / below.share).ln() / (next.share / below.share).ln();
                // A fault more, so that zero has a logarithm.
                let between =
                    |low: f64, high: f64| ((1.0 + low).ln() * (1.0 - part) + (1.0 + high).ln() * part).exp() - 1.0;
                let (low, high) = (below.faults.interval(), next.faults.interval());
                let ends = (between(low.low, high.low), between(low.high, high.high));
                Figure { value: between(low.value, high.value), interval: Some(ends) }
            }
        }
    }
}

/// The mean over configurations, each weighted by its interactions.
fn weighted(all: &[&Measured], usual: &Usual, of: fn(&Finished) -> f64) -> Option<Figure> {
    let (mut value, mut variance, mut weights) = (0.0, 0.0, 0.0);
    for measured in all {
        let weight = measured.finished.len() as f64;
        let mean = mean_of(measured, usual, of)?;
        value += weight * mean.value;
        variance += (weight * mean.interval().half() / 2.0).powi(2);
        weights += weight;
    }
    let reach = 2.0 * variance.sqrt() / weights;
    let value = value / weights;
    Some(Figure { value, interval: Some(((value - reach).max(0.0), value + reach)) })
}

/// What the configurations with this device show of it, and waiting beyond it in seconds.
fn of_device(device: PageDevice, all: &[&Measured], flushed: &[&Measured], usual: &Usual) -> (Paged, f64) {
    let plain: Vec<&Measured> =
        all.iter().copied().filter(|measured| measured.configuration.device == device).collect();
    let flushed = flushed.iter().filter(|measured| measured.configuration.device == device);
    let point = |measured: &&Measured| {
        let faults = mean_of(measured, usual, |finished| finished.major_faults)?;
        Some(FaultsAt { share: share(&measured.configuration, usual), faults, weight: measured.finished.len() as f64 })
    };
    let mut points: Vec<FaultsAt> = plain.iter().filter_map(point).collect();
    points.extend(whole(&points, usual));
    smallest_first(&mut points, |one| one.share);
    let reload = flushed.filter_map(|measured| mean_of(measured, usual, |finished| finished.major_faults));
    let handling_s = handling(&plain, usual);
    // On compressed memory, what a fault takes beyond the first touch of a page is put down to the device.
    let touch = plain.iter().map(|measured| measured.fault.minor_s).fold(0.0, f64::max);
    let (wait_s, other_s) = waiting(device, &plain, usual);
    let paged = Paged {
        device,
        curve: falling(points),
        reload: reload.max_by(|a, b| a.value.total_cmp(&b.value)),
        handling_s,
        device_cpu_s: if device == PageDevice::Zram { (handling_s - touch).max(0.0) } else { 0.0 },
        wait_s,
    };
    (paged, other_s)
}

/// The share that holds all pages of a user, where no fault waits for one; `None` if it was measured, or is not known.
fn whole(points: &[FaultsAt], usual: &Usual) -> Option<FaultsAt> {
    /// With page tables, the stack and what the program itself takes.
    const AROUND: f64 = 1.1;
    let share = usual.pages_bytes as f64 * AROUND;
    let known = !usual.stays || usual.pages_bytes == 0 || points.iter().any(|point| point.share >= share);
    (!known).then_some(FaultsAt { share, faults: Figure::default(), weight: 1.0 })
}

/// Joins neighbours that rise with memory to their mean (pool adjacent violators), and equal shares.
fn falling(points: Vec<FaultsAt>) -> Vec<FaultsAt> {
    let mut groups: Vec<Vec<FaultsAt>> = Vec::new();
    let mean = |group: &[FaultsAt], of: fn(&FaultsAt) -> f64| {
        group.iter().map(|point| of(point) * point.weight).sum::<f64>()
            / group.iter().map(|point| point.weight).sum::<f64>()
    };
    for point in points {
        groups.push(vec![point]);
        while let [.., before, last] = groups.as_slice() {
            let same = last[0].share <= before[before.len() - 1].share * 1.001;
            if !same && mean(before, |point| point.faults.value) >= mean(last, |point| point.faults.value) {
                break;
            }
            let last = groups.pop().unwrap_or_default();
            groups.last_mut().into_iter().for_each(|before| before.extend(&last));
        }
    }
    let joined = |group: Vec<FaultsAt>| {
        let value = mean(&group, |point| point.faults.value);
        let end = |of: fn(&FaultsAt) -> f64| mean(&group, of);
        let ends = (end(|point| point.faults.interval().low), end(|point| point.faults.interval().high));
        let faults = Figure { value, interval: Some(ends) };
        group.into_iter().map(move |point| FaultsAt { faults, ..point })
    };
    let mut curve: Vec<FaultsAt> = groups.into_iter().flat_map(joined).collect();
    curve.dedup_by(|next, before| next.share <= before.share * 1.001);
    curve
}

/// Processor time of the kernel for one fault: the slope of the kernel's time over faults, where these differ enough;
/// else what was measured beforehand.
fn handling(all: &[&Measured], usual: &Usual) -> f64 {
    let pairs = all.iter().filter_map(|measured| {
        Some((
            mean_of(measured, usual, |finished| finished.major_faults)?.value,
            mean_of(measured, usual, |finished| finished.system_s)?.value,
            measured.finished.len() as f64,
        ))
    });
    let pairs: Vec<(f64, f64, f64)> = pairs.collect();
    let FaultLine { faults, deviation, slope, .. } = FaultLine::through(&pairs);
    let beforehand = all.iter().map(|measured| measured.fault.major_s).fold(0.0, f64::max);
    if pairs.len() > 2 && deviation > 0.2 * faults.max(1.0) && slope > 0.0 { slope } else { beforehand }
}

/// The line of a time over the faults of an interaction that fits best.
struct FaultLine {
    /// The mean number of faults, and their standard deviation.
    faults: f64,
    deviation: f64,
    /// The mean time in seconds.
    time_s: f64,
    /// The time for one more fault, in seconds.
    slope: f64,
}

impl FaultLine {
    /// Through (faults, time, weight).
    fn through(points: &[(f64, f64, f64)]) -> FaultLine {
        let faults = weighted_mean(points, |point| point.0);
        let time_s = weighted_mean(points, |point| point.1);
        let variance = weighted_mean(points, |point| (point.0 - faults).powi(2));
        let slope = weighted_mean(points, |point| (point.0 - faults) * (point.1 - time_s)) / variance;
        FaultLine { faults, deviation: variance.sqrt(), time_s, slope }
    }
}

/// The mean over (faults, time, weight).
fn weighted_mean(points: &[(f64, f64, f64)], of: impl Fn(&(f64, f64, f64)) -> f64) -> f64 {
    let weights: f64 = points.iter().map(|point| point.2).sum();
    points.iter().map(|point| of(point) * point.2).sum::<f64>() / weights.max(f64::MIN_POSITIVE)
}

/// Waiting of a user alone with this device beyond its processor time, in seconds: for a page, and for everything else. A line over
/// faults. Where there are too few faults for one, a page takes what was measured beforehand.
fn waiting(device: PageDevice, all: &[&Measured], usual: &Usual) -> (f64, f64) {
    /// Fewer faults show nothing of the time for one.
    const ENOUGH: f64 = 20.0;
    /// Other waiting below this share of the processor time is that of the host.
    const HOST: f64 = 0.02;
    let rows = all.iter().filter(|measured| measured.configuration.users == 1).filter_map(|measured| {
        let faults = mean_of(measured, usual, |finished| finished.major_faults)?.value;
        let cpu = mean_of(measured, usual, |finished| finished.user_s + finished.system_s)?.value;
        let response = mean_of(measured, usual, |finished| finished.response_s - finished.wait_s)?.value;
        let weight = measured.finished.len() as f64;
        Some(((faults, (response - cpu).max(0.0), weight), (faults, cpu, weight)))
    });
    let (beyond, cpu): (Vec<_>, Vec<_>) = rows.unzip();
    let enough = beyond.iter().any(|point| point.0 > ENOUGH);
    let FaultLine { faults, deviation, time_s: beyond_s, slope } = FaultLine::through(&beyond);
    let (page_s, other_s) = match () {
        // A page of compressed memory costs processor time and no waiting.
        () if device == PageDevice::Zram => (0.0, beyond_s),
        () if !enough => {
            let page_s = all.iter().map(|measured| measured.fault.wait_s).fold(0.0, f64::max);
            (page_s, (beyond_s - faults * page_s).max(0.0))
        }
        () if deviation > 0.2 * faults && slope > 0.0 && beyond_s > slope * faults => {
            (slope, beyond_s - slope * faults)
        }
        () => (beyond_s / faults, 0.0),
    };
    match other_s < HOST * weighted_mean(&cpu, |point| point.1) {
        true if enough && device != PageDevice::Zram => (beyond_s / faults, 0.0),
        true => (page_s, 0.0),
        false => (page_s, other_s),
    }
}
