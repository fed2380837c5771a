//! Counts allocations. Batches that are timed are not counted, so that counting costs them one load and one branch.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

/// On while a batch is counted.
static COUNTING: AtomicBool = AtomicBool::new(false);
/// On in the timed part of a batch, which makes no inputs and drops no outputs.
static INSIDE: AtomicBool = AtomicBool::new(false);
static SEEN: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);
/// Allocated less freed, of the whole batch.
static BALANCE: AtomicI64 = AtomicI64::new(0);

/// An allocator that counts what goes through it:
///
/// ```
/// use howslow_bench::AllocProfiler;
///
/// #[global_allocator]
/// static ALLOCATOR: AllocProfiler = AllocProfiler::system();
/// # fn main() {}
/// ```
#[derive(Debug, Default)]
pub struct AllocProfiler<A = System>(A);

impl AllocProfiler {
    /// Counts the allocations of the system's allocator.
    pub const fn system() -> AllocProfiler {
        AllocProfiler(System)
    }
}

impl<A> AllocProfiler<A> {
    /// Counts the allocations of another allocator.
    pub const fn new(allocator: A) -> AllocProfiler<A> {
        AllocProfiler(allocator)
    }
}

/// What was allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allocations {
    /// Calls that allocated or reallocated.
    pub calls: u64,
    /// Bytes.
    pub allocated: u64,
    /// Bytes that were not given back until the end of the batch.
    pub kept: u64,
}

/// Runs a batch of one thread and counts what its timed part allocates, also in threads that it starts. `None` if the program has
/// another allocator.
pub(crate) fn counted(batch: impl FnOnce()) -> Option<Allocations> {
    COUNTING.store(true, Relaxed);
    // A program that has the profiler shows itself here, whatever its batch does.
    drop(std::hint::black_box(Box::new(1_u8)));
    let before = (CALLS.load(Relaxed), ALLOCATED.load(Relaxed), BALANCE.load(Relaxed));
    batch();
    COUNTING.store(false, Relaxed);
    let kept = BALANCE.load(Relaxed) - before.2;
    SEEN.load(Relaxed).then(|| Allocations {
        calls: CALLS.load(Relaxed) - before.0,
        allocated: ALLOCATED.load(Relaxed) - before.1,
        kept: u64::try_from(kept).unwrap_or(0),
    })
}

/// Notes that the timed part of a batch begins or ends.
pub(crate) fn inside(is_timed: bool) {
    INSIDE.store(is_timed, Relaxed);
}

#[cold]
fn note(allocated: usize, freed: usize) {
    SEEN.store(true, Relaxed);
    BALANCE.fetch_add(allocated as i64 - freed as i64, Relaxed);
    if INSIDE.load(Relaxed) {
        CALLS.fetch_add(u64::from(allocated > 0), Relaxed);
        ALLOCATED.fetch_add(allocated as u64, Relaxed);
    }
}

// SAFETY: every call goes to the allocator inside unchanged; counting allocates nothing.
unsafe impl<A: GlobalAlloc> GlobalAlloc for AllocProfiler<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTING.load(Relaxed) {
            note(layout.size(), 0);
        }
        // SAFETY: the caller's promises are those that the allocator inside requires.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if COUNTING.load(Relaxed) {
            note(layout.size(), 0);
        }
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if COUNTING.load(Relaxed) {
            note(size, layout.size());
        }
        // SAFETY: as above.
        unsafe { self.0.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if COUNTING.load(Relaxed) {
            note(0, layout.size());
        }
        // SAFETY: as above.
        unsafe { self.0.dealloc(block, layout) }
    }
}
