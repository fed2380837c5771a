//! Signals to this process, which are passed on to the command that it watches.

use std::time::Duration;

use measure::Signals;
use observe::Observer;

/// After a signal, the command gets this long to end by itself.
pub(crate) const LAST: Duration = Duration::from_secs(2);

/// SIGINT, which has this number everywhere (signal(7)).
const SIGINT: i32 = 2;

/// A signal that requests the end, which is passed on to what is watched.
pub(crate) struct PassedOn<'a> {
    pub signals: &'a Signals,
    /// The signal, and when it came.
    pub come: Option<(i32, Duration)>,
}

impl PassedOn<'_> {
    /// Passes a signal on. Returns true once it came so long ago.
    pub(crate) fn is_over(&mut self, observer: &Observer, patience: Duration) -> bool {
        if self.come.is_none()
            && let Some(come) = self.signals.come()
        {
            self.come = Some((come, observer.elapsed()));
            // The terminal sends Ctrl-C to the command as well; other signals come to this process alone.
            if come != SIGINT {
                observer.signal(come);
            }
        }
        self.come.is_some_and(|(_, at)| observer.elapsed() >= at + patience)
    }
}
