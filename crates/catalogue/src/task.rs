//! Tasks: processes and threads, signals between them, switches from one to another, and waiting for requests.

pub(crate) mod asynchronous;
pub(crate) mod level;
pub(crate) mod process;
pub(crate) mod scaling;
pub(crate) mod scheduler;
pub(crate) mod signal;
pub(crate) mod sleep;
pub(crate) mod switch;
pub(crate) mod thread;
