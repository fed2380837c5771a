//! Many small files, in folders of 64, to be gone through by name. Does not know what is timed.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use operation::{Failure, Setting};
use rustix::fs::{FileType, Mode, OFlags, mknodat};

use super::check::exactly;
use super::folder::apart;
use super::scratch::{folder, names};
use crate::kit::library::{self, openat};

/// Files of one folder.
const FOLDER: usize = 64;

/// Files of a tree. Their contents are the same, their names are not.
pub(crate) struct Tree {
    folders: Vec<OwnedFd>,
    names: Vec<CString>,
    next: usize,
}

impl Tree {
    /// This number of files in a part of the file system with few files, each of this number of bytes. Fails if they
    /// cannot be created.
    pub(crate) fn new(setting: &Setting, files: usize, bytes: usize) -> Result<Tree, Failure> {
        let around = apart(setting)?;
        let content = vec![1_u8; bytes];
        let (mut folders, names) = (Vec::new(), names("file", 0..files as u64)?);
        for (file, name) in names.iter().enumerate() {
            if file % FOLDER == 0 {
                folders.push(folder(&around, &format!("folder{}", file / FOLDER))?);
            }
            create(&folders[file / FOLDER], name, &content)?;
        }
        Ok(Tree { folders, names, next: 0 })
    }

    /// The next file, by its folder and its name; the first follows the last.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> (&OwnedFd, &CStr) {
        let here = self.next;
        self.next = if here + 1 == self.names.len() { 0 } else { here + 1 };
        (&self.folders[here / FOLDER], &self.names[here])
    }

    /// The next file, opened for reading.
    #[inline(always)]
    pub(crate) fn open_next(&mut self) -> Result<OwnedFd, Failure> {
        let (folder, name) = self.next();
        Ok(openat(folder, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
    }
}

pub(crate) fn create(folder: &OwnedFd, name: &CStr, content: &[u8]) -> Result<(), Failure> {
    if content.is_empty() {
        return Ok(mknodat(folder, name, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0)?);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?;
    exactly(content.len(), library::write(&file, content)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use operation::Setting;
    use record::Point;
    use rustix::fs::{AtFlags, statat};

    use super::*;

    #[test]
    fn every_file_comes_once_before_the_first_comes_again() {
        let home = tempfile::tempdir().expect("a folder");
        let setting = Setting::new(Point::default(), home.path().join("own"), 0, None, 1);
        std::fs::create_dir(home.path().join("own")).expect("the scratch folder");
        let mut tree = Tree::new(&setting, 130, 5).expect("a tree");
        let mut number = || {
            let (folder, name) = tree.next();
            let found = statat(folder, name, AtFlags::empty()).expect("a file");
            assert_eq!(found.st_size, 5);
            found.st_ino
        };
        let first = number();
        let others: BTreeSet<u64> = (1..130).map(|_| number()).collect();
        assert_eq!((others.len(), others.contains(&first)), (129, false));
        assert_eq!(number(), first);
    }
}
