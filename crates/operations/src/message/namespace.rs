//! A namespace of its own for System V objects and POSIX queues: it ends with the last process in it, and everything
//! in it too, however the process ends.

use operation::Failure;

use crate::kit::sandbox;

/// Moves this process, and the partners it starts from now on, into a new namespace for such objects.
///
/// # Errors
/// A skip where that is not allowed; then objects could stay behind.
pub(super) fn enter() -> Result<(), Failure> {
    sandbox::namespaces(libc::CLONE_NEWIPC)
}

/// Raises one of the private namespace's own limits. Only after [`enter`]: before, it would be everybody's.
///
/// # Errors
/// A skip where that is not allowed.
pub(super) fn raise(limit: &str, to: usize) -> Result<(), Failure> {
    let file = format!("/proc/sys/{limit}");
    let now = std::fs::read_to_string(&file)?.trim().parse::<usize>().unwrap_or(0);
    if now >= to {
        return Ok(());
    }
    std::fs::write(&file, to.to_string())
        .map_err(|_| Failure::skip(format!("a message may have {now} bytes"), format!("run as root, or raise {file}")))
}
