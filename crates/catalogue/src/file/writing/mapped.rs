//! Writers that map the file and store into it.

use operation::{Failure, Operation, word, words};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};

use super::content::Content;
use super::pass::writing;
use super::target::{WrittenFile, refused};
use super::{ANY_POINTS, FILE, ORDER, OVER, RECORD, WRITE};
use crate::file::reading::view::MappedView;
use crate::kit::library::{self, ftruncate, msync};

pub(crate) const OPERATIONS: &[Operation] = &[WRITE
    .id("write.mmap")
    .summary("give a file its length, map it, copy every record into it, msync if the point says so, unmap it")
    .axes(&[OVER, word("sync", words!["none", "msync"]), ORDER, RECORD, FILE])
    .has_point(ANY_POINTS)
    .prepare(|setting| {
        let syncs = setting.word("sync")? == "msync";
        writing(setting, OFlags::empty(), |target| {
            // A mapping for stores must be readable too.
            let (file, plan) = (library::dup(&target.file)?, target.plan);
            let mut content = Content::new(plan.record as usize);
            Ok(move |pass| {
                ftruncate(&file, plan.length).map_err(|error| refused(error, plan.length))?;
                let mut view = WritableView::new(&file, plan.length)?;
                for offset in plan.offsets() {
                    let length = plan.length_at(offset);
                    let record = &content.record(WrittenFile::number(plan, pass, offset))[..length];
                    view.bytes()[offset as usize..][..length].copy_from_slice(record);
                }
                if syncs { view.sync().map_err(|error| refused(error, plan.length)) } else { Ok(()) }
            })
        })
    })];

/// A mapped file.
struct WritableView(MappedView);

impl WritableView {
    fn new(file: impl std::os::fd::AsFd, length: u64) -> Result<WritableView, Failure> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        MappedView::with(access, file, (0, length), MapFlags::SHARED).map(WritableView)
    }

    /// All of it. If the device is full when a page is first stored to, SIGBUS ends the process, which costs only the
    /// round.
    #[inline(always)]
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the range is mapped and writable as long as `self` lives, which is borrowed exclusively; nothing else
        // maps it.
        unsafe { std::slice::from_raw_parts_mut(self.0.0.address().cast(), self.0.0.length) }
    }

    fn sync(&self) -> Result<(), Errno> {
        // SAFETY: the range is this mapping, and the call does not change its content.
        unsafe { msync(self.0.0.address(), self.0.0.length, MsyncFlags::SYNC) }
    }
}
