//! How a cost is measured: speed check, batches, rounds in fresh processes, doubts. Names no operation.

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
