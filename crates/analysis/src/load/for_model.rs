//! What an experiment hands to `howslow model`: the demands as a system, and what was measured, to be compared.

use super::configuration::{Configuration, Relief};
use super::demands::{Demands, mean_of};
use super::figures::row;
use super::forecast::Forecasts;
use super::measured::{Finished, Measured};
use super::system::system;
use crate::by_key;
use crate::model::{Figure, MeasuredMeans, ModelFile};

impl Forecasts {
    /// What `howslow model` reads of them, with what was measured since; `None` if there are no demands.
    pub fn for_model(&self, measured: &[Measured]) -> Option<ModelFile> {
        let all: Vec<Configuration> = self.before.iter().map(|forecast| forecast.configuration.clone()).collect();
        self.demands.as_ref().map(|demands| model_file(demands, &all, measured))
    }
}

/// The demands as a file for `howslow model`: the system of the first of these configurations, the same with every other page
/// device, and what was measured without relief.
pub fn model_file(demands: &Demands, all: &[Configuration], measured: &[Measured]) -> ModelFile {
    let by_device = by_key(all.iter().map(|configuration| (configuration.device, configuration)));
    let mut systems = by_device.iter().map(|(_, configurations)| system(demands, configurations[0]));
    let plain = measured
        .iter()
        .filter(|measured| measured.configuration.relief == Relief::None && measured.configuration.repetition == 1);
    ModelFile {
        system: systems.next(),
        alternative: systems.collect(),
        configuration: None,
        measured: plain.filter_map(|measured| of_measured(demands, measured)).collect(),
    }
}

/// A measured configuration as the model takes it; `None` if an interaction of the script did not end, or takes longer than was
/// measured.
fn of_measured(demands: &Demands, measured: &Measured) -> Option<MeasuredMeans> {
    let mean = |of: fn(&Finished) -> f64| mean_of(measured, &demands.usual, of);
    let row = row(measured);
    let faults = mean(|finished| finished.major_faults)?;
    let handling =
        demands.of_device(measured.configuration.device).map_or(0.0, |paged| paged.handling_s) * faults.value;
    let system_s = mean(|finished| finished.system_s)?.value;
    Some(MeasuredMeans {
        configuration: system(demands, &measured.configuration).configuration(),
        interactions: row.response.count as u64,
        user_s: mean(|finished| finished.user_s)?,
        system_s: (system_s - handling).max(0.0).into(),
        handling_s: Some(handling.min(system_s).into()),
        faults,
        page_wait_s: None,
        eligibility_wait_s: mean(|finished| finished.wait_s),
        page_device_utilization: row.device.map(Figure::from),
        throughput: Some(row.throughput.into()),
        response_s: mean(|finished| finished.response_s),
        response_p95_s: row.response.percentiles[2].response.map(Figure::from),
        multiprogramming_idle: Some(row.idle.multiprogramming),
        non_multiprogramming_idle: Some(row.idle.non_multiprogramming),
        zero_idle: Some(row.idle.zero),
    })
}
