//! The family `terminal`: what a pseudo-terminal costs its programs and the emulator that drains it. The user's terminal is
//! never touched.

pub mod drained;
pub(crate) mod echo;
pub(crate) mod input;
pub(crate) mod output;
pub mod pair;
pub mod path;
pub mod paths;
pub(crate) mod screen;
pub(crate) mod session;

use operation::Operation;
use record::Estimate;

use crate::kit::BASE;

/// What all terminals have in common: a kernel thread, on whichever CPU is free, carries the bytes from one end to the other. So
/// there are moments in which none of the operation's own tasks runs, and a quiet core of ours says nothing of that CPU.
const TERMINAL: Operation = BASE.quoted(Estimate::Typical).waits(|_| true).follows_clock(|_| false);
