//! What one iteration processes, so that a rate can be shown.

/// Bytes that one iteration processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// Items that one iteration processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items(pub u64);

/// What one iteration processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Bytes.
    Bytes(u64),
    /// Anything that can be counted.
    Items(u64),
}

impl From<Bytes> for Counter {
    fn from(bytes: Bytes) -> Counter {
        Counter::Bytes(bytes.0)
    }
}

impl From<Items> for Counter {
    fn from(items: Items) -> Counter {
        Counter::Items(items.0)
    }
}

impl std::fmt::Display for Counter {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Counter::Bytes(count) => write!(out, "bytes={count}"),
            Counter::Items(count) => write!(out, "items={count}"),
        }
    }
}
