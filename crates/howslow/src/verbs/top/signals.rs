//! Signals to a program that holds the terminal: those that end it, those that stop and continue it, and the window's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGWINCH};

/// Those that end it.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// All that matter to a screen.
const ALL: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH];

/// Signals that were noted and not yet acted upon. Copies note the same ones.
#[derive(Clone)]
pub(super) struct Signals(Arc<Vec<Noted>>);

struct Noted {
    signal: i32,
    flag: Arc<AtomicBool>,
    id: SigId,
}

impl Signals {
    /// Notes them from now on.
    pub(super) fn watch() -> std::io::Result<Signals> {
        let note = |signal| {
            let flag = Arc::new(AtomicBool::new(false));
            let id = signal_hook::flag::register(signal, Arc::clone(&flag))?;
            Ok(Noted { signal, flag, id })
        };
        Ok(Signals(Arc::new(ALL.into_iter().map(note).collect::<std::io::Result<_>>()?)))
    }

    fn flag(&self, signal: i32) -> Option<&AtomicBool> {
        self.0.iter().find(|noted| noted.signal == signal).map(|noted| &*noted.flag)
    }

    fn take(&self, signal: i32) -> bool {
        self.flag(signal).is_some_and(|flag| flag.swap(false, Ordering::Relaxed))
    }

    /// The signal that ends it, if one came.
    pub(super) fn ended(&self) -> Option<i32> {
        let came = |signal: &i32| self.flag(*signal).is_some_and(|flag| flag.load(Ordering::Relaxed));
        ENDING.into_iter().find(came)
    }

    /// As if this signal had come.
    pub(super) fn note(&self, signal: i32) {
        if let Some(flag) = self.flag(signal) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// True once after a wish to stop.
    pub(super) fn stop(&self) -> bool {
        self.take(SIGTSTP)
    }

    /// True once after it was continued.
    pub(super) fn continued(&self) -> bool {
        self.take(SIGCONT)
    }

    /// True once after the window got another size.
    pub(super) fn resized(&self) -> bool {
        self.take(SIGWINCH)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        signal_hook::low_level::unregister(self.id);
    }
}
