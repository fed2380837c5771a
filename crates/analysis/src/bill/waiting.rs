//! What the tasks that were watched waited for: times off the CPU, by call and reason, in the words of who waits.

use record::{Observation, WaitReason, Waits, largest_first};
use serde::Serialize;

use crate::by_key;

/// What a task waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitedFor {
    /// It could run, and another task ran.
    Cpu,
    /// A device, or a lock of the kernel, within a call.
    Device,
    /// A page, after a page fault outside of calls.
    Page,
    /// Another thread that holds a lock or is to wake it (`futex`).
    Lock,
    /// Data, room or a connection of another program.
    Peer,
    /// The end of a child.
    Child,
    /// An event or a time that it asked to wait for.
    Asked,
    /// It was stopped or traced.
    Stopped,
}

/// Calls that sleep because the program asks for it: until something happens among several things, or for a time; and
/// `restart_syscall`, by which a sleep that a stop has interrupted goes on.
const REQUESTS: &[&str] = &[
    "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2", "nanosleep", "clock_nanosleep",
    "pause", "rt_sigsuspend", "rt_sigtimedwait", "accept", "accept4", "io_uring_enter", "io_getevents",
    "io_pgetevents", "sched_yield", "restart_syscall",
];
/// Calls that wait for the end of a child.
const CHILDREN: &[&str] = &["wait4", "waitid", "vfork", "clone", "clone3"];
/// Calls that wait for another thread.
const LOCKS: &[&str] = &["futex", "futex_wait", "futex_waitv", "flock"];

impl WaitedFor {
    /// What waits in this call and for this reason were for.
    pub fn of(waits: &Waits) -> WaitedFor {
        let call = waits.call.as_deref();
        let among = |calls: &[&str]| call.is_some_and(|call| calls.contains(&call));
        match waits.reason {
            WaitReason::Runnable => WaitedFor::Cpu,
            WaitReason::Stopped => WaitedFor::Stopped,
            // A parent that shares its memory with the child sleeps in the kernel until that executes a program.
            _ if among(CHILDREN) => WaitedFor::Child,
            WaitReason::Kernel if call.is_none() => WaitedFor::Page,
            WaitReason::Kernel => WaitedFor::Device,
            WaitReason::Event if among(LOCKS) => WaitedFor::Lock,
            WaitReason::Event if among(REQUESTS) => WaitedFor::Asked,
            WaitReason::Event => WaitedFor::Peer,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            WaitedFor::Cpu => "for a CPU",
            WaitedFor::Device => "for a device or a lock of the kernel",
            WaitedFor::Page => "for pages",
            WaitedFor::Lock => "for other threads",
            WaitedFor::Peer => "for other programs",
            WaitedFor::Child => "for children",
            WaitedFor::Asked => "as it asked to",
            WaitedFor::Stopped => "stopped or traced",
        }
    }

    /// True if the program did not ask for this wait: without it, it would have gone on.
    pub fn is_suffered(self) -> bool {
        !matches!(self, WaitedFor::Asked | WaitedFor::Child)
    }
}

/// All waits for one thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitSum {
    /// What for.
    pub waited_for: WaitedFor,
    /// How often.
    pub count: u64,
    /// All of them, in ns. Waits of several tasks at once are added up.
    pub total_ns: f64,
}

/// What was waited for, the longest first.
pub fn waits_by_cause(seen: &Observation) -> Vec<WaitSum> {
    let causes = by_key(seen.together.waits.iter().map(|waits| (WaitedFor::of(waits), waits)));
    let sum = |(waited_for, all): (WaitedFor, Vec<&Waits>)| WaitSum {
        waited_for,
        count: all.iter().map(|waits| waits.count).sum(),
        total_ns: all.iter().map(|waits| waits.total_ns).sum(),
    };
    let mut sums: Vec<WaitSum> = causes.into_iter().map(sum).collect();
    largest_first(&mut sums, |one| one.total_ns);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(call: Option<&str>, reason: WaitReason, total_ns: f64) -> Waits {
        Waits { call: call.map(String::from), reason, count: 2, total_ns, p50_ns: 1.0, p99_ns: 2.0 }
    }

    #[test]
    fn what_was_requested_is_distinguished_from_what_was_suffered() {
        let waited_for = |call, reason| WaitedFor::of(&waits(call, reason, 1.0));
        assert_eq!(waited_for(Some("fsync"), WaitReason::Kernel), WaitedFor::Device);
        assert_eq!(waited_for(None, WaitReason::Kernel), WaitedFor::Page);
        assert_eq!(waited_for(Some("recvfrom"), WaitReason::Event), WaitedFor::Peer);
        assert_eq!(waited_for(Some("futex"), WaitReason::Event), WaitedFor::Lock);
        assert_eq!(waited_for(Some("epoll_wait"), WaitReason::Event), WaitedFor::Asked);
        assert_eq!(waited_for(Some("vfork"), WaitReason::Kernel), WaitedFor::Child);
        assert_eq!(waited_for(Some("nanosleep"), WaitReason::Runnable), WaitedFor::Cpu);
        assert!(!waited_for(Some("nanosleep"), WaitReason::Event).is_suffered());
        assert!(!waited_for(Some("restart_syscall"), WaitReason::Event).is_suffered());
        assert!(waited_for(Some("read"), WaitReason::Event).is_suffered());
    }

    #[test]
    fn waits_for_one_thing_are_added_up() {
        let mut seen = Observation::default();
        seen.together.waits = vec![
            waits(Some("read"), WaitReason::Event, 5.0),
            waits(Some("fsync"), WaitReason::Kernel, 20.0),
            waits(Some("recvfrom"), WaitReason::Event, 7.0),
        ];
        let sums = waits_by_cause(&seen);
        let shown: Vec<_> = sums.iter().map(|sum| (sum.waited_for, sum.count, sum.total_ns)).collect();
        assert_eq!(shown, [(WaitedFor::Device, 2, 20.0), (WaitedFor::Peer, 4, 12.0)]);
    }
}
