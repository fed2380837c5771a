//! A separate namespace for System V objects and POSIX queues. It ends with the last process in it, and with it everything
//! in it, however that process ends.

use operation::Failure;

use crate::kit::sandbox;

/// Moves this process, and the partners it starts from now on, into a new namespace for such objects. Skips if that is
/// not allowed, because objects could then stay behind.
pub(super) fn enter() -> Result<(), Failure> {
    sandbox::namespaces(libc::CLONE_NEWIPC)
}

/// Raises one of the private namespace's limits. Only after [`enter`]; before, the limit would be the machine's. A skip
/// if that is not allowed.
pub(super) fn raise(limit: &str, to: usize) -> Result<(), Failure> {
    let file = format!("/proc/sys/{limit}");
    let now = std::fs::read_to_string(&file)?.trim().parse::<usize>().unwrap_or(0);
    if now >= to {
        return Ok(());
    }
    std::fs::write(&file, to.to_string()).map_err(|_| {
        Failure::skip(format!("a message may have only {now} bytes"), format!("run as root, or raise {file}"))
    })
}
