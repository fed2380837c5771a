//! Finds the descriptions of the kernel's tracepoints. Where nobody has mounted tracefs, a mount that belongs to no
//! namespace serves: no other process sees it, and it is gone with its descriptor.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// The folder of the events.
pub(crate) struct Tracefs(OwnedFd);

impl Tracefs {
    /// Opens it.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub(crate) fn open() -> Result<Tracefs, String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        for folder in ["/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"] {
            if let Ok(folder) = openat(CWD, folder, flags, Mode::empty()) {
                return Ok(Tracefs(folder));
            }
        }
        let mounted = || {
            let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_create(&context)?;
            let root = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_RDONLY)?;
            openat(root, "events", flags, Mode::empty())
        };
        mounted().map(Tracefs).map_err(|error: rustix::io::Errno| format!("tracefs cannot be opened ({error})"))
    }

    /// A file of an event such as `sched/sched_switch`.
    pub(crate) fn read(&self, event: &str, file: &str) -> Option<String> {
        let opened =
            openat(&self.0, format!("{event}/{file}"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut text = String::new();
        File::from(opened).read_to_string(&mut text).ok()?;
        Some(text)
    }
}
