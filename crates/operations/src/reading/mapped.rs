//! Readers that map the file and touch it. A pass maps, reads and unmaps: pages that are mapped cannot be put out of
//! memory, and programs pay for the mapping too.

use std::ffi::c_void;
use std::os::fd::AsFd;
use std::ptr::null_mut;
use std::rc::Rc;

use measure::{Choice::Word, Failure, Loop, Operation, Setting, word};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};

use super::ahead::Ahead;
use super::order::Plan;
use super::pass::summing;
use super::source::Source;
use super::sum::sum;
use super::{AHEAD, AHEAD_POINTS, ANY_ORDER, ANY_ORDER_POINTS, FILE, MIB, READ, RECORD, STATE};
use crate::residence;

/// Address space enough for any file of today; the pages are the page cache's, not the round's.
const MAPPED: Operation = Operation { memory: 1 << 46, ..READ };

pub(super) const PLAIN: Operation = Operation {
    id: "read.mmap",
    summary: "map a file, add it up record by record, unmap it",
    like: &["Memory Mapped"],
    axes: ANY_ORDER,
    has_point: ANY_ORDER_POINTS,
    prepare: |setting| each_pass(setting, MapFlags::SHARED, None),
    ..MAPPED
};

/// What is left once the mapping is there.
pub(super) const KEPT: Operation = Operation {
    id: "read.mmap.kept",
    summary: "add up a file record by record through a mapping that is kept, its pages touched before",
    axes: &[word("state", &[Word("warm")]), RECORD, FILE],
    prepare: |setting| {
        summing(setting, |source, plan| {
            let view = View::of(source, MapFlags::SHARED)?;
            Ok(move || Ok(sum_of(&view, plan)))
        })
    },
    ..MAPPED
};

pub(super) const POPULATED: Operation = Operation {
    id: "read.mmap.populate",
    summary: "map a file with all its pages at once (MAP_POPULATE), add it up, unmap it",
    prepare: |setting| each_pass(setting, MapFlags::SHARED | MapFlags::POPULATE, None),
    ..MAPPED
};

pub(super) const SEQUENTIAL: Operation = Operation {
    id: "read.mmap.sequential",
    summary: "map a file, advise MADV_SEQUENTIAL, add it up, unmap it",
    prepare: |setting| each_pass(setting, MapFlags::SHARED, Some(Advice::Sequential)),
    ..MAPPED
};

/// One page a read: the paper's mapped access, and the slowest, hence over the middle file.
pub(super) const RANDOM: Operation = Operation {
    id: "read.mmap.random",
    summary: "map a file, advise MADV_RANDOM, which reads each page for itself, add it up, unmap it",
    like: &["Memory Mapped"],
    axes: &[STATE, RECORD, FILE.headline(&[measure::Choice::Number(16 * MIB)])],
    prepare: |setting| each_pass(setting, MapFlags::SHARED, Some(Advice::Random)),
    ..MAPPED
};

pub(super) const AHEAD_OF_USE: Operation = Operation {
    id: "read.mmap.ahead",
    summary: "map a file, add it up with MADV_WILLNEED for what the window takes in, unmap it",
    like: &["Memory Mapped & FreadSeek"],
    axes: AHEAD,
    has_point: AHEAD_POINTS,
    prepare: |setting| {
        summing(setting, |source, plan| {
            let file = source.open_with(rustix::fs::OFlags::empty())?;
            let mut window = Ahead::of(setting, plan.length);
            Ok(move || {
                let view = View::new(&file, plan.length, MapFlags::SHARED)?;
                window.restart();
                let mut total = 0_u64;
                for offset in plan.offsets() {
                    window.reach(offset, |start, length| view.advise(Advice::WillNeed, start, length))?;
                    total = total.wrapping_add(sum(view.record(plan, offset)));
                }
                Ok(total)
            })
        })
    },
    ..MAPPED
};

pub(super) const HUGE: Operation = Operation {
    id: "read.mmap.huge",
    summary: "map a file, advise MADV_HUGEPAGE before it is in memory, add it up, unmap it",
    prepare: |setting| {
        summing(setting, |source, plan| {
            let file = Rc::new(source.open_with(rustix::fs::OFlags::empty())?);
            in_huge_pages(source)?;
            Ok(move || {
                let view = View::new(&*file, plan.length, MapFlags::SHARED)?;
                view.advise(Advice::LinuxHugepage, 0, plan.length as usize)?;
                Ok(sum_of(&view, plan))
            })
        })
    },
    ..MAPPED
};

/// A pass that maps, advises, reads and unmaps.
fn each_pass(setting: &Setting, flags: MapFlags, advice: Option<Advice>) -> Result<Loop, Failure> {
    summing(setting, |source, plan| {
        let file = source.open_with(rustix::fs::OFlags::empty())?;
        Ok(move || {
            let view = View::new(&file, plan.length, flags)?;
            if let Some(advice) = advice {
                view.advise(advice, 0, plan.length as usize)?;
            }
            Ok(sum_of(&view, plan))
        })
    })
}

/// Reads the file into memory in huge pages, if its system has them.
///
/// # Errors
/// A skip where less than half of it is in huge pages then.
fn in_huge_pages(source: &Source) -> Result<(), Failure> {
    let left = residence::evict(&source.file)?;
    let view = View::of(source, MapFlags::SHARED)?;
    let none = |reason: String| Failure::skip(reason, "a file system with large folios, and a file of 4 MiB or more");
    view.advise(Advice::LinuxHugepage, 0, view.length)
        .map_err(|error| none(format!("this kernel takes no advice on huge pages: {error}")))?;
    sum(view.bytes());
    let huge = view.huge_bytes();
    if left.resident == 0 && huge * 2 >= view.length {
        return Ok(());
    }
    Err(none(format!("the kernel mapped {} KiB of {} KiB by huge pages", huge >> 10, view.length >> 10)))
}

/// All records' sum, in the plan's order.
fn sum_of(view: &View, plan: Plan) -> u64 {
    plan.offsets().fold(0, |total, offset| total.wrapping_add(sum(view.record(plan, offset))))
}

/// A mapped file; dropping it unmaps it.
struct View {
    start: *mut c_void,
    length: usize,
}

impl View {
    fn new(file: impl AsFd, length: u64, flags: MapFlags) -> Result<View, Failure> {
        let length = length as usize;
        // SAFETY: the kernel chooses the place, so that the mapping replaces nothing.
        let start = unsafe { mmap(null_mut(), length, ProtFlags::READ, flags, file, 0) }?;
        Ok(View { start, length })
    }

    fn of(source: &Source, flags: MapFlags) -> Result<View, Failure> {
        View::new(&source.file, source.length, flags)
    }

    /// All of it. Should the file be cut meanwhile, a touch beyond its end ends the process by SIGBUS, which costs the
    /// round and nothing else.
    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        // SAFETY: the range is mapped and readable as long as `self` lives; nobody writes the file while it is measured.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }

    #[inline(always)]
    fn record(&self, plan: Plan, offset: u64) -> &[u8] {
        &self.bytes()[offset as usize..][..plan.length_at(offset)]
    }

    fn advise(&self, advice: Advice, offset: u64, length: usize) -> Result<(), Failure> {
        let length = length.min(self.length.saturating_sub(offset as usize));
        // SAFETY: the range lies in this mapping; none of these advices changes what it holds.
        Ok(unsafe { madvise(self.start.wrapping_byte_add(offset as usize), length, advice) }?)
    }

    /// Bytes of it that the processor's tables map by huge pages.
    fn huge_bytes(&self) -> usize {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let mine = format!("{:x}-", self.start as usize);
        let lines = maps.lines().skip_while(|line| !line.starts_with(&mine)).take(40);
        let kib = lines.filter_map(|line| line.strip_prefix("FilePmdMapped:")?.trim().strip_suffix(" kB")).next();
        kib.and_then(|kib| kib.trim().parse::<usize>().ok()).unwrap_or(0) << 10
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping, and nothing borrows from it any more. A failure could only leak it.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}
