//! One run on each of many nodes: submitted through the scheduler or the hosts that are there, followed, gathered, and
//! finished later if this program ends before. Keeps its state in one file. Does not know what a run means, and prints
//! nothing.
//!
//! ```
//! let plan = howslow_fleet::Plan { suite: howslow_fleet::Suite::of(&["loop.empty".into()])?, budget_s: Some(2.0), ..howslow_fleet::Plan::default() };
//! assert_eq!(plan.arguments(), ["run", "--budget", "2000ms", "loop.empty"]);
//! # Ok::<(), howslow_fleet::FleetError>(())
//! ```
#![forbid(unsafe_code)]

// The derive of JSON Schemas: without the feature, one that derives nothing.
#[cfg(not(feature = "schema"))]
#[macro_use]
extern crate schema_macros;
#[cfg(feature = "schema")]
#[macro_use]
extern crate schemars;

mod begin;
mod command;
mod error;
mod folder;
mod follow;
mod gather;
mod kubernetes;
mod plan;
mod program;
mod scheduler;
mod script;
mod slurm;
mod ssh;
mod state;
mod verdict;

pub use begin::{Nodes, Request, begin, named, send};
pub use error::FleetError;
pub use folder::{Folder, Lock, is_id, new_id};
pub use follow::{Event, Follower};
#[cfg(feature = "fuzz")]
pub use gather::fuzz_gather;
pub use kubernetes::{Collector, Manifests, Written};
pub use plan::{Plan, Suite};
pub use program::{Architecture, Program};
pub use script::NODE_SCRIPT;
#[cfg(feature = "fuzz")]
pub use slurm::fuzz_slurm;
pub use state::{Attempt, Fleet, Gathered, Means, Node, SCHEMA, SlurmOptions, Stage};
