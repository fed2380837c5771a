//! How a child is kept within limits, and how its end is reported.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::guard::children::Reaped;
use crate::guard::lost::Lost;

/// Turns a panic into a lost round instead of a message on the user's terminal.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, Lost> {
    std::panic::set_hook(Box::new(|_| {}));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Lost::Panicked(text.unwrap_or("without a message").into())
    })
}

/// Why a child that ended like this returned nothing.
pub(crate) fn death(reaped: Reaped) -> Lost {
    match reaped {
        Reaped::Stuck => Lost::Stuck,
        Reaped::Signal(signal) => Lost::Killed(signal),
        Reaped::Exit(code) => Lost::Exited(code),
        Reaped::Unknown => Lost::Vanished,
    }
}

/// Sets a limit of this process, as far as the system allows.
pub fn limit(resource: Resource, soft: u64) {
    let maximum = getrlimit(resource).maximum;
    let current = Some(maximum.map_or(soft, |maximum| soft.min(maximum)));
    let _ = setrlimit(resource, Rlimit { current, maximum });
}
