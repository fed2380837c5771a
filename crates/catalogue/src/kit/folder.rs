//! Folders in which creating a file costs the same in every round, whatever was created and deleted on this file system
//! before.
//!
//! ext4 takes the inode of a new file from the group of its folder. It searches from the beginning of the group and skips,
//! one by one, inodes that were deleted minutes before (`find_inode_bit` and `recently_deleted` in fs/ext4/ialloc.c). Where
//! thousands of files were created and deleted, as in /tmp, a file costs 10 to 20 µs depending on their number, and
//! elsewhere 5 (Linux 6.18). Folders within a folder that is marked as a top-level one (`chattr +T`) are spread over the
//! groups with the fewest folders.

use std::cell::Cell;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use operation::{Failure, Setting};
use rustix::fs::{FileType, IFlags, Mode, ioctl_getflags, ioctl_setflags, mknodat};

use super::scratch::{folder, names, new_file, scratch};

/// The number of candidate folders; the one in which files are created fastest is used. Other programs may just have
/// deleted thousands of files in the same group, and then a file takes 25 to 80 us there.
const CANDIDATES: u32 = 5;

/// A new folder below the scratch folder, open, in a part of the file system where few files were created; another part
/// each time. On file systems without this mark, it is an ordinary folder. Fails if it cannot be created.
pub(crate) fn apart(setting: &Setting) -> Result<OwnedFd, Failure> {
    let around = scratch(setting)?;
    // File systems other than the ext family reject the mark, and do not need it.
    let _ = ioctl_getflags(&around).and_then(|flags| ioctl_setflags(&around, flags | IFlags::TOPDIR));
    // The search for a group begins at a hash of the name, so no two rounds may use the same name.
    let name = format!("{:016x}", fastrand::Rng::new().u64(..));
    folder(&around, &name)
}

/// The fastest of several folders in different groups, and names for the files in it.
pub(crate) struct Fresh {
    /// The folder, open. The file `file` is in it.
    pub(crate) folder: OwnedFd,
    made: Cell<u64>,
}

impl Fresh {
    fn new(setting: &Setting) -> Result<Fresh, Failure> {
        let candidate = |_| {
            let folder = apart(setting)?;
            Ok((probed(&folder)?, folder))
        };
        let candidates: Vec<(Duration, OwnedFd)> = (0..CANDIDATES).map(candidate).collect::<Result<_, Failure>>()?;
        let fastest = candidates.into_iter().min_by_key(|(took, _)| *took);
        let (_, folder) = fastest.ok_or_else(|| Failure::wrong("there is no folder"))?;
        new_file(&folder)?;
        Ok(Fresh { folder, made: Cell::new(0) })
    }

    /// A new folder. It becomes the working folder, so that names are single components.
    pub(crate) fn entered(setting: &Setting) -> Result<Fresh, Failure> {
        let fresh = Fresh::new(setting)?;
        rustix::process::fchdir(&fresh.folder)?;
        Ok(fresh)
    }

    /// Names that no file of this folder has had.
    pub(crate) fn names(&self, count: u64) -> Result<Vec<CString>, Failure> {
        let first = self.made.replace(self.made.get() + count);
        names("new", first..first + count)
    }
}

/// The shortest time taken to create each of a few files here. The files stay.
fn probed(folder: &OwnedFd) -> Result<Duration, Failure> {
    let mut least = Duration::MAX;
    for name in [c"probe0", c"probe1", c"probe2"] {
        let start = Instant::now();
        mknodat(folder, name, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        least = least.min(start.elapsed());
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use operation::Setting;
    use record::Point;
    use rustix::fs::{fstat, fstatfs};

    use super::*;

    /// The magic number of ext2, ext3 and ext4, and the most inodes that one of their groups has with 4 KiB blocks.
    const EXT: u32 = 0xEF53;
    const GROUP: u64 = 32768;

    fn setting(folder: std::path::PathBuf) -> Setting {
        Setting::new(Point::default(), folder, 0, None, 1)
    }

    /// The folder's inode number gives its group.
    #[test]
    fn folders_lie_in_other_groups_than_the_scratch_folder_and_than_each_other() {
        let space = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let setting = setting(space.path().into());
        let home = scratch(&setting).expect("open");
        let system = fstatfs(&home).expect("a file system");
        if system.f_type as u32 != EXT || system.f_files < 64 * GROUP {
            return testing::not_tested!("{} is on no large ext4", space.path().display());
        }
        let group = |folder: &OwnedFd| fstat(folder).expect("its attributes").st_ino / GROUP;
        let kept: Vec<OwnedFd> = (0..8).map(|_| apart(&setting).expect("a folder")).collect();
        let groups: BTreeSet<u64> = kept.iter().map(group).collect();
        // Groups are chosen at random: now and then one is that of the scratch folder.
        let at_home = kept.iter().filter(|folder| group(folder) == group(&home)).count();
        assert!(groups.len() > 2 && at_home < 3, "{groups:?}, and {}", group(&home));
    }

    #[test]
    fn no_name_comes_twice() {
        let home = tempfile::tempdir().expect("a folder");
        let fresh = Fresh::new(&setting(home.path().join("own"))).expect("a fresh folder");
        let names: BTreeSet<CString> = [3, 5, 1].iter().flat_map(|&count| fresh.names(count).expect("names")).collect();
        assert_eq!(names.len(), 9);
    }
}
