//! Memory: waiting for a line of it, passing over it, mapping it, and touching it for the first time.

pub(crate) mod access;
pub(crate) mod align;
mod bandwidth;
mod chase;
pub(crate) mod page;
mod passes;
mod region;
pub(crate) mod touch;

/// What the core's own caches hold on most machines of today: beyond, the clock is that of the shared cache.
const OWN_CACHE: u64 = 1 << 20;
