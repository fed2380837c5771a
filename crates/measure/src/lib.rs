//! How a cost is taken: clock, speed check, batches, rounds in fresh processes, doubts. Names no operation.

mod batch;
mod children;
mod clock;
mod device;
mod entry;
mod failure;
mod guard;
mod launcher;
pub mod machine;
mod operation;
mod pauses;
mod quiet;
mod repeat;
mod result;
mod round;
mod schedule;
mod scratch;
mod setting;
mod speed;
mod stopwatch;
mod take;
mod topology;
mod watch;

pub use device::DeviceWrites;
pub use failure::Failure;
pub use guard::apart;
pub use operation::{Axis, Choice, Need, Operation, TermOf, count, size, term, word};
pub use pauses::Pauses;
pub use quiet::Best;
pub use repeat::{Loop, opaque, repeat};
pub use setting::{Doubts, Partner, Setting, Tally, pin};
pub use stopwatch::{Stopwatch, Took};
pub use take::{Item, MeasureError, Order, Progress, Taken, take};
