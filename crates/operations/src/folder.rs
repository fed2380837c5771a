//! A folder whose files cost the same whatever was made and deleted on this file system before.
//!
//! ext4 gives a new file an inode of its folder's group. It looks for one from the group's beginning and passes over, one after
//! the other, those that were deleted minutes before (`find_inode_bit` and `recently_deleted` in fs/ext4/ialloc.c): where
//! thousands of files came and went, as in /tmp, a file costs 10 to 20 µs, by how many there were, and elsewhere 5 (Linux 6.18).
//! Folders within a folder that is marked as a top one (`chattr +T`) are spread over the groups with the fewest folders.

use std::time::{SystemTime, UNIX_EPOCH};

use operation::{Failure, Setting};
use rustix::fd::OwnedFd;
use rustix::fs::{IFlags, Mode, OFlags, ioctl_getflags, ioctl_setflags, mkdirat, openat};

use crate::syscall::scratch;

/// A new folder of its own below the scratch folder, open, in a part of the file system where few were made: in another one
/// each time. Where the file system knows no such mark, it is a folder like any other.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn apart(setting: &Setting) -> Result<OwnedFd, Failure> {
    let top = folder(&scratch(setting)?, "top")?;
    // Others than ext4 and its kin refuse the mark, and need none.
    let _ = ioctl_getflags(&top).and_then(|flags| ioctl_setflags(&top, flags | IFlags::TOPDIR));
    // Where the search for a group begins follows from the name.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    folder(&top, &format!("{}-{now}", std::process::id()))
}

/// The folder of this name, made if need be, open.
fn folder(within: &OwnedFd, name: &str) -> Result<OwnedFd, Failure> {
    match mkdirat(within, name, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(openat(within, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use operation::Setting;
    use record::Point;
    use rustix::fs::{fstat, fstatfs};

    use super::*;

    /// What ext2, ext3 and ext4 call themselves, and how many inodes one of their groups has at most with blocks of 4 KiB.
    const EXT: u32 = 0xEF53;
    const GROUP: u64 = 32768;

    /// The folder's inode tells its group.
    #[test]
    fn folders_lie_in_other_groups_than_the_scratch_folder_and_than_each_other() {
        let space = tempfile::tempdir().expect("a folder");
        let setting = Setting::new(Point::default(), space.path().into(), 0, None, 1);
        let home = scratch(&setting).expect("open");
        let system = fstatfs(&home).expect("a file system");
        if system.f_type as u32 != EXT || system.f_files < 64 * GROUP {
            return testing::not_tested!("the scratch folder is on no large ext4; set TMPDIR to a folder on one");
        }
        let group = |folder: &OwnedFd| fstat(folder).expect("its attributes").st_ino / GROUP;
        let kept: Vec<OwnedFd> = (0..4).map(|_| apart(&setting).expect("a folder")).collect();
        let groups: BTreeSet<u64> = kept.iter().map(group).collect();
        assert!(groups.len() > 1 && !groups.contains(&group(&home)), "{groups:?}, and {}", group(&home));
    }
}
