//! Pure arithmetic on records: what a run says in plain words. Reads and prints nothing.
#![forbid(unsafe_code)]

mod findings;

pub use findings::findings;
