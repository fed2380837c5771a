//! Where the users work: their control group, their page device, and the ledger of what was made, so that the next start
//! can remove what a killed one has left.

mod controllers;
mod device;
mod entry;
mod group;
mod header;
mod ledger;
mod ours;
mod sweep;
mod text;

pub use controllers::Controllers;
pub use device::Device;
pub use group::Group;
pub use ledger::{Ledger, folders as ledger_folders};
pub use sweep::Remains;
pub(crate) use text::{field, read, refaults};
