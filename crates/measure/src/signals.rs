//! Events that end a run early: signals to this process, and the loss of the process that starts rounds.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use system::ignored::is_ignored;

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

/// The signals that end a program.
const ENDING: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// True while nobody watches: then a signal ends this process again, as it does where nobody ever has. A handler stays installed.
static UNWATCHED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let unwatched: Arc<AtomicBool> = Arc::default();
    for signal in Signals::ending() {
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&unwatched));
    }
    unwatched
});
static WATCHING: AtomicUsize = AtomicUsize::new(0);

impl Signals {
    /// SIGINT, SIGTERM and SIGHUP, without those that this process was started to ignore, as by nohup(1).
    pub fn ending() -> impl Iterator<Item = i32> {
        ENDING.into_iter().filter(|signal| !is_ignored(*signal))
    }

    /// Notes SIGINT, SIGTERM and SIGHUP from now on until this is dropped, instead of ending this process. One that this process was
    /// started to ignore, as by nohup(1), stays ignored, here and in what this process starts: a handler would end with the next
    /// program, and the signal would end that one.
    pub fn watch() -> Signals {
        let mut signals = Signals { flags: Vec::new(), any: Arc::default(), handlers: Vec::new() };
        for signal in Signals::ending() {
            let flag = Arc::new(AtomicBool::new(false));
            let both = [&flag, &signals.any].map(|flag| signal_hook::flag::register(signal, Arc::clone(flag)));
            signals.handlers.extend(both.into_iter().flatten());
            signals.flags.push((signal, flag));
        }
        WATCHING.fetch_add(1, Ordering::Relaxed);
        // The first time, this adds handlers. A signal that came when there were no others would be lost.
        UNWATCHED.store(false, Ordering::Relaxed);
        signals
    }

    /// The signal that has arrived, if any.
    pub fn come(&self) -> Option<i32> {
        self.flags.iter().find(|(_, flag)| flag.load(Ordering::Relaxed)).map(|(signal, _)| *signal)
    }

    /// Ends the watch. Returns the signal that arrived while it lasted, to the last moment.
    pub fn end(self) -> Option<i32> {
        let flags = self.flags.clone();
        drop(self);
        flags.iter().find(|(_, flag)| flag.load(Ordering::Relaxed)).map(|(signal, _)| *signal)
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
        if WATCHING.fetch_sub(1, Ordering::Relaxed) == 1 {
            UNWATCHED.store(true, Ordering::Relaxed);
        }
    }
}
