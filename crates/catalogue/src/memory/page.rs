//! The family `page`: mapping memory, and what the first touch of a page costs. Every fault operation counts its faults
//! and fails unless each touch took exactly one.

pub(crate) mod faults;
pub(crate) mod frames;
mod of_file;
mod unmap;

use std::cell::RefCell;

use operation::{Axis, Failure, Loop, Operation, numbers, repeat, size, term};
use rustix::fd::AsFd;
use rustix::param::page_size;

use crate::kit::{BASE, CONTROL, Gap, HUGE, Mapping, base_pages_only, handles, huge_pages, this_time};
use faults::{FaultCounter, all_there};
use frames::{FRAMES, FramePages, GivenPages, RECYCLED, Supply};
use of_file::file_of;

const MAPPED: &[Axis] =
    &[size(numbers![4 << 10, 1 << 20]).headline(numbers![4 << 10]).in_steps(4 << 10, 4 << 10, 64 << 20)];

/// The same, less than a huge page, which the kernel may otherwise give at the first touch.
const TOUCHED: &[Axis] = &[MAPPED[0].in_steps(4 << 10, 4 << 10, HUGE as u64 - (4 << 10))];

/// Pages touched between two drops, 1 MiB: a batch of at least 100 µs. Pages that are cleared or copied stay within the core's
/// private caches, where a fault costs the same whatever other tenants do with the shared cache.
pub(crate) fn touched_pages() -> u64 {
    (1 << 20) / page_size() as u64
}

/// The same for faults that clear and copy nothing.
const MAPPED_PAGES: u64 = 1024;

/// The kernel maps up to this number of bytes of a file around a fault. A file with one page in each such stretch takes one
/// fault per page, and one whose pages are all in memory one per stretch.
const AROUND: usize = 64 << 10;

/// Stretches of such a file: 2 MiB, what a large library has.
const STRETCHES: u64 = 32;

/// Pages are dropped in pieces smaller than the range of one page table; otherwise the kernel frees the tables too.
pub(crate) const DROP: usize = 1 << 20;

/// The most huge pages that a batch uses.
const HUGE_PAGES: u64 = 8;

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.named("page.map.unmap", "map anonymous memory and unmap it again, untouched")
        .calls(&["mmap", "munmap"])
        .per("pair")
        .axes(MAPPED)
        .version(2)
        .headline()
        .explained_by(&[term(2.0, "syscall.getppid")])
        .prepare(|setting| {
            let gap = Gap::of(setting.size()?)?;
            Ok(repeat(move || gap.map()?.unmap()))
        }),
    BASE.id("page.map.touch.unmap")
        .summary("map anonymous memory, write one byte of it, and unmap it again: the page is the one unmapped before")
        .calls(&["mmap", "munmap"])
        .per("pair")
        .axes(TOUCHED)
        .version(2)
        .at_least(&["page.map.unmap"])
        .headline()
        .explained_by(&[term(1.0, "page.map.unmap").same(&["size"]), term(1.0, "page.fault.anonymous").at(RECYCLED)])
        .prepare(|setting| {
            let gap = Gap::of(setting.size()?)?;
            Ok(repeat(move || {
                let mapping = gap.map()?;
                mapping.write(0);
                mapping.unmap()
            }))
        }),
    BASE.named(
        "page.fault.anonymous",
        "first write to a base page of anonymous memory: the kernel finds a frame (in new memory, or one given \
            back just before), clears it and maps it",
    )
    .version(2)
    .per("fault")
    .axes(&[FRAMES])
    .headline()
    // New memory is cleared in memory beyond the core's private caches.
    .follows_clock(|point| point.word("frames") == Some("recycled"))
    .prepare(|setting| {
        let page = page_size();
        if setting.word("frames")? == "fresh" {
            return fresh_faults(FramePages::Base, page, touched_pages());
        }
        let [mapping, dropped] = handles(Mapping::anonymous(touched_pages() as usize * page)?);
        base_pages_only(&mapping)?;
        counted(touched_pages(), move |turn| mapping.write(turn * page), move |_| dropped.drop_pages(DROP))
    }),
    BASE.id("page.fault.file")
        .summary("first read of a file's page that is in memory, through a shared mapping: one page is mapped")
        .per("fault")
        .headline()
        .prepare(|setting| {
            let stride = AROUND.max(page_size());
            file_faults(file_of(setting, (MAPPED_PAGES, stride))?, MAPPED_PAGES, stride)
        }),
    BASE.named(
        "page.fault.around",
        "first read of a file's page that is in memory like those around it: the kernel maps those within 64 KiB at once",
    )
    .per("fault")
    .at_least(&["page.fault.file"])
    .prepare(|setting| {
        let stride = AROUND.max(page_size());
        let pages = STRETCHES * (stride / page_size()) as u64;
        let file = file_of(setting, (pages, page_size()))?;
        // A page of that size is all that the kernel maps.
        if page_size() < AROUND {
            maps_around(&file, STRETCHES, stride)?;
        }
        file_faults(file, STRETCHES, stride)
    }),
    BASE.named(
        "page.fault.copy",
        "first write to a page of a private file mapping that was read before: the page is copied, into a frame \
            given back just before",
    )
    .per("fault")
    .headline()
    .prepare(|setting| {
        let page = page_size();
        let file = file_of(setting, (touched_pages(), page))?;
        let [mapping, reread] = handles(Mapping::private(&file, touched_pages() as usize * page)?);
        base_pages_only(&mapping)?;
        counted(
            touched_pages(),
            move |turn| mapping.write(turn * page),
            move |times| {
                reread.drop_pages(DROP)?;
                (0..times).for_each(|turn| reread.read(turn * page));
                Ok(())
            },
        )
    }),
    BASE.named(
        "page.fault.huge",
        "first write to a 2 MiB page of anonymous memory: the kernel finds a frame (in new memory, or one given \
            back just before), clears it and maps it",
    )
    .version(2)
    .per("fault")
    .axes(&[FRAMES])
    .headline()
    .follows_clock(|_| false)
    .at_least(&["page.fault.anonymous"])
    .prepare(|setting| huge_faults(setting.word("frames")?)),
    unmap::UNMAP,
];

/// Faults at this many places of a file, a stride apart, through a shared mapping.
fn file_faults(file: impl AsFd, places: u64, stride: usize) -> Result<Loop, Failure> {
    let [mapping, dropped] = handles(Mapping::shared(file, places as usize * stride)?);
    // Some file systems read what was just written into the page cache only now.
    (0..places as usize).for_each(|place| mapping.read(place * stride));
    counted(places, move |turn| mapping.read(turn * stride), move |_| dropped.drop_pages(DROP))
}

/// Skips if the kernel maps no more of this file than the page that is read.
fn maps_around(file: impl AsFd, places: u64, stride: usize) -> Result<(), Failure> {
    let mapping = Mapping::shared(file, places as usize * stride)?;
    let read_at = |offset: usize| (0..places as usize).for_each(|place| mapping.read(place * stride + offset));
    read_at(0);
    let faults = FaultCounter::default();
    faults.start()?;
    read_at(stride - 1);
    if faults.taken() > places / 2 {
        return Err(Failure::skip(
            "the kernel maps no more than a page of a file around a fault (fault_around_bytes)",
            "",
        ));
    }
    Ok(())
}

/// A loop of touches, at most `pages` in a batch. Each must take one fault. `renew` makes the first pages of the next batch
/// fault again.
fn counted(
    pages: u64,
    touch: impl Fn(usize) + 'static,
    renew: impl Fn(usize) -> Result<(), Failure> + 'static,
) -> Result<Loop, Failure> {
    let faults = FaultCounter::default();
    let counted = faults.clone();
    let mut faulting = touches(touch)
        .at_most(pages)
        .before(move |times| {
            renew(times as usize)?;
            faults.start()
        })
        .verify(move |times| counted.check(times));
    // From here on the page tables exist, and a kernel that works differently has been detected.
    faulting.perform(pages)?;
    Ok(faulting)
}

/// A loop of touches of new memory, one per `step` bytes and at most `most` in a batch.
fn fresh_faults(pages: FramePages, step: usize, most: u64) -> Result<Loop, Failure> {
    let [supply, taken, looked_at] = handles(RefCell::new(Supply::new(pages)?));
    let touches = Loop::new(move |times| {
        let supply = supply.borrow();
        (0..times as usize).for_each(|turn| supply.write(turn * step));
        Ok(())
    });
    let look = move |times| {
        let supply = looked_at.borrow();
        (0..times).for_each(|turn| supply.read((turn + 1) * step - 1));
    };
    of_given_pages(touches.at_most(most), move |times| taken.borrow_mut().take(times * step), look)
}

/// The loop of these touches. Each must take one fault, and pages of the size that was requested: `look` accesses the far end of
/// each page just touched. `renew` makes the pages of the next batch fault.
fn of_given_pages(
    touches: Loop,
    renew: impl Fn(usize) -> Result<(), Failure> + 'static,
    look: impl Fn(usize) + 'static,
) -> Result<Loop, Failure> {
    let (given, faults) = (GivenPages::default(), FaultCounter::default());
    let (judge, counted) = (given.clone(), faults.clone());
    let mut faulting = touches
        .before(move |times| {
            renew(times as usize)?;
            faults.start()
        })
        .verify(move |times| {
            counted.check(times)?;
            judge.judged(all_there(&counted, || look(times as usize)))
        });
    given.first(&mut faulting)?;
    Ok(faulting)
}

/// Touches the first page in the first iteration of a batch, the second in the second, and so on: like `repeat`, with the
/// iteration's number.
fn touches(touch: impl Fn(usize) + 'static) -> Loop {
    Loop::new(move |times| {
        (0..times as usize).for_each(&touch);
        Ok(())
    })
}

fn huge_faults(frames: &str) -> Result<Loop, Failure> {
    if std::fs::read_to_string(CONTROL).is_ok_and(|choice| choice.contains("[never]")) {
        return Err(Failure::skip("huge pages are switched off", format!("as root: echo madvise > {CONTROL}")));
    }
    if frames == "fresh" {
        return fresh_faults(FramePages::Huge, HUGE, HUGE_PAGES);
    }
    let [mapping, dropped, probed] = handles(Mapping::anonymous((HUGE_PAGES as usize + 1) * HUGE)?);
    huge_pages(&mapping)?;
    let first = mapping.first_huge();
    let touches = touches(move |turn| mapping.write(first + turn * HUGE)).at_most(HUGE_PAGES);
    let look = move |times| (0..times).for_each(|turn| probed.read(first + (turn + 1) * HUGE - 1));
    of_given_pages(touches, move |_| dropped.drop_pages(dropped.length), look).map_err(this_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touches_that_do_not_fault_are_found_out() {
        let [mapping, dropped] = handles(Mapping::anonymous(touched_pages() as usize * page_size()).expect("memory"));
        let touched = counted(touched_pages(), move |_| mapping.write(0), move |_| dropped.drop_pages(DROP));
        assert!(matches!(touched, Err(Failure::Wrong(_))));
    }

    #[test]
    fn faults_are_counted_one_by_one() {
        let counted = || {
            let mapping = Mapping::anonymous(23 * page_size()).expect("memory");
            base_pages_only(&mapping).expect("advice");
            let faults = FaultCounter::default();
            faults.start().expect("a count");
            (0..23).for_each(|page| mapping.write(page * page_size()));
            faults.taken()
        };
        // The first time, pages of the program's own code may fault too.
        counted();
        assert_eq!(counted(), 23);
    }
}
