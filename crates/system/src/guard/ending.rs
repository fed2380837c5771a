//! How a child is kept within limits, and how its end is reported.

use rustix::process::{Resource, Rlimit, getpid, getrlimit, setrlimit};

use crate::guard::children::Reaped;
use crate::guard::lost::Lost;

/// Does `work`. A panic of any thread ends this process, once `noted` knows why, instead of a message on the user's terminal; in a
/// process that it has started, it ends that one.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T, noted: impl Fn(Lost) + Send + Sync + 'static) -> T {
    let own = getpid();
    std::panic::set_hook(Box::new(move |panic| {
        if getpid() == own {
            let text = panic.payload().downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.payload().downcast_ref::<&str>().copied());
            noted(Lost::Panicked(text.unwrap_or("without a message").into()));
        }
        // SAFETY: leaves without running any destructors: what they own is not this process's alone.
        unsafe { libc::_exit(101) }
    }));
    work()
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
