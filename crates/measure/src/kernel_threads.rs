//! The kernel's own threads, and the processor time that the kernel charges them for.

use std::path::PathBuf;

/// The kernel's threads that are there now.
pub(crate) struct KernelThreads(Vec<PathBuf>);

impl KernelThreads {
    /// All threads that the kernel's own process has started; `None` if they cannot be seen, as in a container.
    pub fn find() -> Option<KernelThreads> {
        /// Of more threads, a reading would take longer than a window.
        const MOST: usize = 4000;
        let name = std::fs::read_to_string("/proc/2/comm").ok()?;
        let children = std::fs::read_to_string("/proc/2/task/2/children").ok()?;
        let files: Vec<PathBuf> =
            children.split_whitespace().map(|pid| format!("/proc/{pid}/schedstat").into()).collect();
        let can_read = files.first().is_some_and(|file| charged(file).is_some());
        (name.trim() == "kthreadd" && can_read && files.len() <= MOST).then_some(KernelThreads(files))
    }

    /// Processor time of all of them so far, in ns. A thread that ends takes its time with it.
    pub fn charged(&self) -> f64 {
        self.0.iter().filter_map(charged).sum()
    }
}

/// The first number of a thread's `schedstat`: nanoseconds on a CPU.
fn charged(file: &PathBuf) -> Option<f64> {
    std::fs::read_to_string(file).ok()?.split_whitespace().next()?.parse().ok()
}
