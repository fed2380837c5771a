//! One task as a source of counts tells it.

use crate::counts::Counts;

/// A task: a thread, with what it did until now or until its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Task {
    /// A number that no other task of the observation has.
    pub id: u64,
    /// The number of the task that created it, if that was watched.
    pub parent: Option<u64>,
    pub process: u32,
    pub thread: u32,
    pub name: String,
    /// When it was created or first seen, in ns of the monotonic clock.
    pub begin_ns: u64,
    /// When it ended.
    pub end_ns: Option<u64>,
    /// The id of its cgroup in the unified hierarchy at its end; 0 if not known.
    pub cgroup: u64,
    /// How often watching stopped it. Each stop is a voluntary switch that is not its own.
    pub stops: u64,
    pub counts: Counts,
}
