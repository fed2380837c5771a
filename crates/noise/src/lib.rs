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
mod options;
mod spin;
mod switching;
mod trace;
mod tracefs;

use analysis::noise::Recording;
use operation::Clock;

pub use options::{NoiseError, Options, Order, Tracing};

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
