//! What it takes the kernel to give back memory that was used: of each page the frame, or the mapping of the file's page.

use operation::{Axis, Failure, Loop, Operation, numbers, size, word, words};
use rustix::param::page_size;

use super::faults::{FaultCounter, all_there};
use super::frames::room;
use super::of_file::file_of;
use crate::kit::{
    BASE, HUGE, Mapping, MemoryKind, base_pages_only, consuming, huge_bytes, huge_pages, this_time, tried,
};

/// What is mapped: base pages or huge ones of anonymous memory, or pages of a file.
const PAGES: Axis = word("pages", words!["base", "huge", "file"]);
/// What a library has, within the core's private caches; and far more than they hold.
const SIZES: Axis = size(numbers![SMALL, LARGE]);
const SMALL: u64 = 2 << 20;
const LARGE: u64 = 64 << 20;

pub(super) const UNMAP: Operation = BASE
    .id("page.unmap.touched")
    .summary("unmap memory of which every page was touched: its pages are freed, those of a file stay in memory")
    .version(2)
    .calls(&["munmap"])
    .per("mapping")
    .axes(&[PAGES, SIZES])
    .has_point(|point| match point.word("pages") {
        Some("huge") => point.number("size") == Some(LARGE),
        Some("file") => point.number("size") == Some(SMALL),
        _ => true,
    })
    .follows_clock(|point| point.number("size") == Some(SMALL))
    .prepare(|setting| {
        let size = setting.size()?;
        if room()? < size {
            return Err(Failure::skip(
                "a mapping may take an eighth of the free memory, which is less",
                "free memory of 512 MiB",
            ));
        }
        match setting.word("pages")? {
            "huge" => unmapping(size, move || huge(size)),
            "file" => {
                // Written in one piece, the file may lie in a huge page, which is unmapped at once.
                let file = file_of(setting, ((size / page_size()) as u64, page_size()))?;
                let map = move || {
                    let mapping = Mapping::shared(&file, size)?;
                    (0..size).step_by(page_size()).for_each(|offset| mapping.read(offset));
                    Ok(mapping)
                };
                if huge_bytes(map()?.bytes().as_ptr().cast(), MemoryKind::OfFile)? > 0 {
                    return Err(Failure::skip("this file has huge pages", "set TMPDIR to a folder of ext4"));
                }
                unmapping(size, map)
            }
            _ => unmapping(size, move || {
                let mapping = Mapping::anonymous(size)?;
                base_pages_only(&mapping)?;
                (0..size).step_by(page_size()).for_each(|offset| mapping.write(offset));
                Ok(mapping)
            }),
        }
    });

/// A loop that unmaps what `map` mapped and touched before the batch, in all no more than the large size.
fn unmapping(size: usize, map: impl FnMut() -> Result<Mapping, Failure> + 'static) -> Result<Loop, Failure> {
    tried(consuming(map, Mapping::unmap).at_most((LARGE / size as u64).max(1)))
}

/// Memory in huge pages, which nothing splits. Fails if the kernel gave base pages.
fn huge(size: usize) -> Result<Mapping, Failure> {
    let mapping = Mapping::anonymous(size + HUGE)?;
    huge_pages(&mapping)?;
    let first = mapping.first_huge();
    (0..size).step_by(HUGE).for_each(|offset| mapping.write(first + offset));
    let look = || (0..size).step_by(HUGE).for_each(|offset| mapping.read(first + offset + HUGE - 1));
    all_there(&FaultCounter::default(), look).map_err(this_time)?;
    Ok(mapping)
}
