//! Models of a machine with users, too little memory, CPUs and a page device: parameters in, prediction out. Pure arithmetic.
//!
//! Each of `users` thinks, requests one interaction and waits for its end. At most `eligible` interactions hold memory at once; the
//! others queue, first come first served. An interaction computes until it faults, waits for the page, computes again, until it has done
//! its work. Fewer bytes for each eligible interaction mean more faults.
//!
//! How to use it
//! 1. Describe a [`System`] (TOML or in code) and call [`predict`]: throughput, response, how the CPUs are used, three kinds of idle time.
//! 2. Or measure configurations, put each into a [`MeasuredMeans`], and [`fit`] them: first of all one user alone over several memory
//!    limits. [`Fit::system`] then gives the [`System`] of any other [`MeasuredConfiguration`], measured or not.
//! 3. [`predict_interval`] carries the intervals of the parameters to the prediction. [`bounds`] gives what no system of these demands
//!    exceeds, and [`simulate()`] plays the same system event by event, with percentiles of the response time.
//! 4. [`questions`] answers how many users a system carries, what a change is worth, and what limits it.
//!
//! ```
//! use howslow_analysis::model::{FaultCurve, System, predict};
//!
//! let system = System {
//!     users: 20,
//!     think_s: 10.0.into(),
//!     user_s: 0.5.into(),
//!     eligible: Some(4),
//!     memory_bytes: Some(64 << 20),
//!     faults: FaultCurve::Saltzer { s_per_byte: (0.02 / (64 << 20) as f64).into() },
//!     ..System::default()
//! };
//! let prediction = predict(&system)?;
//! let busy = prediction.cpu.user + prediction.cpu.system + prediction.cpu.faults;
//! assert!((busy + prediction.cpu.idle() - 1.0).abs() < 1e-9);
//! # Ok::<(), howslow_analysis::model::ModelError>(())
//! ```

pub mod answer;
mod bounds;
mod chain;
pub mod depth;
mod error;
mod faults;
mod figure;
mod file;
mod fit;
mod hierarchy;
mod measured;
mod prediction;
pub mod questions;
mod rates;
mod simulate;
mod solve;
mod steady;
mod system;
mod uncertain;

pub use bounds::bounds;
pub use error::ModelError;
pub use faults::{CurvePoint, FaultCurve};
pub use figure::Figure;
pub use file::ModelFile;
pub use fit::{CurveFit, Fit, fit};
pub use measured::{MeasuredConfiguration, MeasuredMeans};
pub use prediction::{Bounds, CpuShares, Method, Percentiles, PredictionInterval, Simulated, SteadyState};
pub use simulate::{Ended, Log, Request, Script, SimulationSettings, play, simulate};
pub use solve::{predict, predict_by_hierarchy, predict_exactly};
pub use system::{Kind, PageSource, Spread, System};
pub use uncertain::{draws, predict_interval};

#[cfg(test)]
mod tests;
