//! How a cost is measured: speed check, batches, rounds in fresh processes, doubts. Names no operation.
//!
//! [`measure()`] takes a [`Plan`]: the items to measure and the settings. It starts launchers, which fork one process per
//! round. A round takes batches between two speed checks. The result is a [`Measurement`]: costs, skips and noise.
//!
//! ```no_run
//! use measure::{MeasureError, Plan, measure};
//!
//! fn print_costs(plan: Plan<'_>) -> Result<(), MeasureError> {
//!     let measured = measure(plan, &mut |progress| eprintln!("{}", progress.item))?;
//!     for cost in &measured.costs {
//!         println!("{}: {}", cost.name(), cost.quoted());
//!     }
//!     Ok(())
//! }
//! ```

mod accounts;
mod batch;
mod doubts;
mod entry;
mod error;
mod launcher;
mod plan;
mod quiet;
mod result;
mod round;
mod run;
mod schedule;
mod scratch;
mod signals;
mod speed;
mod watch;

pub use error::MeasureError;
pub use launcher::{LAUNCH, serve_rounds};
pub use plan::{Measurement, Plan, Progress};
pub use quiet::Width;
pub use run::measure;
