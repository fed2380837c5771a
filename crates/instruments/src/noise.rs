//! How long a computing program is taken away from its CPU: a spinning task's gaps, with the kernel's counters and, where
//! this process may use them, its tracepoints. Records only; [`analysis::noise`] says what a recording means.
//!
//! ```no_run
//! let recordings = howslow_instruments::noise::record(&[0], &howslow_instruments::noise::Options::default()).expect("CPU 0 may be used");
//! println!("{} gaps", recordings[0].gaps.len());
//! ```
#![forbid(unsafe_code)]

mod chain;
mod counters;
mod format;
mod options;
mod spin;
mod switching;
mod trace;
mod tracefs;

use std::sync::atomic::Ordering;

use analysis::noise::Recording;
use operation::Clock;

pub use options::{NoiseError, Options, Order, Tracing};

/// Records each of these CPUs, or those whose turn came before it was stopped. Fails if a CPU may not be used.
pub fn record(cpus: &[u32], options: &Options) -> Result<Vec<Recording>, NoiseError> {
    let clock = Clock::calibrate();
    // Tracepoints take some twenty open files for each CPU. If the limit cannot be raised, some CPUs have none.
    system::machine::raise_open_files();
    match options.order {
        Order::OneByOne => {
            let go_on = |_: &&u32| !options.stop.load(Ordering::Relaxed);
            let recorded = cpus.iter().take_while(go_on);
            recorded.map(|&cpu| finish(cpu, spin::start(cpu, clock, options.clone())?)).collect()
        }
        Order::AtOnce => {
            let started: Vec<_> = cpus
                .iter()
                .map(|&cpu| Ok((cpu, spin::start(cpu, clock, options.clone())?)))
                .collect::<Result<_, NoiseError>>()?;
            started.into_iter().map(|(cpu, spinner)| finish(cpu, spinner)).collect()
        }
    }
}

fn finish(cpu: u32, spinner: spin::Spinner) -> Result<Recording, NoiseError> {
    spinner.join().unwrap_or_else(|_| Err(NoiseError::Cpu(cpu, "the task ended early".into())))
}
