//! Benchmarks for `cargo bench`, written as for divan. This crate runs the code and knows no statistics: an installed `howslow`
//! keeps time, finds undisturbed moments, alternates two builds and judges. Without it, plain times are printed.
//!
//! ```no_run
//! // benches/sums.rs; in Cargo.toml: [[bench]] name = "sums", harness = false
//! use howslow_bench::{Bencher, Bytes, black_box};
//!
//! fn main() {
//!     howslow_bench::main();
//! }
//!
//! #[howslow_bench::bench(args = [10, 1000])]
//! fn sum(count: u64) -> u64 {
//!     (0..black_box(count)).sum()
//! }
//!
//! #[howslow_bench::bench(types = [String, Vec<char>])]
//! fn collect<T: FromIterator<char>>(bencher: Bencher) {
//!     let text = "a text of some length";
//!     bencher.counter(Bytes(text.len() as u64)).bench(|| text.chars().collect::<T>());
//! }
//! ```
#![warn(missing_docs)]

mod allocations;
mod bencher;
mod counter;
mod entry;
mod estimate;
mod handover;
#[cfg(unix)]
mod protocol;
mod request;
mod rounds;

pub use std::hint::black_box;

pub use allocations::AllocProfiler;
pub use bencher::{Bencher, Inputs};
pub use counter::{Bytes, Counter, Items};
pub use handover::main;
pub use howslow_bench_macros::bench;

/// What the attribute's code calls. Not for use by hand.
#[doc(hidden)]
pub mod private {
    pub use crate::entry::{Case, Entry, register};
}
