//! What /proc holds of a thread in its file `status` (proc_pid_status(5)).

use std::fs;

/// The value of a line.
pub(super) fn line(thread: u32, key: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim().into())
}

/// The process of a thread.
pub(crate) fn process_of(thread: u32) -> Option<u32> {
    line(thread, "Tgid:")?.parse().ok()
}

/// The thread that traces this one.
pub(crate) fn tracer_of(thread: u32) -> Option<u32> {
    line(thread, "TracerPid:")?.parse().ok().filter(|tracer| *tracer != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_its_first_threads() {
        let own = std::process::id();
        assert_eq!(process_of(own), Some(own));
        assert_eq!(process_of(crate::usage::this_thread()), Some(own));
        assert_eq!(line(u32::MAX >> 2, "Tgid:"), None);
    }
}
