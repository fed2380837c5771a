//! What was requested of the kernel, by call.

use serde::{Deserialize, Serialize};

use crate::waits::{CallTime, FaultTime, Waits};

/// The size of a base page, in bytes; 4 KiB but for some kernels of aarch64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PageSize(pub u64);

impl Default for PageSize {
    fn default() -> PageSize {
        PageSize(4096)
    }
}

impl PageSize {
    /// How many base pages a huge one has: a page full of entries of 8 bytes, on x86-64 and on aarch64.
    pub fn in_huge(self) -> u64 {
        (self.0 / 8).max(1)
    }

    fn is_usual(&self) -> bool {
        *self == PageSize::default()
    }
}

/// What was asked of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// System calls, the most frequent first.
    pub calls: Vec<CallCount>,
    /// A call and the one that the same task made right after it, the most frequent first.
    pub pairs: Vec<PairCount>,
    /// Times off the CPU by call and reason, the longest first; empty if the kernel does not report them.
    #[serde(default)]
    pub waits: Vec<Waits>,
    /// Signals that were delivered.
    pub signals: Vec<NamedCount>,
    /// Requests to an io_uring, by operation.
    pub io_uring: Vec<NamedCount>,
    /// Processes and threads that were created.
    pub forks: u64,
    /// Programs that were executed.
    pub execs: u64,
    /// Files that were opened and, if there were none, created.
    #[serde(default)]
    pub creates: u64,
    /// Regular files that were there and were opened to be written.
    #[serde(default)]
    pub writing: u64,
    /// Those of them that were emptied (O_TRUNC).
    #[serde(default)]
    pub truncating: u64,
    /// Opens right after the same task had asked for the attributes of the same name.
    #[serde(default, alias = "asked_first")]
    pub attributes_first: u64,
    /// Huge pages that were given at a first touch.
    #[serde(default)]
    pub huge_pages: u64,
    /// Pages that processes had of their own when they were copied.
    #[serde(default)]
    pub copied_pages: u64,
    /// What page faults took of a CPU; `None` where none were timed.
    pub faults: Option<FaultTime>,
    /// How many different names were looked up, within some per cent; null if none was, or if that was not counted.
    #[serde(default)]
    pub distinct_names: Option<u64>,
    /// The size of the base pages that are counted, in bytes; absent if it is 4 KiB.
    #[serde(default, skip_serializing_if = "PageSize::is_usual")]
    pub page: PageSize,
}

impl Requests {
    /// What came after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Requests) -> Requests {
        let same_object = |row: &ObjectCount, other: &ObjectCount| row.object == other.object;
        let call = |now: &CallCount, then: Option<&CallCount>| {
            let none = CallCount::default();
            let then = then.unwrap_or(&none);
            let count = now.count.saturating_sub(then.count);
            (count > 0).then(|| CallCount {
                count,
                bytes: now.bytes.map(|bytes| bytes.wrapping_sub(then.bytes.unwrap_or(0))),
                wakes: now.wakes.saturating_sub(then.wakes),
                near_wakes: now.near_wakes.saturating_sub(then.near_wakes),
                freed_pages: now.freed_pages.saturating_sub(then.freed_pages),
                objects: beyond(&now.objects, &then.objects, same_object, ObjectCount::since),
                errors: named(&now.errors, &then.errors),
                measured: now.measured.and_then(|all| all.since(then.measured)),
                ..now.clone()
            })
        };
        let pair = |now: &PairCount, then: Option<&PairCount>| {
            let count = now.count.saturating_sub(then.map_or(0, |then| then.count));
            (count > 0).then(|| PairCount { count, ..now.clone() })
        };
        let same_pair = |row: &PairCount, other: &PairCount| row.first == other.first && row.then == other.then;
        let same_wait = |row: &Waits, other: &Waits| row.call == other.call && row.reason == other.reason;
        Requests {
            calls: beyond(&self.calls, &earlier.calls, |row, other| row.call == other.call, call),
            pairs: beyond(&self.pairs, &earlier.pairs, same_pair, pair),
            waits: beyond(&self.waits, &earlier.waits, same_wait, Waits::since),
            signals: named(&self.signals, &earlier.signals),
            io_uring: named(&self.io_uring, &earlier.io_uring),
            forks: self.forks.saturating_sub(earlier.forks),
            execs: self.execs.saturating_sub(earlier.execs),
            creates: self.creates.saturating_sub(earlier.creates),
            writing: self.writing.saturating_sub(earlier.writing),
            truncating: self.truncating.saturating_sub(earlier.truncating),
            attributes_first: self.attributes_first.saturating_sub(earlier.attributes_first),
            huge_pages: self.huge_pages.saturating_sub(earlier.huge_pages),
            copied_pages: self.copied_pages.saturating_sub(earlier.copied_pages),
            faults: self.faults.and_then(|faults| faults.since(earlier.faults)),
            // Those of the stretch are among them.
            distinct_names: self.distinct_names,
            page: self.page,
        }
    }

    /// All system calls together.
    pub fn total(&self) -> u64 {
        self.calls.iter().map(|call| call.count).sum()
    }
}

/// How often a system call was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallCount {
    /// The kernel's name of it.
    pub call: String,
    /// How often, whether it succeeded or failed.
    pub count: u64,
    /// The bytes that it moved; `None` if it moves none.
    pub bytes: Option<u64>,
    /// Sleeping tasks that were woken while the caller made it, as far as that was counted (by eBPF).
    #[serde(default)]
    pub wakes: u64,
    /// Those of them that were last on the CPU of the caller.
    #[serde(default)]
    pub near_wakes: u64,
    /// Base pages of its memory that it gave back, by samples (by eBPF, Linux 6.2).
    #[serde(default)]
    pub freed_pages: u64,
    /// What it was made on, as far as that is known, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<ObjectCount>,
    /// How often it failed, by error.
    pub errors: Vec<NamedCount>,
    /// What it took of a CPU from entry to exit, by samples; `None` without any.
    #[serde(default)]
    pub measured: Option<CallTime>,
}

impl CallCount {
    /// How often it failed.
    pub fn failed(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }
}

/// How often a call was made on one kind of object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectCount {
    /// `file` (of a device), `tmpfs`, `proc`, `sys`, `pipe`, `tcp`, `udp`, `unix`, `socket` (any other), `eventfd`, `timerfd`,
    /// `epoll`, `tty`, `null` (also `/dev/zero`), `folder`, `device`, `other`.
    pub object: String,
    /// How often, whether it succeeded or failed.
    pub count: u64,
    /// The bytes that it moved; `None` if it moves none.
    pub bytes: Option<u64>,
}

impl ObjectCount {
    fn since(&self, earlier: Option<&ObjectCount>) -> Option<ObjectCount> {
        let count = self.count.saturating_sub(earlier.map_or(0, |earlier| earlier.count));
        let before = earlier.and_then(|earlier| earlier.bytes).unwrap_or(0);
        let bytes = self.bytes.map(|bytes| bytes.wrapping_sub(before));
        (count > 0).then(|| ObjectCount { count, bytes, ..self.clone() })
    }
}

/// A name and how often.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedCount {
    /// The name.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// A call and the one after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairCount {
    /// The first call.
    pub first: String,
    /// The call after it.
    pub then: String,
    /// How often.
    pub count: u64,
}

/// What is in `now` beyond the row of `then` that is about the same.
fn beyond<T>(
    now: &[T],
    then: &[T],
    is_same: impl Fn(&T, &T) -> bool,
    less: impl Fn(&T, Option<&T>) -> Option<T>,
) -> Vec<T> {
    now.iter().filter_map(|row| less(row, then.iter().find(|before| is_same(before, row)))).collect()
}

fn named(now: &[NamedCount], then: &[NamedCount]) -> Vec<NamedCount> {
    let less = |row: &NamedCount, earlier: Option<&NamedCount>| {
        let count = row.count.saturating_sub(earlier.map_or(0, |earlier| earlier.count));
        (count > 0).then(|| NamedCount { count, ..row.clone() })
    };
    beyond(now, then, |row, other| row.name == other.name, less)
}
