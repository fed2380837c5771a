//! What a fit finds, and the system of a configuration with it.

use serde::{Deserialize, Serialize};

use crate::model::error::ModelError;
use crate::model::faults::FaultCurve;
use crate::model::figure::Figure;
use crate::model::measured::MeasuredConfiguration;
use crate::model::system::{PageSource, Spread, System};

/// What the measurements say of the interactions and devices, apart from the configuration that they ran in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// CPU time of an interaction in user mode, in seconds.
    pub user_s: Figure,
    /// CPU time in the system without the handling of faults, in seconds.
    pub system_s: Figure,
    /// Waiting that is neither for a CPU nor for a page nor for eligibility, in seconds.
    pub other_wait_s: Figure,
    /// CPU time for handling one fault on the device where that takes least, in seconds. What another device takes beyond it is its
    /// [`PageSource::cpu_s`].
    pub handling_s: Figure,
    /// Faults by the memory of an interaction.
    pub faults: FaultCurve,
    /// Where pages stay while users think: the most faults of an interaction because its pages left meanwhile. The caller knows.
    pub reload_faults: Option<Figure>,
    /// The part of memory that all interactions use in common, in bytes.
    pub shared_bytes: u64,
    /// The page devices of the measurements, by name.
    pub devices: Vec<PageSource>,
    /// How think times are spread, for the simulation. The caller knows; exponential unless it says so.
    pub think_spread: Spread,
    /// How the work of an interaction is spread, for the simulation. The caller knows; exponential unless it says so.
    pub work_spread: Spread,
    /// Formulas fitted to the fault curve, with their misfit.
    pub formulas: Vec<CurveFit>,
    /// What was assumed because it was not measured, in sentences.
    pub notes: Vec<String>,
}

/// A formula fitted to the points of a fault curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveFit {
    /// The formula.
    pub curve: FaultCurve,
    /// By which factor it typically misses a point: 1.3 is 30 % too many or too few.
    pub misfit: f64,
}

impl Fit {
    pub fn device(&self, name: &str) -> Option<&PageSource> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// The system of a configuration, with the fitted demands.
    ///
    /// # Errors
    /// If the page device was not measured and the configuration faults, or memory is unlimited while the fault curve needs it.
    pub fn system(&self, configuration: &MeasuredConfiguration) -> Result<System, ModelError> {
        let known = self.device(&configuration.page_device).cloned();
        let faults = match (&self.faults, configuration.memory_bytes) {
            // Unlimited memory is as good as the most that was measured.
            (FaultCurve::Points(points), None) => FaultCurve::Every(
                points.last().map_or(f64::INFINITY, |last| 1.0 / last.per_s.value.max(1e-9)).min(1e12).into(),
            ),
            (curve, _) => curve.clone(),
        };
        if known.is_none() && !self.devices.is_empty() && configuration.memory_bytes.is_some() {
            let names: Vec<&str> = self.devices.iter().map(|device| device.name.as_str()).collect();
            return Err(ModelError::Undetermined {
                what: format!("the page device '{}'; they have {}", configuration.page_device, names.join(", ")),
                remedy: "measure one configuration with it".into(),
            });
        }
        Ok(System {
            users: configuration.users,
            think_s: configuration.think_s.into(),
            think_spread: self.think_spread,
            eligible: configuration.eligible,
            cpus: configuration.cpus.max(1),
            memory_bytes: configuration.memory_bytes,
            shared_bytes: self.shared_bytes,
            pages_stay: configuration.pages_stay,
            reload_faults: self.reload_faults,
            user_s: self.user_s,
            system_s: self.system_s,
            other_wait_s: self.other_wait_s,
            work_spread: self.work_spread,
            kinds: Vec::new(),
            faults,
            handling_s: self.handling_s,
            handling_crowding: Figure::default(),
            page_device: known
                .unwrap_or_else(|| PageSource { name: configuration.page_device.clone(), ..PageSource::default() }),
        })
    }
}
