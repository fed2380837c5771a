//! How long a computing program is taken away from its CPU: a spinning task's gaps, with the kernel's counters and, where
//! this process may use them, its tracepoints. Records only; [`analysis::noise`] says what a recording means.
//!
//! ```no_run
//! let recordings = noise::record(&[0], &noise::Options::default()).expect("CPU 0 may be used");
//! println!("{} gaps", recordings[0].gaps.len());
//! ```
#![forbid(unsafe_code)]

mod chain;
mod counters;
mod format;
mod names;
mod spin;
mod trace;
mod tracefs;

use std::time::Duration;

use analysis::noise::Recording;
use operation::Clock;

/// How to record.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long each CPU is watched.
    pub time: Duration,
    /// A gap is a step of the loop that is longer than usual by more than this, in ns.
    pub threshold: f64,
    /// Which CPUs are watched at a time.
    pub order: Order,
    /// Whether to use the kernel's tracepoints where that is allowed.
    pub tracing: Tracing,
}

impl Default for Options {
    fn default() -> Options {
        let time = Duration::from_secs(10);
        Options { time, threshold: 100.0, order: Order::OneByOne, tracing: Tracing::IfAllowed }
    }
}

/// Which CPUs are watched at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after another: other programs have the other CPUs, and a spinning task disturbs no other one.
    OneByOne,
    /// All of them.
    AtOnce,
}

/// Whether to use tracepoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// Where the kernel has them and this process may use them.
    IfAllowed,
    /// Not at all.
    Never,
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum NoiseError {
    /// The task could not be pinned.
    #[error("cannot run on CPU {0}: {1}")]
    Cpu(u32, String),
    /// No thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// Records each of these CPUs.
///
/// # Errors
/// If a CPU may not be used.
pub fn record(cpus: &[u32], options: &Options) -> Result<Vec<Recording>, NoiseError> {
    let clock = Clock::calibrate();
    match options.order {
        Order::OneByOne => cpus.iter().map(|&cpu| finish(cpu, spin::start(cpu, clock, *options)?)).collect(),
        Order::AtOnce => {
            let started: Vec<_> = cpus
                .iter()
                .map(|&cpu| Ok((cpu, spin::start(cpu, clock, *options)?)))
                .collect::<Result<_, NoiseError>>()?;
            started.into_iter().map(|(cpu, spinner)| finish(cpu, spinner)).collect()
        }
    }
}

fn finish(cpu: u32, spinner: spin::Spinner) -> Result<Recording, NoiseError> {
    spinner.join().unwrap_or_else(|_| Err(NoiseError::Cpu(cpu, "the task ended early".into())))
}
