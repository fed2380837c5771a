//! A cgroup: its id for the programs in the kernel, and its processes.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::target::ObserveError;

/// A cgroup that exists.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
    /// Its id, and how deep it lies below the root; only in the unified hierarchy.
    pub id: Option<(u64, i32)>,
}

impl Cgroup {
    /// Looks at a folder of a cgroup file system.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn open(path: &Path) -> Result<Cgroup, ObserveError> {
        let wrong = |why: io::Error| ObserveError::NoCgroup { path: path.into(), why };
        let folder = path.canonicalize().map_err(wrong)?;
        fs::metadata(folder.join("cgroup.procs")).map_err(wrong)?;
        let is_unified = |folder: &Path| folder.join("cgroup.controllers").exists();
        let device = |folder: &Path| fs::metadata(folder).map(|it| it.dev()).ok();
        let inode = fs::metadata(&folder).map_err(wrong)?.ino();
        let above = folder.ancestors().skip(1).take_while(|above| device(above) == device(&folder));
        // The id of a cgroup is the inode of its folder.
        let id = is_unified(&folder).then(|| (inode, above.count() as i32));
        Ok(Cgroup { path: folder, id })
    }

    /// The processes in it and in those below it, as it is now.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mut found = Vec::new();
        let mut folders = vec![self.path.clone()];
        while let Some(folder) = folders.pop() {
            let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            found.extend(text.lines().filter_map(|line| line.trim().parse::<u32>().ok()));
            let below = fs::read_dir(&folder).into_iter().flatten().flatten();
            folders.extend(below.filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir())).map(|it| it.path()));
        }
        found
    }
}

/// The names of a folder that are numbers.
pub(crate) fn numbers_in(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
