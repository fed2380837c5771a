//! The live bill of a system. [`State`] knows what is shown and what keys change; [`draw`] makes a frame of it. Counts nothing,
//! prices nothing and does not touch the terminal: intervals and keys go in, frames come out.

mod about;
mod column;
mod frame;
mod key;
mod memory;
mod page;
mod state;

pub use about::{About, View};
pub use column::Column;
pub use frame::draw;
pub use key::{Key, Keys};
pub use page::page;
pub use state::{Action, Settings, State};

#[cfg(test)]
mod tests;
