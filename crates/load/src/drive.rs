//! One configuration driven: users think, request, queue for eligibility, are served and counted. One thread waits for all of them.

mod counts;
mod drawn;
mod gate;
mod measured;
mod person;
mod run;
mod script;
mod tally;

pub use counts::{Setting, cpus_of};
pub use drawn::{Draw, seed_of};
pub use run::{Ending, drive};
pub use script::Script;
