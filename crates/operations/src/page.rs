//! The family `page`: mapping memory, and what the first touch of a page costs. Every fault operation counts its faults
//! and fails unless each touch took exactly one.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::rc::Rc;

use measure::{Axis, Choice::Number, Failure, Loop, Operation, Setting, repeat, size, term};
use rustix::fd::AsFd;
use rustix::io::pwrite;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use rustix::param::page_size;

use crate::DEFAULT;
use crate::syscall::{exactly, new_file, scratch};

const MAPPED: &[Axis] = &[size(&[Number(4 << 10), Number(1 << 20)]).headline(&[Number(4 << 10)])];

/// Pages touched from one dropping of them to the next: so few that clearing them stays within the core's own cache,
/// where a fault costs the same whatever other tenants do with the shared one.
const PAGES: u64 = 256;

/// The kernel maps up to so many bytes of a file around a fault; a file with one page in each such stretch takes one
/// fault for each page.
const AROUND: usize = 64 << 10;

/// Pages are dropped in pieces smaller than a page table reaches over, or the kernel frees the tables with them.
const DROP: usize = 1 << 20;

/// A huge page, where they have this size.
pub(crate) const HUGE: usize = 2 << 20;

/// Huge pages a batch may take.
const HUGE_PAGES: u64 = 8;

/// What may fault around a batch that is not part of it: the first use of a page of code, stack or results.
pub(crate) const STRAY: u64 = 16;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "page.map.unmap",
        summary: "map anonymous memory and unmap it again, untouched",
        calls: &["mmap", "munmap"],
        per: "pair",
        axes: MAPPED,
        headline: true,
        explained_by: &[term(2.0, "syscall.getppid")],
        prepare: |setting| {
            let length = setting.size();
            Ok(repeat(move || Mapping::anonymous(length)?.unmap()))
        },
        ..DEFAULT
    },
    Operation {
        id: "page.map.touch.unmap",
        summary: "map anonymous memory, write one byte of it, and unmap it again",
        calls: &["mmap", "munmap"],
        per: "pair",
        axes: MAPPED,
        exceeds: &["page.map.unmap"],
        headline: true,
        explained_by: &[term(1.0, "page.map.unmap").same(&["size"]), term(1.0, "page.fault.anonymous")],
        prepare: |setting| {
            let length = setting.size();
            Ok(repeat(move || {
                let mapping = Mapping::anonymous(length)?;
                mapping.write(0);
                mapping.unmap()
            }))
        },
        ..DEFAULT
    },
    Operation {
        id: "page.fault.anonymous",
        summary: "first write to a base page of anonymous memory: the kernel finds one, clears it and maps it",
        per: "fault",
        headline: true,
        prepare: |_| {
            let page = page_size();
            let mapping = Rc::new(Mapping::anonymous(PAGES as usize * page)?);
            base_pages_only(&mapping)?;
            let dropped = Rc::clone(&mapping);
            counted(move |turn| mapping.write(turn * page), move |_| dropped.drop_pages(DROP))
        },
        ..DEFAULT
    },
    Operation {
        id: "page.fault.file",
        summary: "first read of a file's page that is in memory, through a shared mapping: one page is mapped",
        per: "fault",
        headline: true,
        prepare: |setting| {
            let stride = AROUND.max(page_size());
            let file = file_of(setting, stride)?;
            let mapping = Rc::new(Mapping::shared(&file, PAGES as usize * stride)?);
            let dropped = Rc::clone(&mapping);
            counted(move |turn| mapping.read(turn * stride), move |_| dropped.drop_pages(DROP))
        },
        ..DEFAULT
    },
    Operation {
        id: "page.fault.copy",
        summary: "first write to a page of a private file mapping that was read before: the page is copied",
        per: "fault",
        headline: true,
        prepare: |setting| {
            let page = page_size();
            let file = file_of(setting, page)?;
            let mapping = Rc::new(Mapping::private(&file, PAGES as usize * page)?);
            base_pages_only(&mapping)?;
            let reread = Rc::clone(&mapping);
            counted(
                move |turn| mapping.write(turn * page),
                move |times| {
                    reread.drop_pages(DROP)?;
                    (0..times).for_each(|turn| reread.read(turn * page));
                    Ok(())
                },
            )
        },
        ..DEFAULT
    },
    Operation {
        id: "page.fault.huge",
        summary: "first write to a 2 MiB page of anonymous memory: the kernel finds one, clears it and maps it",
        per: "fault",
        headline: true,
        follows_clock: |_| false,
        prepare: |_| huge_faults(),
        ..DEFAULT
    },
];

/// A loop of touches that must take one fault each, after `renew` has made the first so many of them fault again.
fn counted(
    touch: impl Fn(usize) + 'static,
    renew: impl Fn(usize) -> Result<(), Failure> + 'static,
) -> Result<Loop, Failure> {
    let faults = Faults::default();
    let counted = faults.clone();
    let mut faulting = touches(touch)
        .at_most(PAGES)
        .before(move |times| {
            renew(times as usize)?;
            faults.start()
        })
        .verify(move |times| counted.check(times));
    // From here on the page tables are there, and a kernel that does it otherwise has been found out.
    faulting.perform(PAGES)?;
    Ok(faulting)
}

/// The page touched is the batch's first, second and so on: what `repeat` does, with the turn's number.
fn touches(touch: impl Fn(usize) + 'static) -> Loop {
    Loop::new(move |times| {
        (0..times as usize).for_each(&touch);
        Ok(())
    })
}

fn huge_faults() -> Result<Loop, Failure> {
    const CONTROL: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    if std::fs::read_to_string(CONTROL).is_ok_and(|choice| choice.contains("[never]")) {
        return Err(Failure::skip("huge pages are switched off", format!("as root: echo madvise > {CONTROL}")));
    }
    let mapping = Rc::new(Mapping::anonymous((HUGE_PAGES as usize + 1) * HUGE)?);
    mapping.advise(Advice::LinuxHugepage).map_err(|_| Failure::skip("this kernel has no huge pages", ""))?;
    let first = mapping.first_huge();
    let (dropped, probed) = (Rc::clone(&mapping), Rc::clone(&mapping));
    let faults = Faults::default();
    let counted = faults.clone();
    let mut faulting = touches(move |turn| mapping.write(first + turn * HUGE))
        .at_most(HUGE_PAGES)
        .before(move |_| {
            dropped.drop_pages(dropped.length)?;
            faults.start()
        })
        .verify(move |times| {
            counted.check(times)?;
            counted.start()?;
            (0..times as usize).for_each(|turn| probed.read(first + turn * HUGE + page_size()));
            match counted.taken()? {
                0 => Ok(()),
                _ => Err(Failure::skip("the kernel gave base pages for huge ones", "free memory of at least 1 GiB")),
            }
        });
    faulting.perform(HUGE_PAGES)?;
    Ok(faulting)
}

/// A scratch file of [`PAGES`] pages that are in memory, one in each `stride`, and of holes between them.
fn file_of(setting: &Setting, stride: usize) -> Result<impl AsFd, Failure> {
    let file = new_file(&scratch(setting)?)?;
    let page = vec![1; page_size()];
    for number in 0..PAGES {
        exactly(page.len(), pwrite(&file, &page, number * stride as u64)?)?;
    }
    rustix::fs::ftruncate(&file, PAGES * stride as u64)?;
    Ok(file)
}

/// Keeps huge pages of any size out of a mapping; a kernel that refuses has none.
pub(crate) fn base_pages_only(mapping: &Mapping) -> Result<(), Failure> {
    match mapping.advise(Advice::LinuxNoHugepage) {
        Ok(()) | Err(Failure::Errno { errno: libc::EINVAL }) => Ok(()),
        refused => refused,
    }
}

/// Counts this thread's page faults that read nothing from a device.
#[derive(Clone, Default)]
pub(crate) struct Faults(Rc<Cell<u64>>);

impl Faults {
    pub(crate) fn start(&self) -> Result<(), Failure> {
        self.0.set(minor_faults()?);
        Ok(())
    }

    pub(crate) fn taken(&self) -> Result<u64, Failure> {
        Ok(minor_faults()? - self.0.get())
    }

    pub(crate) fn check(&self, times: u64) -> Result<(), Failure> {
        match self.taken()? {
            0 => Err(Failure::skip("this kernel does not count page faults", "")),
            taken if (times..=times + STRAY).contains(&taken) => Ok(()),
            taken => Err(Failure::wrong(format!("{times} touches took {taken} page faults"))),
        }
    }
}

fn minor_faults() -> Result<u64, Failure> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the structure is there to be written.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
        return Err(Failure::last_os_error());
    }
    // SAFETY: all zeroes is a valid value, and the call has written over them.
    let usage = unsafe { usage.assume_init() };
    Ok(usage.ru_minflt as u64)
}

/// Mapped memory; dropping it unmaps it.
pub(crate) struct Mapping {
    start: *mut u8,
    length: usize,
}

impl Mapping {
    /// Private memory without a file.
    #[inline(always)]
    pub(crate) fn anonymous(length: usize) -> Result<Mapping, Failure> {
        // SAFETY: the kernel chooses the address, so that nothing mapped before is touched.
        let start = unsafe { mmap_anonymous(null_mut(), length, writable(), MapFlags::PRIVATE) }?;
        Ok(Mapping { start: start.cast(), length })
    }

    /// Private memory of huge pages that an administrator has set aside, one [`HUGE`] each.
    pub(crate) fn set_aside(length: usize) -> Result<Mapping, Failure> {
        let flags = MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_2MB;
        // SAFETY: the kernel chooses the address, so that nothing mapped before is touched.
        let start = unsafe { mmap_anonymous(null_mut(), length, writable(), flags) }?;
        Ok(Mapping { start: start.cast(), length })
    }

    /// The beginning of a file, to be read.
    pub(crate) fn shared(file: impl AsFd, length: usize) -> Result<Mapping, Failure> {
        // SAFETY: the kernel chooses the address, so that nothing mapped before is touched.
        let start = unsafe { mmap(null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, 0) }?;
        Ok(Mapping { start: start.cast(), length })
    }

    /// The beginning of a file, to be written without changing the file.
    fn private(file: impl AsFd, length: usize) -> Result<Mapping, Failure> {
        // SAFETY: the kernel chooses the address, so that nothing mapped before is touched.
        let start = unsafe { mmap(null_mut(), length, writable(), MapFlags::PRIVATE, file, 0) }?;
        Ok(Mapping { start: start.cast(), length })
    }

    /// Writes one byte, as the program's text says and when it says so.
    #[inline(always)]
    pub(crate) fn write(&self, offset: usize) {
        // SAFETY: `at` has checked that the byte is mapped; only private mappings, which are writable, are written.
        unsafe { self.at(offset).write_volatile(1) }
    }

    /// Reads one byte, as the program's text says and when it says so.
    #[inline(always)]
    pub(crate) fn read(&self, offset: usize) {
        // SAFETY: `at` has checked that the byte is mapped, and every mapping is readable.
        unsafe { self.at(offset).read_volatile() };
    }

    /// Where in it the first huge page can lie.
    pub(crate) fn first_huge(&self) -> usize {
        self.start.align_offset(HUGE)
    }

    #[inline(always)]
    fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.length, "a touch outside the mapping");
        self.start.wrapping_add(offset)
    }

    /// The bytes of a mapped file that nobody writes or cuts.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes are mapped as long as `self` lives, and the scratch file behind them stays as it is.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    pub(crate) fn advise(&self, advice: Advice) -> Result<(), Failure> {
        // SAFETY: the range is this mapping; advice on page sizes does not change what it holds.
        Ok(unsafe { madvise(self.address(), self.length, advice) }?)
    }

    /// Forgets all pages, `piece` bytes at a time: the next touch of each faults.
    fn drop_pages(&self, piece: usize) -> Result<(), Failure> {
        for offset in (0..self.length).step_by(piece) {
            let length = piece.min(self.length - offset);
            // SAFETY: the range lies in this mapping, whose contents nobody relies on or which the file still has.
            unsafe { madvise(self.at(offset).cast(), length, Advice::LinuxDontNeed) }?;
        }
        Ok(())
    }

    /// Unmaps it now, and says whether that went well.
    #[inline(always)]
    pub(crate) fn unmap(self) -> Result<(), Failure> {
        let (start, length) = (self.address(), self.length);
        std::mem::forget(self);
        // SAFETY: the range was this mapping, which is gone for good.
        Ok(unsafe { munmap(start, length) }?)
    }

    fn address(&self) -> *mut c_void {
        self.start.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this mapping, and nothing borrows from it any more. A failure could only leak it.
        let _ = unsafe { munmap(self.address(), self.length) };
    }
}

fn writable() -> ProtFlags {
    ProtFlags::READ | ProtFlags::WRITE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_touch_takes_one_fault() {
        crate::trial::perform_all(OPERATIONS);
    }

    #[test]
    fn touches_that_do_not_fault_are_found_out() {
        let mapping = Rc::new(Mapping::anonymous(PAGES as usize * page_size()).expect("memory"));
        let dropped = Rc::clone(&mapping);
        let touched = counted(move |_| mapping.write(0), move |_| dropped.drop_pages(DROP));
        assert!(matches!(touched, Err(Failure::Wrong(_))));
    }

    #[test]
    fn faults_are_counted_one_by_one() {
        let counted = || {
            let mapping = Mapping::anonymous(23 * page_size()).expect("memory");
            base_pages_only(&mapping).expect("advice");
            let faults = Faults::default();
            faults.start().expect("a count");
            (0..23).for_each(|page| mapping.write(page * page_size()));
            faults.taken()
        };
        // The first time, pages of the program's own code may fault as well.
        counted().expect("a count");
        assert_eq!(counted(), Ok(23));
    }
}
