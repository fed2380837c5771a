//! Every operation that howslow can measure. An operation is one block in one file; files stand in folders by what their
//! operations are about, and [`FAMILIES`] lists them all. This crate does not know how often or how well an operation is
//! timed.
//!
//! ```
//! use operation::Setting;
//!
//! let operation = howslow_catalogue::find("syscall.getppid").expect("an operation of this name");
//! let setting = Setting::new(record::Point::default(), std::env::temp_dir(), 0, None, 1);
//! let mut calls = operation.set_up(&setting)?;
//! calls.perform(1000)?;
//! # Ok::<(), operation::Failure>(())
//! ```

mod accounting;
mod compute;
mod contention;
pub mod engines;
mod file;
mod kit;
mod memory;
mod message;
pub mod mode;
mod names;
mod processor;
mod registry;
mod syscall;
mod task;
pub mod terminal;
mod user;

pub use accounting::{Call, every_call, timing};
pub use file::{reading, residence};
pub use kit::program::program as program_that_does_nothing;
pub use kit::ring::ring;
pub use names::other_names;
pub use registry::{FAMILIES, Family, all, crosses, find, heading};
pub use user::{HUNG_REMEDY, bench, command, routine};

pub const REGISTRY: operation::Registry =
    operation::Registry { find, crosses, heading, position: |id| all().position(|operation| operation.id == id) };
