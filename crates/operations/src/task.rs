//! Tasks: processes and threads, the signals between them, the switches from one to the other, and waiting for what was
//! asked.

pub(crate) mod asynchronous;
pub(crate) mod process;
pub(crate) mod signal;
pub(crate) mod sleep;
pub(crate) mod switch;
pub(crate) mod thread;
