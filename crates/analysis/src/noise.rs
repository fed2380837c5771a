//! A spinning task's gaps: how long they are, which come back with a period, what they are charged to. Knows nothing of how
//! gaps are recorded.

mod account;
mod charge;
mod gap;
mod periods;
mod recording;
mod windows;

pub use account::{Account, Cause, Clock, Counted, Longest, Repeated, Source, account};
pub use charge::{Charges, Event, Mark, UNEXPLAINED, charge};
pub use gap::{Gap, Window};
pub use periods::{Series, periods};
pub use recording::Recording;
pub use windows::{Line, attribute};
