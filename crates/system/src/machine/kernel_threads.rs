//! The kernel's own threads, and the processor time that the kernel charges them for.

use std::collections::HashMap;
use std::fs;

use super::task::scheduled_ns;

/// The kernel's threads at one moment: of each the time that it has run, in ns.
#[derive(Clone, Debug)]
pub struct KernelThreads(HashMap<u32, f64>);

impl KernelThreads {
    /// The thread that starts all others, and those; `None` if they cannot be seen, as in a container, or are so many that
    /// a reading takes long.
    pub fn now() -> Option<KernelThreads> {
        /// `kthreadd` of the kernel.
        const FIRST: u32 = 2;
        const MOST: usize = 4000;
        let name = fs::read_to_string(format!("/proc/{FIRST}/comm")).ok()?;
        let children = fs::read_to_string(format!("/proc/{FIRST}/task/{FIRST}/children")).ok()?;
        let pids: Vec<u32> = children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
        if name.trim() != "kthreadd" || pids.len() > MOST {
            return None;
        }
        let charged: HashMap<u32, f64> =
            pids.into_iter().chain([FIRST]).filter_map(|pid| Some((pid, scheduled_ns(pid)?[0]))).collect();
        (!charged.is_empty()).then_some(KernelThreads(charged))
    }

    /// What they were charged for since `earlier`, in ns. A thread that was not there then has run only since; the time of
    /// one that has ended is unknown.
    pub fn since(&self, earlier: &KernelThreads) -> f64 {
        self.0.iter().map(|(pid, now)| now - earlier.0.get(pid).unwrap_or(&0.0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_has_threads_and_this_is_none() {
        let Some(threads) = KernelThreads::now() else {
            return testing::not_tested!("the kernel's threads cannot be seen: run outside of containers");
        };
        assert!(threads.0.contains_key(&2));
        assert!(!threads.0.contains_key(&std::process::id()));
    }

    #[test]
    fn a_thread_that_came_later_counts_whole_and_one_that_ended_not_at_all() {
        let at = |times: &[(u32, f64)]| KernelThreads(times.iter().copied().collect());
        assert_eq!(at(&[(2, 7.0), (9, 3.0)]).since(&at(&[(2, 5.0), (8, 100.0)])), 5.0);
    }
}
