//! How a cost is taken: speed check, batches, rounds in fresh processes, doubts. Names no operation.
//!
//! The caller hands over the operations and the settings, and gets a run.
//!
//! ```no_run
//! use howslow_measure::{MeasureError, Plan, measure, usual_settings};
//! use operation::{Item, Operation, Registry};
//! use record::{Run, Settings};
//!
//! fn run(operation: &'static Operation) -> Result<Run, MeasureError> {
//!     let plan = Plan {
//!         items: operation.points(true).into_iter().map(|point| Item { operation, point }).collect(),
//!         registry: Registry::EMPTY,
//!         machine: system::machine::describe(),
//!         settings: Settings { budget_s: 10.0, ..usual_settings() },
//!         tailed: 0,
//!         paired: 0,
//!         width: None,
//!         program: None,
//!         scratch_root: std::path::Path::new("/tmp"),
//!         check: None,
//!         recorded: None,
//!     };
//!     Ok(measure(plan, &mut |progress| eprintln!("{}", progress.item))?.run)
//! }
//! ```
#![warn(missing_docs)]

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
mod replay;
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
pub use plan::{Measurement, Plan, Progress, usual_settings};
pub use quiet::Width;
pub use quiet_core::{CoreMoment, QuietCore};
pub use run::{measure, run_id};
pub use scratch::Scratch;
pub use signals::Signals;
