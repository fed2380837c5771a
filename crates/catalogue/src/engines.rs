//! The seam for engines that howslow does not contain: WebAssembly for `mode.*`, and SQLite for `keyed.*`. A program that
//! contains them, such as that of `lab/`, installs them before anything else. Without them their operations are skips.

use std::sync::OnceLock;

use operation::{Failure, Loop, Setting};

pub use crate::file::keyed::content::{Record, records, sum, sum_of_bytes};
pub use crate::kit::cycle::Cycle;
pub use crate::mode::guest::{Guest, GuestProgram};

/// What builds a howslow with the engines.
pub const REMEDY: &str = "cargo build --release --manifest-path lab/Cargo.toml";

/// The order in which records of an SQLite file are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyedReader {
    /// By row number.
    Written,
    /// By key, in order.
    InOrder,
    /// By random keys.
    AtRandom,
    /// By random keys, in a file that is not in memory.
    Cold,
}

/// The engines of a program.
#[derive(Clone, Copy)]
pub struct Engines {
    /// A guest that is run in the mode `jit` or `interpreted`.
    pub webassembly: fn(Guest, &str) -> Result<GuestProgram, Failure>,
    /// The loop that reads the records of [`records`] from an SQLite file.
    pub sqlite: fn(KeyedReader, &Setting) -> Result<Loop, Failure>,
}

static ENGINES: OnceLock<Engines> = OnceLock::new();

/// Installs the engines for the whole process. The first call counts.
pub fn install(engines: Engines) {
    let _ = ENGINES.set(engines);
}

/// The engines. `what` is the one that is needed, for the reason. Skips if there are none.
pub(crate) fn engines(what: &str) -> Result<&'static Engines, Failure> {
    ENGINES.get().ok_or_else(|| Failure::skip(format!("this howslow was built without {what}"), REMEDY))
}
