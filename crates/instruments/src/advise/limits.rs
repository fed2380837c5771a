//! How short and how long a stretch may be.

/// The shortest file whose pass takes long enough to be distinguished from the work around it.
pub(crate) const SMALLEST: u64 = 256 << 10;
/// The longest stretch of a pass. Longer ones show nothing more.
pub(crate) const LONGEST: u64 = 256 << 20;
