//! How to record, and why nothing could be.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The name of the spinning tasks, by which tracepoints distinguish them from others. The kernel keeps 15 letters.
pub(crate) const TASK: &str = "howslow-noise";

#[derive(Clone, Debug)]
pub struct Options {
    /// How long each CPU is watched.
    pub time: Duration,
    /// A gap is a step of the loop that is longer than usual by more than this, in ns.
    pub threshold: f64,
    /// Which CPUs are watched at a time.
    pub order: Order,
    /// Whether to use the kernel's tracepoints where that is allowed.
    pub tracing: Tracing,
    /// Set it to end the recording early, within some 60 ms: what was recorded until then is returned.
    pub stop: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Options {
        let time = Duration::from_secs(10);
        let stop = Arc::new(AtomicBool::new(false));
        Options { time, threshold: 100.0, order: Order::OneByOne, tracing: Tracing::IfAllowed, stop }
    }
}

/// Which CPUs are watched at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after another: other programs have the other CPUs, and a spinning task disturbs no other one.
    OneByOne,
    /// All of them.
    AtOnce,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// Where the kernel has them and this process may use them.
    IfAllowed,
    /// Not at all.
    Never,
}

#[derive(Debug, thiserror::Error)]
pub enum NoiseError {
    /// The task could not be pinned.
    #[error("cannot run on CPU {0}: {1}")]
    Cpu(u32, String),
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}
