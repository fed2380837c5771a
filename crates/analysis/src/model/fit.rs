//! Demands and the fault curve from measured configurations.

mod curve;
mod demands;
mod found;
mod means;

use super::error::ModelError;
use super::measured::MeasuredMeans;

pub use found::{CurveFit, Fit};

/// Demands and the fault curve from measured configurations: best of all one user alone over several memory limits, but any will do.
///
/// CPU times are the mean over all configurations. If the handling of faults was not measured, it is the slope of the system time over
/// faults. Other waiting is what a user alone waits beyond CPU and pages. Each configuration gives a point of the fault curve at its share
/// of memory; the points of several users are corrected until the model gives the faults that were measured.
///
/// # Errors
/// If there are no configurations, or they leave the execution time open.
pub fn fit(measured: &[MeasuredMeans]) -> Result<Fit, ModelError> {
    let used: Vec<&MeasuredMeans> =
        measured.iter().filter(|means| means.interactions > 0 && means.configuration.users > 0).collect();
    if used.is_empty() {
        return Err(ModelError::Undetermined {
            what: "anything".into(),
            remedy: "measure at least one configuration, best one user alone with enough memory".into(),
        });
    }
    let mut fit = demands::cpu(&used)?;
    demands::devices(&used, &mut fit);
    curve::fit(&used, &mut fit)?;
    demands::channels(&used, &mut fit);
    Ok(fit)
}
