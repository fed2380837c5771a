//! Mapping, protecting, locking and first touching memory.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use super::calls::filled;
use super::entry::{Entry, Group, entry};
use super::harness::{Made, Work};
use super::kernel::done;

pub(super) const GROUP: Group = Group { title: "address space and first touch", entries: ENTRIES };

const PAGE: usize = 4096;
const HUGE: usize = 2 << 20;
const BOTH: i32 = libc::PROT_READ | libc::PROT_WRITE;
const ANONYMOUS: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;

const ENTRIES: &[Entry] = &[
    entry("page.map.unmap", "size=4KiB", || map_unmap(PAGE, false)),
    entry("page.map.unmap", "size=1MiB", || map_unmap(1 << 20, false)),
    entry("page.map.touch.unmap", "size=4KiB", || map_unmap(PAGE, true)),
    entry("page.fault.anonymous", "", || fresh(1024, PAGE, libc::MADV_NOHUGEPAGE, 1024)),
    entry("page.fault.huge", "", || fresh(16, HUGE, libc::MADV_HUGEPAGE, 16)),
    entry("touch.first", "pages=base", || fresh(8192, PAGE, libc::MADV_NOHUGEPAGE, 8192)),
    entry("page.fault.file", "", || file_faults(libc::MAP_SHARED, false)),
    entry("page.fault.copy", "", || file_faults(libc::MAP_PRIVATE, true)),
    entry("call.mprotect", "", || {
        let place = touched(PAGE)?;
        let mut protection = BOTH;
        Ok(Work::calls(move || {
            protection ^= libc::PROT_WRITE;
            call!(libc::SYS_mprotect, place, PAGE, protection) == 0
        }))
    }),
    entry("call.mincore", "", || {
        let (place, mut there) = (touched(PAGE)?, 0_u8);
        Ok(Work::calls(move || call!(libc::SYS_mincore, place, PAGE, &raw mut there) == 0 && there & 1 == 1))
    }),
    entry("pair.lock.memory", "", || {
        let place = touched(PAGE)?;
        Ok(Work::calls(move || call!(libc::SYS_mlock, place, PAGE) == 0 && call!(libc::SYS_munlock, place, PAGE) == 0))
    }),
    entry("call.madvise", "", give_back),
];

fn map(bytes: usize, kind: i32, file: Option<&File>) -> Result<usize, String> {
    done("mmap", call!(libc::SYS_mmap, 0_usize, bytes, BOTH, kind, file.map_or(-1, AsRawFd::as_raw_fd), 0))
}

#[inline(never)]
fn write(place: usize) {
    // SAFETY: the place lies in a mapping of this entry that may be written.
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(place).write_volatile(1) };
}

#[inline(never)]
fn read(place: usize) {
    // SAFETY: the place lies in a mapping of this entry.
    unsafe { std::ptr::with_exposed_provenance::<u8>(place).read_volatile() };
}

/// A mapping between two that may not be touched, so that no neighbour merges with it.
fn touched(bytes: usize) -> Result<usize, String> {
    let place = guarded(bytes)?;
    done("mprotect", call!(libc::SYS_mprotect, place, bytes, BOTH))?;
    (0..bytes).step_by(PAGE).for_each(|at| write(place + at));
    Ok(place)
}

/// A place between two pages, with them one mapping that may not be touched.
fn guarded(bytes: usize) -> Result<usize, String> {
    let all = done("mmap", call!(libc::SYS_mmap, 0_usize, bytes + 2 * PAGE, libc::PROT_NONE, ANONYMOUS, -1, 0))?;
    Ok(all + PAGE)
}

/// In a hole between two guards, so that no neighbour merges with the mapping.
fn map_unmap(bytes: usize, touch: bool) -> Made {
    let hole = guarded(bytes)?;
    done("munmap", call!(libc::SYS_munmap, hole, bytes))?;
    Ok(Work::calls(move || {
        let place = call!(libc::SYS_mmap, hole, bytes, BOTH, ANONYMOUS, -1, 0);
        if touch && place > 0 {
            write(place as usize);
        }
        place as usize == hole && call!(libc::SYS_munmap, place, bytes) == 0
    }))
}

/// How many faults this process had.
fn faults() -> i64 {
    let mut usage = [0_i64; 18];
    call!(libc::SYS_getrusage, libc::RUSAGE_SELF, usage.as_mut_ptr());
    // Two times of two words each, four sizes, then the faults without a device.
    usage[8]
}

/// The first writes to pages of a new mapping. Pages given back are given again, warm in the caches: so twice what the last
/// cache holds is kept mapped behind the timed one, and given back oldest first.
fn fresh(pages: usize, size: usize, advice: i32, most: usize) -> Made {
    let kept = (256 << 20) / (pages * size);
    let mut held = std::collections::VecDeque::new();
    Ok(Work::timed(move |times| {
        let pages = (times as usize).min(pages);
        let bytes = pages * size + HUGE;
        let Ok(all) = map(bytes, ANONYMOUS, None) else { panic!("no memory") };
        let first = all.next_multiple_of(HUGE);
        assert_eq!(call!(libc::SYS_madvise, first, pages * size, advice), 0, "madvise");
        // The tables that lead to the pages are another cost, which the first of each 512 would pay.
        let before = faults();
        let start = Instant::now();
        for page in 0..pages {
            write(first + page * size);
        }
        let time = start.elapsed();
        let faults = faults() - before;
        assert!((pages as i64..=pages as i64 + 2).contains(&faults), "{faults} faults of {pages} pages");
        held.push_back((all, bytes));
        while held.len() > kept {
            held.pop_front().map(|(all, bytes)| call!(libc::SYS_munmap, all, bytes));
        }
        time
    })
    .at_most(most as u64))
}

/// Pages that are mapped alone: the kernel maps those around one at the same fault if they are in memory, so the file has
/// holes between them. A touch of the first in each table of pages has the table made before.
fn file_faults(kind: i32, copies: bool) -> Made {
    const APART: usize = 64 << 10;
    const BYTES: usize = 64 << 20;
    let file = filled(1)?;
    for at in (0..BYTES).step_by(APART) {
        done("pwrite64", call!(libc::SYS_pwrite64, file.as_raw_fd(), [6_u8; PAGE].as_ptr(), PAGE, at))?;
    }
    let places: Vec<usize> = (0..BYTES).step_by(APART).filter(|at| at % HUGE != 0).collect();
    let most = places.len();
    Ok(Work::timed(move |times| {
        let Ok(first) = map(BYTES, kind, Some(&file)) else { panic!("the file cannot be mapped") };
        (0..BYTES).step_by(HUGE).for_each(|at| read(first + at));
        let places = &places[..times as usize];
        if copies {
            places.iter().for_each(|at| read(first + at));
        }
        let before = faults();
        let start = Instant::now();
        for at in places {
            if copies { write(first + at) } else { read(first + at) }
        }
        let time = start.elapsed();
        let faults = faults() - before;
        assert!((times as i64..=times as i64 + 2).contains(&faults), "{faults} faults of {times} pages");
        assert_eq!(call!(libc::SYS_munmap, first, BYTES), 0, "munmap");
        time
    })
    .at_most(most as u64))
}

/// Pages that were written are given back one by one; writing them again does not count.
fn give_back() -> Made {
    const PAGES: usize = 256;
    let place = touched(PAGES * PAGE)?;
    Ok(Work::timed(move |times| {
        let pages = place..place + (times as usize).min(PAGES) * PAGE;
        pages.clone().step_by(PAGE).for_each(write);
        let mut time = Duration::ZERO;
        let start = Instant::now();
        let right = pages.step_by(PAGE).filter(|page| call!(libc::SYS_madvise, *page, PAGE, libc::MADV_DONTNEED) == 0);
        let right = right.count() as u64;
        time += start.elapsed();
        assert_eq!(right, times, "not every page was given back");
        time
    })
    .at_most(PAGES as u64))
}
