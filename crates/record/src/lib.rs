//! Plain data: what a run is made of, its file format, its units. Knows nothing of how a cost is taken or shown.
//!
//! A [`Run`] holds the [`Cost`]s measured on one [`Machine`]; a [`Book`] holds those that a paper printed; a [`Mix`] says how
//! often a program performs each operation. A [`Term`] refers to a cost by its operation and [`Point`].
//!
//! ```
//! let mix = howslow_record::Mix::from_toml(
//!     r#"
//!     name = "echo"
//!     unit = "request"
//!     [[operation]]
//!     operation = "pipe.roundtrip@size=64"
//!     times = 2
//!     "#,
//! )?;
//! assert_eq!(mix.lines[0].term.at.values(), "64 B");
//! # Ok::<(), howslow_record::MixError>(())
//! ```
#![warn(missing_docs)]
#![forbid(unsafe_code)]

// The derive of JSON Schemas: without the feature, one that derives nothing.
#[cfg(not(feature = "schema"))]
#[macro_use]
extern crate schema_macros;
#[cfg(feature = "schema")]
#[macro_use]
extern crate schemars;

mod beside;
mod book;
mod cost;
mod counting;
mod doubt;
mod input;
mod levels;
mod machine;
mod mix;
mod observed;
mod order;
mod point;
mod present;
mod read;
mod requests;
mod run;
mod tails;
mod term;
pub mod units;
mod usage;
mod waits;

pub use beside::{Achieved, Beside, Place};
pub use book::{
    Book, BookError, Check, Departure, Entry, Fact, Measured, NominalClock, PublishedDifference, Reference,
};
pub use cost::{
    COMMAND, Cost, Cpu, EXIT_STATUS, Estimate, Faults, Figures, Hidden, Neighbours, PEAK_MEMORY, Reads, Round, Switches,
};
pub use counting::{Alternated, CountingCost, CountingProbe};
pub use doubt::Doubt;
pub use input::{open_input, open_unlinked, read_input, read_text};
pub use levels::{Basis, Ends, Level};
pub use machine::*;
pub use mix::{Mix, MixError, MixLine, WholeAs};
pub use observed::{Loss, Observation, PassedOver, ProcessCounts, Stack, StackFrame, ThreadCounts};
pub use order::{largest_first, smallest_first};
pub use point::{Point, Unit, Value, part_of_cache, typed_name};
pub use present::{Counters, Present};
pub use read::{
    MOST_RUN_BYTES, ReadError, check_run, is_plain_name, printable, read_run, run_from_bytes, steers_terminal,
};
pub use requests::{CallCount, NamedCount, ObjectCount, PageSize, PairCount, Requests};
#[cfg(feature = "schema")]
pub use run::run_schema;
pub use run::{
    BLOCK, Band, CountedIn, CpuQuiet, Launchers, More, Noise, OLDER_SCHEMA, Origin, RUN_SCHEMA, Run, SCHEMA, Settings,
    Skip, TimedRatio, undisturbed,
};
pub use tails::{Arrivals, Percentile, Tail, Tailing, Tails};
pub use term::{FixedPoint, FixedTerm, Term};
pub use units::{Bytes, Nanoseconds};
pub use usage::{Accounting, Repetition, Usage};
pub use waits::{CallTime, FaultKinds, FaultTime, WaitReason, Waits};
