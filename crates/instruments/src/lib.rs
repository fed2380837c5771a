//! Instruments of their own beside the costs: each measures, then answers. [`interference`] between kinds of work, the
//! [`noise`] of a CPU, the best way to read a file ([`advise`]), and two bench programs in lockstep ([`mod@bench`]). [`plain`] loops
//! show that costs are measured right.

pub mod advise;
pub mod bench;
pub mod interference;
pub mod noise;
pub mod plain;
