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
    flags: Vec<(i32, Arc<AtomicBool>)>,
    any: Arc<AtomicBool>,
    handlers: Vec<signal_hook::SigId>,
}

impl Signals {
    /// Notes SIGINT, SIGTERM and SIGHUP from now on instead of ending this process. One that this process was started to ignore, as by
    /// nohup(1), stays ignored, here and in what this process starts: a handler would end with the next program, and the signal would
    /// end that one.
    pub fn watch() -> Signals {
        let mut signals = Signals { flags: Vec::new(), any: Arc::default(), handlers: Vec::new() };
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)) {
            let flag = Arc::new(AtomicBool::new(false));
            let both = [&flag, &signals.any].map(|flag| signal_hook::flag::register(signal, Arc::clone(flag)));
            signals.handlers.extend(both.into_iter().flatten());
            signals.flags.push((signal, flag));
        }
        signals
    }

    /// The signal that has arrived, if any.
    pub fn come(&self) -> Option<i32> {
        self.flags.iter().find(|(_, flag)| flag.load(Ordering::Relaxed)).map(|(signal, _)| *signal)
    }

    /// Becomes true when one of them arrives, for work in other threads.
    pub fn any(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.any)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handlers.drain(..).for_each(|id| {
            signal_hook::low_level::unregister(id);
        });
    }
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: the structure consists of numbers, and of an optional function that zero leaves out.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action nothing is changed; the old one is written to a place of its type.
    let status = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    status == 0 && action.sa_sigaction == libc::SIG_IGN
}
