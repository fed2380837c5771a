//! Times of an observed program on and off the CPU, by call.

use serde::{Deserialize, Serialize};

/// The processor time of one call, from entry to exit, by samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallTime {
    /// Calls that were timed.
    pub samples: u64,
    /// The mean in ns.
    pub mean_ns: f64,
    /// Its standard error in ns.
    pub error_ns: f64,
    /// The calls that the samples stand for; 0 if only the mean is known.
    #[serde(skip)]
    pub calls: f64,
}

impl CallTime {
    /// That of the calls after `earlier`; `None` if none of them was timed.
    pub(crate) fn since(self, earlier: Option<CallTime>) -> Option<CallTime> {
        let before = earlier.unwrap_or_default();
        let calls = self.calls - before.calls;
        let samples = self.samples.saturating_sub(before.samples).max(1);
        // Both are sums of independent samples.
        let [all, then] = [self, before].map(|time| (time.mean_ns * time.calls, (time.error_ns * time.calls).powi(2)));
        let mean_ns = ((all.0 - then.0) / calls).max(0.0);
        (calls > 0.0).then(|| CallTime { samples, mean_ns, error_ns: (all.1 - then.1).max(0.0).sqrt() / calls, calls })
    }
}

/// The processor time of page faults in user mode, by samples. Those within calls are part of the time of the calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultTime {
    /// How many there were.
    pub count: u64,
    /// What one took.
    pub each: CallTime,
    /// What they were; `None` where the kernel does not say.
    #[serde(default)]
    pub kinds: Option<FaultKinds>,
}

impl FaultTime {
    pub(crate) fn since(self, earlier: Option<FaultTime>) -> Option<FaultTime> {
        let Some(before) = earlier else { return Some(self) };
        let kinds = self.kinds.map(|kinds| kinds.since(before.kinds.unwrap_or_default()));
        let count = self.count.saturating_sub(before.count);
        self.each.since(Some(before.each)).map(|each| FaultTime { count, each, kinds })
    }
}

/// Page faults by what they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultKinds {
    /// A page that was not mapped was read: in most cases one of a file that is in memory, with those around it.
    pub read: u64,
    /// A page that was not there was written: new memory.
    pub new: u64,
    /// A page that was there was written for the first time: copied.
    pub copied: u64,
}

impl FaultKinds {
    /// Adds others.
    pub fn add(&mut self, other: FaultKinds) {
        self.read += other.read;
        self.new += other.new;
        self.copied += other.copied;
    }

    /// Those that came after `earlier`.
    #[must_use]
    pub fn since(self, earlier: FaultKinds) -> FaultKinds {
        FaultKinds {
            read: self.read.saturating_sub(earlier.read),
            new: self.new.saturating_sub(earlier.new),
            copied: self.copied.saturating_sub(earlier.copied),
        }
    }

    /// All together.
    pub fn total(self) -> u64 {
        self.read + self.new + self.copied
    }
}

/// Why a task was off the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitReason {
    /// It could run, and another task ran.
    Runnable,
    /// It slept until an event or a signal.
    Event,
    /// It slept until the kernel had finished something: a transfer, a page, a lock of the kernel.
    Kernel,
    /// It was stopped or traced.
    Stopped,
}

/// Times off the CPU in one call for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waits {
    /// The call; `None` outside of calls, as after a page fault.
    pub call: Option<String>,
    /// Why.
    pub reason: WaitReason,
    /// How often.
    pub count: u64,
    /// All of them, in ns.
    pub total_ns: f64,
    /// Half of them were no longer than this, in ns, within an eighth. Of a stretch of time: since the beginning.
    pub p50_ns: f64,
    /// 99 in 100 of them were no longer than this, in ns, within an eighth.
    pub p99_ns: f64,
}

impl Waits {
    pub(crate) fn since(&self, earlier: Option<&Waits>) -> Option<Waits> {
        let count = self.count.saturating_sub(earlier.map_or(0, |earlier| earlier.count));
        let total_ns = (self.total_ns - earlier.map_or(0.0, |earlier| earlier.total_ns)).max(0.0);
        (count > 0).then(|| Waits { count, total_ns, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_a_stretch_is_that_of_its_own_samples() {
        let time = |samples, mean_ns, calls| CallTime { samples, mean_ns, error_ns: 10.0, calls };
        let (first, all) = (time(100, 1000.0, 1600.0), time(200, 50_500.0, 3200.0));
        let later = all.since(Some(first)).expect("samples");
        assert_eq!((later.samples, later.mean_ns, later.calls), (100, 100_000.0, 1600.0));
        assert!(later.error_ns > all.error_ns);
        assert_eq!(all.since(Some(all)), None, "none was timed");
        assert_eq!(all.since(None), Some(all));
    }
}
