//! Tasks: processes and threads, the signals between them, the switches from one to the other, what the scheduler gives
//! each, how much several get done together, and waiting for what was asked.

pub(crate) mod asynchronous;
pub(crate) mod level;
pub(crate) mod process;
pub(crate) mod scaling;
pub(crate) mod scheduler;
pub(crate) mod signal;
pub(crate) mod switch;
pub(crate) mod thread;
