//! Memory: waiting for one of its lines, passing over it, mapping it, and touching it for the first time.

pub(crate) mod access;
pub(crate) mod align;
pub(crate) mod bandwidth;
mod chase;
pub(crate) mod page;
mod passes;
mod region;
pub(crate) mod touch;

/// The size of a core's private caches on most current machines. Beyond it, costs follow the clock of the shared cache.
const OWN_CACHE: u64 = 1 << 20;
