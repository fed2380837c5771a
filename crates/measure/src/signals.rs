//! Events that end a run early: signals to this process, and the loss of the process that starts rounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::MeasureError;

/// The event that ended the work early.
pub(crate) enum Ended {
    Signal(i32),
    Broken(MeasureError),
}

/// Signals that end the work early.
pub struct Signals {
    flags: Vec<(i32, Arc<AtomicBool>, Option<signal_hook::SigId>)>,
}

impl Signals {
    /// Notes SIGINT, SIGTERM and SIGHUP from now on instead of ending this process.
    pub fn watch() -> Signals {
        let flags = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].map(|signal| {
            let flag = Arc::new(AtomicBool::new(false));
            let id = signal_hook::flag::register(signal, Arc::clone(&flag)).ok();
            (signal, flag, id)
        });
        Signals { flags: flags.into() }
    }

    /// The signal that has arrived, if any.
    pub fn come(&self) -> Option<i32> {
        self.flags.iter().find(|(_, flag, _)| flag.load(Ordering::Relaxed)).map(|(signal, ..)| *signal)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (_, _, id) in &self.flags {
            id.map(signal_hook::low_level::unregister);
        }
    }
}
