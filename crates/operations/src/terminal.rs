//! The family `terminal`: what a pseudo-terminal costs its programs and the emulator that drains it. The user's own terminal is
//! never touched.

mod drained;
mod echo;
mod input;
mod output;
mod pair;
mod screen;
mod session;

use operation::Operation;

/// All of them, by what they are about.
pub(crate) const OUTPUT: &[Operation] = output::OPERATIONS;
pub(crate) const INPUT: &[Operation] = input::OPERATIONS;
pub(crate) const ECHO: &[Operation] = echo::OPERATIONS;
pub(crate) const SESSION: &[Operation] = session::OPERATIONS;
pub(crate) const SCREEN: &[Operation] = screen::OPERATIONS;

/// What all terminals have in common: kernel threads carry the bytes from one end to the other, so that there are moments in which
/// none of the operation's own tasks runs.
const TERMINAL: Operation = Operation { waits: |_| true, follows_clock: |_| false, ..crate::DEFAULT };
