//! Replaces the readers of SQLite files in a program that was built without SQLite.

use operation::{Failure, Loop, Setting};

pub(super) use absent as written;
pub(super) use absent as in_order;
pub(super) use absent as at_random;
pub(super) use absent as cold;

/// The skip that says so.
pub(super) fn absent(_: &Setting) -> Result<Loop, Failure> {
    Err(Failure::skip("this howslow was built without SQLite", "cargo build --release --features keyed"))
}
