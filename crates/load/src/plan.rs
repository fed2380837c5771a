//! A plan: the script that each user follows, and the axes of the experiment.

mod axes;
mod quantity;
mod script;
mod shipped;
mod whole;

pub use axes::{Axes, device, relief};
pub use quantity::{Arrivals, Memory, Size, Time};
pub use script::{InputFile, Interaction, Job, Think};
pub use shipped::{SHIPPED, shipped};
pub use whole::{FLUSH, Plan, PlanError};
