//! A spinning task's gaps: how long they are, which come back with a period, what they are charged to. Knows nothing of how
//! gaps are recorded.

mod account;
mod cause;
mod charge;
mod gap;
mod periods;
mod recording;
mod windows;

pub use account::{Clock, CountedInterrupts, CpuAccount, Longest, RepeatedSeries, account};
pub use cause::NoiseCause;
pub use charge::{Charges, Event, Mark, UNEXPLAINED, charge};
pub use gap::{Gap, SpinWindow};
pub use periods::{Series, periods};
pub use recording::Recording;
pub use windows::{Line, attribute};
