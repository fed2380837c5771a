//! What an operation is: the block, its axes, its loop, its setting and the ways it can fail. Knows no particular
//! operation, and nothing of how often or how well one is timed.
//!
//! An [`Operation`] is one block of data with a function `prepare`. That function gets a [`Setting`] and returns a
//! [`Loop`], which does the work a given number of times. A problem is a [`Failure`]: a skip or a lost round.
//!
//! ```
//! use operation::{Failure, repeat};
//!
//! let mut work = repeat(|| {
//!     std::fs::metadata("/")?;
//!     Ok(())
//! });
//! work.perform(100)?;
//! # Ok::<(), Failure>(())
//! ```

mod axis;
mod clock;
mod device;
mod failure;
mod operation;
mod pauses;
mod repeat;
mod setting;
mod stopwatch;
mod usage;

pub use axis::{Axis, PartnerPlace, Role, bytes, count, cpus, partner, size, word};
pub use clock::Clock;
pub use device::{Device, DeviceWrites, between, together};
pub use failure::Failure;
pub use operation::{Item, Need, Operation, TermOf, term};
pub use pauses::{Paused, Pauses};
pub use record::Value;
pub use repeat::{Loop, opaque, repeat};
pub use setting::{Doubts, Partner, Setting, Tally, pin};
pub use stopwatch::{Stopwatch, Took};
pub use usage::Usage;
