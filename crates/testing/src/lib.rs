//! What the tests of all crates share: a test that cannot run here says what is missing.
//!
//! ```should_panic
//! // Where HOWSLOW_EVERY_TEST is set, as in CI, a test that cannot run fails.
//! # // SAFETY: this program has one thread.
//! # unsafe { std::env::set_var("HOWSLOW_EVERY_TEST", "1") };
//! testing::not_tested!("strace is not installed; apt-get install {}", "strace");
//! ```
#![forbid(unsafe_code)]

pub mod fleet;

use std::fmt::Arguments;

/// If this variable is set, every test must run: a test that cannot run fails.
pub const EVERY_TEST: &str = "HOWSLOW_EVERY_TEST";

/// Says that something could not be tested and what would make it testable, and panics where every test must run.
#[macro_export]
macro_rules! not_tested {
    ($($why:tt)*) => {
        $crate::tell(format_args!($($why)*))
    };
}

/// Says that one of the many things that a test goes over cannot be had on this machine: a point for more CPUs, a call that
/// this kernel lacks. The test runs without it, in CI too.
#[macro_export]
macro_rules! left_out {
    ($($why:tt)*) => {
        eprintln!("left out: {}", format_args!($($why)*))
    };
}

/// What `not_tested!` does.
///
/// # Panics
/// If `HOWSLOW_EVERY_TEST` is set.
pub fn tell(why: Arguments<'_>) {
    assert!(std::env::var_os(EVERY_TEST).is_none(), "{EVERY_TEST} is set, and this could not be tested: {why}");
    eprintln!("not tested: {why}");
}
