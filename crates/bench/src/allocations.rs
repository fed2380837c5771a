//! Counts allocations. Batches that are timed are not counted, so that counting costs them one load and one branch.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static COUNTING: AtomicBool = AtomicBool::new(false);
static SEEN: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);
static FREED: AtomicU64 = AtomicU64::new(0);

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
    /// Bytes given back.
    pub freed: u64,
}

/// Does `work` and counts what it allocates in all threads. `None` if the program has another allocator.
pub(crate) fn counted(work: impl FnOnce()) -> Option<Allocations> {
    let now =
        || Allocations { calls: CALLS.load(Relaxed), allocated: ALLOCATED.load(Relaxed), freed: FREED.load(Relaxed) };
    COUNTING.store(true, Relaxed);
    // A program that has the profiler shows itself here, whatever its work does.
    drop(std::hint::black_box(Box::new(1_u8)));
    let before = now();
    work();
    COUNTING.store(false, Relaxed);
    let after = now();
    SEEN.load(Relaxed).then(|| Allocations {
        calls: after.calls - before.calls,
        allocated: after.allocated - before.allocated,
        freed: after.freed - before.freed,
    })
}

#[cold]
fn note(allocated: usize, freed: usize) {
    SEEN.store(true, Relaxed);
    CALLS.fetch_add(u64::from(allocated > 0), Relaxed);
    ALLOCATED.fetch_add(allocated as u64, Relaxed);
    FREED.fetch_add(freed as u64, Relaxed);
}

// SAFETY: every call goes to the allocator inside unchanged; counting allocates nothing.
unsafe impl<A: GlobalAlloc> GlobalAlloc for AllocProfiler<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTING.load(Relaxed) {
            note(layout.size(), 0);
        }
        // SAFETY: the caller's promises are those that the allocator inside asks for.
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
