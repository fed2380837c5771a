//! Which way to read a file and how far ahead to request it, measured on the file itself, then recommended; and where one
//! operation overtakes another. Returns data
//! and typed errors, reports progress by a callback, and prints nothing.
//!
//! ```no_run
//! use std::{path::Path, time::Duration};
//!
//! let request = howslow_instruments::advise::TuningRequest {
//!     path: Path::new("data.bin"),
//!     name: None,
//!     rate: None,
//!     budget: Duration::from_secs(30),
//! };
//! let tuning = howslow_instruments::advise::tuning(&request, &mut |progress| eprintln!("{}", progress.item))?;
//! println!("request {} bytes, {} ahead", tuning.recommended.quantity, tuning.recommended.distance);
//! # Ok::<(), howslow_instruments::advise::AdviseError>(())
//! ```

mod candidates;
mod crossing;
mod device;
mod error;
mod limits;
mod method;
mod pass;
mod passes;
mod recommend;
mod scratch;
mod stretch;
mod surface;
mod target;
mod tune;
mod ways;

pub use crossing::{By, Crossover, CrossoverError, CrossoverRequest, crossover};
pub use error::AdviseError;
pub use recommend::{AdviceRequest, ReadOrder, advice};
pub use scratch::tuning_on_scratch;
pub use tune::{TuningRequest, tuning};
