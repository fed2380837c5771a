//! The family `terminal`: what a pseudo-terminal costs its programs and the emulator that drains it. The user's own terminal is
//! never touched.

mod drained;
pub(crate) mod echo;
pub(crate) mod input;
pub(crate) mod output;
mod pair;
pub(crate) mod screen;
pub(crate) mod session;

use operation::Operation;

use crate::kit::baseline::DEFAULT;

/// What all terminals have in common: kernel threads carry the bytes from one end to the other, so that there are moments in which
/// none of the operation's own tasks runs.
const TERMINAL: Operation = Operation { waits: |_| true, follows_clock: |_| false, ..DEFAULT };
