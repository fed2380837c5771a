//! The live bill of a system. [`State`] knows what is shown and what keys change; [`draw`] makes a frame of it. Counts nothing,
//! prices nothing and does not touch the terminal: intervals and keys go in, frames come out.
//!
//! ```
//! use top::{About, Command, Key, Settings, State};
//!
//! let mut state = State::new(About::default(), Settings::default());
//! state.update(analysis::bill::Stretch::default());
//! assert_eq!(state.press(Key::Char('q')), Some(Command::Quit));
//! ```
#![forbid(unsafe_code)]

mod about;
mod column;
mod key;
mod memory;
mod page;
mod screen;
mod state;

pub use about::{About, View};
pub use column::Column;
pub use key::{Key, Keys};
pub use page::page;
pub use screen::draw;
pub use state::{Command, Settings, State};

#[cfg(test)]
mod tests;
