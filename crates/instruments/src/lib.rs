//! Instruments of their own beside the costs: each measures, then answers. [`interference`] between kinds of work, the
//! [`noise`] of a CPU, and the best way to read a file ([`advise`]).

pub mod advise;
pub mod interference;
pub mod noise;
