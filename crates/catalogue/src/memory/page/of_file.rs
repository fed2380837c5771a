//! Files whose pages are mapped.

use operation::{Failure, Setting};
use rustix::fd::AsFd;
use rustix::param::page_size;

use crate::file::reading::source::within_limit;
use crate::kit::library::{self, pwrite};
use crate::kit::{exactly, new_file, scratch};

/// A scratch file with this number of pages in memory, one in each `stride`, and holes between them.
pub(super) fn file_of(setting: &Setting, (pages, stride): (u64, usize)) -> Result<impl AsFd + use<>, Failure> {
    within_limit(pages * stride as u64)?;
    let file = new_file(&scratch(setting)?)?;
    let page = vec![1; page_size()];
    for number in 0..pages {
        exactly(page.len(), pwrite(&file, &page, number * stride as u64)?)?;
    }
    library::ftruncate(&file, pages * stride as u64)?;
    Ok(file)
}
