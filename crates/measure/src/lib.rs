//! How a cost is taken: speed check, batches, rounds in fresh processes, doubts. Names no operation.
//!
//! The caller hands over the operations and the settings, and gets costs, skips and the noise of the machine.
//!
//! ```no_run
//! use howslow_measure::{Plan, measure};
//! use operation::{Item, Operation};
//!
//! fn costs(operation: &'static Operation) -> Result<Vec<record::Cost>, howslow_measure::MeasureError> {
//!     let items = operation.points(true).into_iter().map(|point| Item { operation, point }).collect();
//!     let plan = Plan {
//!         items,
//!         find: |_| None,
//!         crosses: |_| false,
//!         settings: record::Settings { rounds: 6, precision: 0.01, budget_s: 10.0, ..Default::default() },
//!         tailed: 0,
//!         paired: 0,
//!         width: None,
//!         program: None,
//!         scratch_root: std::path::Path::new("/tmp"),
//!         check: None,
//!     };
//!     Ok(measure(plan, &mut |progress| eprintln!("{}", progress.item))?.costs)
//! }
//! ```

mod accounts;
mod alternate;
mod arrivals;
mod batch;
mod doubts;
mod entry;
mod error;
mod hidden;
mod launcher;
mod plan;
mod quiet;
mod quiet_core;
mod result;
mod round;
mod run;
mod schedule;
mod scratch;
mod signals;
mod speed;
mod tails;
mod watch;

pub use error::MeasureError;
pub use launcher::{LAUNCH, serve_rounds};
pub use plan::{Measurement, Plan, Progress};
pub use quiet::Width;
pub use quiet_core::{CoreMoment, QuietCore};
pub use run::measure;
pub use scratch::Scratch;
pub use signals::Signals;
