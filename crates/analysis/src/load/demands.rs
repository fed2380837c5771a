//! The demands of an interaction, from configurations that were measured: best from one user alone with several limits of memory.

use super::configuration::{Configuration, PageDevice, Relief};
use super::measured::{Finished, Measured, Outcome};
use crate::model::Figure;

/// What the script says of all configurations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usual {
    /// How often each interaction occurs in the script.
    pub weights: Vec<f64>,
    /// The mean time to think, in seconds.
    pub think_s: f64,
    /// True if pages stay while a user thinks, as those of jobs do: then users share the memory, not the eligible alone.
    pub stays: bool,
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
    /// The device.
    pub device: PageDevice,
    /// By share, ascending; faults never rise with memory.
    pub curve: Vec<FaultsAt>,
    /// Faults of an interaction all of whose pages had left memory.
    pub reload: Option<f64>,
    /// Processor time for one fault, in seconds.
    pub handling_s: f64,
    /// Waiting for one page, in seconds.
    pub wait_s: f64,
}

/// The demands of the mean interaction of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Demands {
    /// Processor time in user mode.
    pub user_s: Figure,
    /// Processor time in the kernel, without faults that wait for a page.
    pub system_s: Figure,
    /// By device.
    pub paged: Vec<Paged>,
    /// What the script says.
    pub usual: Usual,
}

/// The mean interaction of a configuration: each counts as often as the script has it, whatever a short run had. With twice
/// the standard error to either side. `None` if one of them did not end at all.
pub fn mean_of(it: &Measured, usual: &Usual, of: fn(&Finished) -> f64) -> Option<Figure> {
    let total: f64 = usual.weights.iter().sum();
    let (mut value, mut variance) = (0.0, 0.0);
    for (place, weight) in usual.weights.iter().enumerate() {
        let done = it.finished.iter().filter(|it| it.interaction == place && it.outcome == Outcome::Done);
        let values: Vec<f64> = done.map(of).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let scatter = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        value += weight / total * mean;
        variance += (weight / total).powi(2) * scatter / count;
    }
    let reach = 2.0 * variance.sqrt();
    (value.is_finite() && reach.is_finite())
        .then(|| Figure { value, interval: Some(((value - reach).max(0.0), value + reach)) })
}

/// The share of memory that decides on faults: that of a user where pages stay while it thinks, else that of an eligible one.
pub fn share(it: &Configuration, usual: &Usual) -> f64 {
    let among = if usual.stays { it.users } else { it.most_eligible() };
    it.memory.map_or(f64::INFINITY, |bytes| bytes as f64 / f64::from(among.max(1)))
}

impl Demands {
    /// The demands that these configurations show, and others in which all pages had been pushed out of memory before each
    /// interaction. `None` if nothing ended in them.
    pub fn of(measured: &[&Measured], flushed: &[&Measured], usual: &Usual) -> Option<Demands> {
        let usable: Vec<&Measured> =
            measured.iter().copied().filter(|it| mean_of(it, usual, |it| it.user_s).is_some()).collect();
        let plain: Vec<&Measured> =
            usable.iter().copied().filter(|it| it.configuration.relief == Relief::None).collect();
        if plain.is_empty() {
            return None;
        }
        let user_s = weighted(&plain, usual, |it| it.user_s)?;
        let mut devices: Vec<PageDevice> = plain.iter().map(|it| it.configuration.device).collect();
        devices.sort();
        devices.dedup();
        let paged: Vec<Paged> = devices.into_iter().map(|device| of_device(device, &plain, flushed, usual)).collect();
        // What the kernel took beyond the faults, as these are handled.
        let handling = |it: &Measured| {
            paged.iter().find(|of| of.device == it.configuration.device).map_or(0.0, |of| of.handling_s)
        };
        let (mut rest, mut count) = (0.0, 0.0);
        for it in &plain {
            let (system, faults) = (mean_of(it, usual, |it| it.system_s)?, mean_of(it, usual, |it| it.major_faults)?);
            rest += (system.value - faults.value * handling(it)).max(0.0) * it.finished.len() as f64;
            count += it.finished.len() as f64;
        }
        Some(Demands { user_s, system_s: (rest / count).into(), paged, usual: usual.clone() })
    }

    /// Faults of an interaction in this configuration. Pages that stay while their user thinks leave when all users'
    /// pages together do not fit; but no more of them can be missed than an interaction refers to, unless those of the
    /// eligible alone do not fit.
    pub fn faults(&self, it: &Configuration) -> Figure {
        let Some(paged) = self.paged.iter().find(|paged| paged.device == it.device) else { return 0.0.into() };
        let whole = paged.at(share(it, &self.usual));
        let Some(reload) = paged.reload.filter(|_| self.usual.stays) else { return whole };
        let eligible = it.memory.map_or(f64::INFINITY, |bytes| bytes as f64 / f64::from(it.most_eligible().max(1)));
        let least = paged.at(eligible);
        let most = if least.value > reload { least } else { reload.into() };
        if whole.value > most.value { most } else { whole }
    }
}

impl Paged {
    /// Faults at this share: between two points interpolated on logarithms, beyond them as at the nearest.
    fn at(&self, share: f64) -> Figure {
        let above = self.curve.partition_point(|point| point.share < share);
        match (above.checked_sub(1).and_then(|below| self.curve.get(below)), self.curve.get(above)) {
            (None, None) => 0.0.into(),
            (Some(one), None) | (None, Some(one)) => one.faults,
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
    for it in all {
        let weight = it.finished.len() as f64;
        let mean = mean_of(it, usual, of)?;
        value += weight * mean.value;
        variance += (weight * mean.interval().half() / 2.0).powi(2);
        weights += weight;
    }
    let reach = 2.0 * variance.sqrt() / weights;
    let value = value / weights;
    Some(Figure { value, interval: Some(((value - reach).max(0.0), value + reach)) })
}

/// What the configurations with this device say of it.
fn of_device(device: PageDevice, all: &[&Measured], flushed: &[&Measured], usual: &Usual) -> Paged {
    let plain: Vec<&Measured> = all.iter().copied().filter(|it| it.configuration.device == device).collect();
    let flushed = flushed.iter().filter(|it| it.configuration.device == device);
    let point = |it: &&Measured| {
        let faults = mean_of(it, usual, |it| it.major_faults)?;
        Some(FaultsAt { share: share(&it.configuration, usual), faults, weight: it.finished.len() as f64 })
    };
    let mut points: Vec<FaultsAt> = plain.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.share.total_cmp(&b.share));
    let reload = flushed.filter_map(|it| mean_of(it, usual, |it| it.major_faults));
    Paged {
        device,
        curve: falling(points),
        reload: reload.map(|it| it.value).reduce(f64::max),
        handling_s: handling(&plain, usual),
        wait_s: wait(&plain, usual),
    }
}

/// Joins neighbours that rise with memory to their mean (pool adjacent violators), and equal shares.
fn falling(points: Vec<FaultsAt>) -> Vec<FaultsAt> {
    let mut groups: Vec<Vec<FaultsAt>> = Vec::new();
    let mean = |group: &[FaultsAt], of: fn(&FaultsAt) -> f64| {
        group.iter().map(|it| of(it) * it.weight).sum::<f64>() / group.iter().map(|it| it.weight).sum::<f64>()
    };
    for point in points {
        groups.push(vec![point]);
        while let [.., before, last] = groups.as_slice() {
            let same = last[0].share <= before[before.len() - 1].share * 1.001;
            if !same && mean(before, |it| it.faults.value) >= mean(last, |it| it.faults.value) {
                break;
            }
            let last = groups.pop().unwrap_or_default();
            groups.last_mut().into_iter().for_each(|before| before.extend(&last));
        }
    }
    let joined = |group: Vec<FaultsAt>| {
        let value = mean(&group, |it| it.faults.value);
        let ends = (mean(&group, |it| it.faults.interval().low), mean(&group, |it| it.faults.interval().high));
        let all: Vec<FaultsAt> =
            group.iter().map(|it| FaultsAt { faults: Figure { value, interval: Some(ends) }, ..*it }).collect();
        all
    };
    let mut curve: Vec<FaultsAt> = groups.into_iter().flat_map(joined).collect();
    curve.dedup_by(|next, before| next.share <= before.share * 1.001);
    curve
}

/// Processor time of the kernel for one fault: the slope of the kernel's time over faults, where these differ enough;
/// else what was measured beforehand.
fn handling(all: &[&Measured], usual: &Usual) -> f64 {
    let pairs = all.iter().filter_map(|it| {
        Some((
            mean_of(it, usual, |it| it.major_faults)?.value,
            mean_of(it, usual, |it| it.system_s)?.value,
            it.finished.len() as f64,
        ))
    });
    let pairs: Vec<(f64, f64, f64)> = pairs.collect();
    let weights: f64 = pairs.iter().map(|it| it.2).sum();
    let mean = |of: &dyn Fn(&(f64, f64, f64)) -> f64| pairs.iter().map(|it| of(it) * it.2).sum::<f64>() / weights;
    let (x, y) = (mean(&|it| it.0), mean(&|it| it.1));
    let spread = mean(&|it| (it.0 - x).powi(2));
    let slope = mean(&|it| (it.0 - x) * (it.1 - y)) / spread;
    let beforehand = all.iter().map(|it| it.fault.major_s).fold(0.0, f64::max);
    if pairs.len() > 2 && spread.sqrt() > 0.2 * x.max(1.0) && slope > 0.0 { slope } else { beforehand }
}

/// Waiting for one page: what a user alone waits beyond its processor time; else what was measured beforehand.
fn wait(all: &[&Measured], usual: &Usual) -> f64 {
    /// Fewer faults tell nothing of the time for one.
    const ENOUGH: f64 = 20.0;
    let alone = all.iter().filter(|it| it.configuration.users == 1).filter_map(|it| {
        let faults = mean_of(it, usual, |it| it.major_faults)?.value;
        let beyond = mean_of(it, usual, |it| it.response_s - it.wait_s - it.user_s - it.system_s)?.value;
        (faults > ENOUGH).then_some((beyond.max(0.0), faults))
    });
    let (beyond, faults) = alone.fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    if faults > 0.0 { beyond / faults } else { all.iter().map(|it| it.fault.wait_s).fold(0.0, f64::max) }
}
