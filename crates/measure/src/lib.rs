//! How a cost is taken: clock, speed check, batches, rounds in fresh processes, doubts. Names no operation.

mod accounts;
mod batch;
mod children;
mod clock;
mod device;
mod doubts;
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
pub use launcher::{LAUNCH, serve_rounds};
pub use operation::{Axis, Choice, Need, Operation, TermOf, count, size, term, word};
pub use pauses::Pauses;
pub use quiet::Width;
pub use repeat::{Loop, opaque, repeat};
pub use setting::{Doubts, Partner, Setting, Tally, pin};
pub use stopwatch::{Stopwatch, Took};
pub use take::{Item, MeasureError, Order, Progress, Taken, take};

/// The number of this CPU's kind of core: 0 for all where there is one kind, else 0 for the strongest. A run is of one kind.
pub fn kind_of_core(cpu: u32) -> u32 {
    topology::Topology::here().kind_of(cpu)
}
