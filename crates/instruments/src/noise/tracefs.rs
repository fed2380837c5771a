//! Finds the descriptions of the kernel's tracepoints. Where nobody has mounted tracefs, a mount that belongs to no
//! namespace serves: no other process sees it, and it is gone with its descriptor.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// The folder of the events.
pub(crate) struct Tracefs(OwnedFd);

impl Tracefs {
    /// Opens it. Fails with why it cannot be opened.
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
        mounted().map(Tracefs).map_err(|error: Errno| refused("tracefs cannot be opened", &error.into()))
    }

    /// A file of an event such as `sched/sched_switch`. Fails with why it cannot be read.
    pub(crate) fn read(&self, event: &str, file: &str) -> std::io::Result<String> {
        let opened = openat(&self.0, format!("{event}/{file}"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut text = String::new();
        File::from(opened).read_to_string(&mut text)?;
        Ok(text)
    }
}

/// What is refused, why, and what would help.
pub(crate) fn refused(what: &str, error: &std::io::Error) -> String {
    let remedy = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::PERM | Errno::ACCESS) => "; that takes root, or CAP_PERFMON and a readable tracefs",
        Some(Errno::MFILE | Errno::NFILE) => "; more open files would do (ulimit -n)",
        _ => "",
    };
    format!("{what} ({error}){remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_fits_the_reason() {
        let sentence = |errno: Errno| refused("tracepoints are refused", &errno.into());
        assert!(
            sentence(Errno::ACCESS).ends_with("takes root, or CAP_PERFMON and a readable tracefs"),
            "{}",
            sentence(Errno::ACCESS)
        );
        assert!(sentence(Errno::MFILE).ends_with("(ulimit -n)"), "{}", sentence(Errno::MFILE));
        assert!(sentence(Errno::NODEV).ends_with(')'), "{}", sentence(Errno::NODEV));
    }
}
