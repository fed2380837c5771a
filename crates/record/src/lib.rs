//! Plain data: the parts of a run, its file format, its units. Knows nothing of how a cost is measured or shown.
//!
//! - [`Run`] is the result of one measurement on one [`Machine`]: a list of [`Cost`]s, each at a [`Point`], with its
//!   [`Round`]s and [`Doubt`]s. [`read_run`] reads it from a file.
//! - [`Book`] holds published costs, [`Mix`] says how often a program performs each operation.
//! - [`units`] formats quantities. No other place turns a quantity into text.
//!
//! ```
//! use record::{Bytes, Nanoseconds, units};
//!
//! assert_eq!(Bytes(4096).to_string(), "4 KiB");
//! assert_eq!(units::rate(Nanoseconds(93.1)), "10.7 M");
//! assert_eq!(units::percent(0.003), "0.30 %");
//! ```
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
mod term;
pub mod units;

pub use book::{Book, BookError, Check, Clock, Departure, Difference, Entry, Fact};
pub use cost::{Cost, Cpu, Ends, Estimate, Faults, Figures, Neighbours, Reads, Round, Switches};
pub use doubt::Doubt;
pub use machine::*;
pub use mix::{Mix, MixError, MixLine, WholeAs};
pub use point::{Point, Unit, Value};
pub use present::{Counters, Present};
pub use read::{ReadError, printable, read_run, run_from_bytes};
#[cfg(feature = "schema")]
pub use run::run_schema;
pub use run::{
    BLOCK, Band, CountedIn, CpuQuiet, Launchers, More, Noise, Origin, RUN_SCHEMA, Run, SCHEMA, Settings, Skip,
};
pub use term::{FixedPoint, FixedTerm, Term};
pub use units::{Bytes, Nanoseconds};
