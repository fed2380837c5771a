//! Readers that map the file and access it. A pass maps, reads and unmaps, because mapped pages cannot be evicted, and
//! because programs pay for the mapping too.

use operation::{Failure, Loop, Operation, Setting, numbers, word, words};
use rustix::mm::{Advice, MapFlags};

use super::ahead::Ahead;
use super::order::VisitPlan;
use super::pass::summing;
use super::source::SourceFile;
use super::sum::sum;
use super::view::MappedView;
use super::{AHEAD, AHEAD_POINTS, ANY_ORDER, ANY_ORDER_POINTS, FILE, MIB, READ, RECORD, STATE};
use crate::file::residence;

/// Enough address space for any current file. Its pages are in the page cache and do not count for the round.
const MAPPED: Operation = READ.memory(1 << 46);

pub(crate) const OPERATIONS: &[Operation] = &[
    MAPPED
        .named("read.mmap", "map a file, add it up record by record, unmap it")
        .aliases(&["Memory Mapped"])
        .axes(ANY_ORDER)
        .has_point(ANY_ORDER_POINTS)
        .prepare(|setting| each_pass(setting, MapFlags::SHARED, None)),
    // The part that remains once the mapping exists.
    MAPPED
        .named("read.mmap.kept", "add up a file record by record through a mapping that stays, with all pages present")
        .axes(&[word("state", words!["warm"]), RECORD, FILE])
        .prepare(|setting| {
            summing(setting, |source, plan| {
                let view = MappedView::of(source, MapFlags::SHARED)?;
                Ok(move || Ok(sum_of(&view, plan)))
            })
        }),
    MAPPED
        .named("read.mmap.populate", "map a file with all its pages at once (MAP_POPULATE), add it up, unmap it")
        .prepare(|setting| each_pass(setting, MapFlags::SHARED | MapFlags::POPULATE, None)),
    MAPPED
        .named("read.mmap.sequential", "map a file, advise MADV_SEQUENTIAL, add it up, unmap it")
        .prepare(|setting| each_pass(setting, MapFlags::SHARED, Some(Advice::Sequential))),
    // One page per read: the paper's mapped access, and the slowest method, which is why it uses the middle file.
    MAPPED
        .named("read.mmap.random", "map a file, advise MADV_RANDOM (each page is read separately), add it up, unmap it")
        .aliases(&["Memory Mapped"])
        .axes(&[STATE, RECORD, FILE.headline(numbers![16 * MIB])])
        .prepare(|setting| each_pass(setting, MapFlags::SHARED, Some(Advice::Random))),
    MAPPED
        .named("read.mmap.ahead", "map a file, add it up with MADV_WILLNEED ahead by a window, unmap it")
        .aliases(&["Memory Mapped & FreadSeek"])
        .axes(AHEAD)
        .has_point(AHEAD_POINTS)
        .prepare(|setting| {
            summing(setting, |source, plan| {
                let file = source.open_with(rustix::fs::OFlags::empty())?;
                let mut window = Ahead::of(setting, plan.length)?;
                tried(source, Some(Advice::WillNeed))?;
                Ok(move || {
                    let view = MappedView::new(&file, (0, plan.length), MapFlags::SHARED)?;
                    window.restart();
                    let mut total = 0_u64;
                    for offset in plan.offsets() {
                        window.reach(offset, |start, length| view.advise(Advice::WillNeed, start, length))?;
                        total = total.wrapping_add(sum(view.record(plan, offset)));
                    }
                    Ok(total)
                })
            })
        }),
    MAPPED
        .named("read.mmap.huge", "map a file, advise MADV_HUGEPAGE before it is in memory, add it up, unmap it")
        .prepare(|setting| {
            summing(setting, |source, plan| {
                let file = source.open_with(rustix::fs::OFlags::empty())?;
                in_huge_pages(source)?;
                Ok(move || {
                    let view = MappedView::new(&file, (0, plan.length), MapFlags::SHARED)?;
                    view.advise(Advice::LinuxHugepage, 0, plan.length as usize)?;
                    Ok(sum_of(&view, plan))
                })
            })
        }),
];

/// A pass that maps, advises, reads and unmaps.
fn each_pass(setting: &Setting, flags: MapFlags, advice: Option<Advice>) -> Result<Loop, Failure> {
    summing(setting, |source, plan| {
        let file = source.open_with(rustix::fs::OFlags::empty())?;
        tried(source, advice)?;
        Ok(move || {
            let view = MappedView::new(&file, (0, plan.length), flags)?;
            if let Some(advice) = advice {
                view.advise(advice, 0, plan.length as usize)?;
            }
            Ok(sum_of(&view, plan))
        })
    })
}

/// Maps the file and advises its first page once, so that a refusal occurs before anything is timed.
fn tried(source: &SourceFile, advice: Option<Advice>) -> Result<(), Failure> {
    let view = MappedView::of(source, MapFlags::SHARED)?;
    advice.map_or(Ok(()), |advice| view.advise(advice, 0, rustix::param::page_size()))
}

/// Reads the file into memory in huge pages, if its file system has them. Skips if less than half of it is in huge
/// pages afterwards.
fn in_huge_pages(source: &SourceFile) -> Result<(), Failure> {
    let left = residence::evict(&source.file)?;
    let view = MappedView::of(source, MapFlags::SHARED)?;
    let none = |reason: String| Failure::skip(reason, "a file system with large folios, and a file of 4 MiB or more");
    view.advise(Advice::LinuxHugepage, 0, view.bytes().len())
        .map_err(|error| none(format!("this kernel accepts no advice on huge pages: {error}")))?;
    sum(view.bytes());
    let huge = view.huge_bytes()?;
    if left.resident == 0 && huge * 2 >= view.bytes().len() {
        return Ok(());
    }
    Err(none(format!("the kernel mapped {} KiB of {} KiB by huge pages", huge >> 10, view.bytes().len() >> 10)))
}

/// The sum of all records, in the plan's order.
fn sum_of(view: &MappedView, plan: VisitPlan) -> u64 {
    plan.offsets().fold(0, |total, offset| total.wrapping_add(sum(view.record(plan, offset))))
}
