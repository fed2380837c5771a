//! A folder in which making files costs the same in every round. A file system may pass over files deleted within the
//! last minutes when it looks for room for a new one (ext4 without a journal: 25 ns for each), so that each file made and
//! deleted makes the next one dearer: the same folder told 8 us for a FIFO at first and 16 us after some thousands.

use std::cell::Cell;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use operation::{Failure, Setting};
use rustix::fs::{Mode, OFlags, openat};

use super::raw::call;
use crate::syscall::{exactly, new_file, scratch};

/// Commands of `ioctl` on the flags that chattr shows, of linux/fs.h.
const GET_FLAGS: u32 = 0x8008_6601;
const SET_FLAGS: u32 = 0x4008_6602;

/// `FS_TOPDIR_FL` of linux/fs.h: folders in this one are spread over the whole file system instead of being put together.
const SPREAD: u32 = 0x0002_0000;

/// Folders of which the one is taken that files are made in fastest: others may just have deleted thousands where one
/// of them was put, and then a file takes 25 to 80 us there.
const CANDIDATES: u32 = 5;

/// A folder of this round's own, far from what other rounds and programs deleted.
pub(super) struct Fresh {
    /// The folder, open; the file `file` is in it.
    pub(super) folder: OwnedFd,
    made: Cell<u64>,
}

impl Fresh {
    /// A new folder within the scratch folder, which goes with it.
    fn new(setting: &Setting) -> Result<Fresh, Failure> {
        let around = scratch(setting)?;
        spread(&around);
        let mut best: Option<(Duration, OwnedFd)> = None;
        for _ in 0..CANDIDATES {
            let folder = somewhere(&around)?;
            let took = probed(&folder)?;
            if best.as_ref().is_none_or(|(least, _)| took < *least) {
                best = Some((took, folder));
            }
        }
        let (_, folder) = best.ok_or_else(|| Failure::wrong("there is no folder"))?;
        new_file(&folder)?;
        Ok(Fresh { folder, made: Cell::new(0) })
    }

    /// The same, made the working folder, so that names are single components.
    pub(super) fn entered(setting: &Setting) -> Result<Fresh, Failure> {
        let fresh = Fresh::new(setting)?;
        rustix::process::fchdir(&fresh.folder)?;
        Ok(fresh)
    }

    /// Names that no file of this folder has had.
    pub(super) fn names(&self, count: u64) -> Result<Vec<CString>, Failure> {
        let first = self.made.replace(self.made.get() + count);
        let name = |number| CString::new(format!("new{number}")).map_err(|_| Failure::wrong("a name holds a zero"));
        (first..first + count).map(name).collect()
    }
}

/// A new folder in this one, put wherever the file system likes.
fn somewhere(around: &OwnedFd) -> Result<OwnedFd, Failure> {
    // Where it is put depends on its name, and no two rounds must have the same place.
    let mut chance = [0_u64];
    exactly(8, call!(getrandom, &mut chance, 8, 0)?)?;
    let name = CString::new(format!("{:016x}", chance[0])).map_err(|_| Failure::wrong("a name holds a zero"))?;
    exactly(0, call!(mkdirat, around, &name, 0o700)?)?;
    Ok(openat(around, &name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// The least time it took to make each of a few files here, which stay.
fn probed(folder: &OwnedFd) -> Result<Duration, Failure> {
    let mut least = Duration::MAX;
    for name in [c"probe0", c"probe1", c"probe2"] {
        let start = Instant::now();
        exactly(0, call!(mknodat, folder, name, libc::S_IFIFO | 0o600, 0)?)?;
        least = least.min(start.elapsed());
    }
    Ok(least)
}

/// Has folders in this one spread, where the file system knows of that.
fn spread(folder: &OwnedFd) {
    let mut flags = [0_u32; 2];
    if call!(ioctl, folder, GET_FLAGS, &mut flags).is_ok() {
        flags[0] |= SPREAD;
        let _ = call!(ioctl, folder, SET_FLAGS, &flags);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ext2, ext3 and ext4.
    const EXT4: u32 = 0xef53;

    #[test]
    fn fresh_folders_are_spread_over_an_ext4_file_system() {
        let home = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let mut places = std::collections::BTreeSet::new();
        for round in 0..16 {
            let scratch_folder = home.path().join(round.to_string());
            let setting = Setting::new(record::Point::default(), scratch_folder, 0, None, 1);
            let fresh = Fresh::new(&setting).expect("a fresh folder");
            let around = scratch(&setting).expect("the scratch folder");
            if rustix::fs::fstatfs(&around).expect("its file system").f_type as u32 != EXT4 {
                testing::not_tested!("{} is not on ext4", home.path().display());
                return;
            }
            let number = |folder: &OwnedFd| rustix::fs::fstat(folder).expect("its number").st_ino;
            // Groups have some thousands of files; what is put together lies within few of them.
            places.insert(number(&fresh.folder) / 8192);
        }
        assert!(places.len() >= 8, "16 folders lie in {} places", places.len());
    }

    #[test]
    fn no_name_comes_twice() {
        let home = tempfile::tempdir().expect("a folder");
        let setting = Setting::new(record::Point::default(), home.path().join("own"), 0, None, 1);
        let fresh = Fresh::new(&setting).expect("a fresh folder");
        let names: std::collections::BTreeSet<CString> =
            [3, 5, 1].iter().flat_map(|&count| fresh.names(count).expect("names")).collect();
        assert_eq!(names.len(), 9);
    }
}
