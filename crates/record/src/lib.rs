//! Plain data: what a run is made of, its file format, its units. Knows nothing of how a cost is taken or shown.
#![forbid(unsafe_code)]

mod book;
mod cost;
mod doubt;
mod machine;
mod mix;
mod point;
mod present;
mod read;
mod run;
pub mod units;

pub use book::{Book, BookError, Check, Clock, Departure, Difference, Entry, Fact};
pub use cost::{Cost, Cpu, Ends, Estimate, Faults, Figures, Neighbours, Reads, Round, Switches, Term};
pub use doubt::Doubt;
pub use machine::*;
pub use mix::{Mix, MixError, MixLine, WholeAs};
pub use point::{Point, Value};
pub use present::{Counters, Present};
pub use read::{ReadError, printable, read_run, run_from_bytes};
#[cfg(feature = "schema")]
pub use run::run_schema;
pub use run::{BLOCK, Band, CountedIn, CpuQuiet, Launchers, More, Noise, RUN_SCHEMA, Run, SCHEMA, Settings, Skip};
pub use units::{Bytes, Nanoseconds};
