//! The users' processes: each has a supervisor, which starts it again when the kernel has killed it, and a socket to the
//! driver. They do nothing but what the driver orders.

mod command;
mod crew;
mod job;
mod serve;
mod wire;

pub use command::find;
pub use crew::{Users, user_folder};
pub use job::{Area, Spin};
pub use wire::{Report, nanoseconds, receive_number, send_number};

pub(crate) use serve::Step;
pub use serve::Work;
