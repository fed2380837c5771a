//! What an operation is: the block, its axes, its loop, its setting and the ways it can fail. Knows no operation, and nothing
//! of how often or how well one is timed.
//!
//! ```
//! use howslow_operation::{Operation, count, numbers, repeat};
//!
//! const SUM: Operation = Operation::DEFAULT
//!     .named("example.sum", "add up numbers")
//!     .axes(&[count("numbers", numbers![10, 1000])])
//!     .prepare(|setting| {
//!         let numbers: Vec<u64> = (0..setting.number("numbers")?).collect();
//!         Ok(repeat(move || {
//!             std::hint::black_box(numbers.iter().sum::<u64>());
//!             Ok(())
//!         }))
//!     });
//! assert_eq!(SUM.points(false)[1].to_string(), "@numbers=1000");
//! ```

mod axis;
mod builder;
mod clock;
pub mod device;
mod failure;
mod operation;
mod pauses;
mod registry;
mod repeat;
mod scheduling;
mod setting;
mod stopwatch;
mod tally;
mod usage;

pub use axis::{Axis, Bounds, ONE_CPU, PartnerPlace, Refused, Role, Step, bytes, count, cpus, partner, size, word};
pub use clock::Clock;
pub use device::{Device, DeviceWrites};
pub use failure::Failure;
pub use operation::{Item, Need, Operation, Prepare, TermOf, term};
pub use pauses::Pauses;
pub use record::Value;
pub use registry::Registry;
pub use repeat::{Loop, in_a_function, opaque, repeat};
pub use scheduling::Scheduling;
pub use setting::{Doubts, Partner, Setting, pin};
pub use stopwatch::{Stopwatch, Took};
pub use system::machine::processor_time;
pub use tally::Tally;
pub use usage::Usage;

/// Values of an axis that are numbers: `numbers![1, 64]`.
#[macro_export]
macro_rules! numbers {
    ($($number:expr),+ $(,)?) => { &[$($crate::Value::Number($number)),+] };
}

/// Values of an axis that are words: `words!["same", "other"]`.
#[macro_export]
macro_rules! words {
    ($($word:expr),+ $(,)?) => { &[$($crate::Value::Word($word)),+] };
}
