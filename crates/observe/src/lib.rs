//! What a running program asks of the kernel: every system call, and more, counted per process and thread. Knows no price and
//! prints nothing.
//!
//! ```no_run
//! use howslow_observe::{Observer, Options, Target};
//!
//! let target = Target::Command(vec!["true".into()]);
//! let mut observer = Observer::start(target, &Options::default())?;
//! while observer.step(std::time::Duration::from_millis(100))? == howslow_observe::State::Running {}
//! println!("{} calls", observer.finish()?.together.total());
//! # Ok::<(), howslow_observe::ObserveError>(())
//! ```

mod bpf;
mod calibrate;
mod call_names;
mod cgroup;
mod command;
mod counter;
mod counts;
mod exits;
mod fold;
mod inherited;
mod names;
mod naming;
mod objects;
mod observer;
mod sketch;
mod stacks;
mod target;
mod task;
mod traced;
mod usage;

pub use bpf::are_calls_traced;
#[cfg(feature = "fuzz")]
pub use exits::fuzz_taskstats;
pub use observer::stretches::{Stretch, Stretches};
pub use observer::{Observer, State};
pub use target::{Calibrate, Calibration, Detail, ObserveError, Options, Source, Target};

/// What a test needs. Without it, reports what cannot be tested.
#[cfg(test)]
fn tested<T, E: std::fmt::Display>(made: Result<T, E>, without: &str) -> Option<T> {
    made.inspect_err(|error| testing::not_tested!("{without}: {error}; run as root")).ok()
}
