//! A cgroup: its id for the programs in the kernel, its processes, and its name by its id.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use system::machine::Hierarchy;

use crate::target::ObserveError;

/// A cgroup that exists.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
    /// Its id, and how deep it lies below the root, if that is known; only in the unified hierarchy.
    pub id: Option<(u64, Option<i32>)>,
}

impl Cgroup {
    /// Looks at a folder of a cgroup file system.
    pub(crate) fn open(path: &Path) -> Result<Cgroup, ObserveError> {
        let wrong = |why: io::Error| ObserveError::NoCgroup { path: path.into(), why };
        let folder = path.canonicalize().map_err(wrong)?;
        fs::metadata(folder.join("cgroup.procs")).map_err(wrong)?;
        let is_unified = |folder: &Path| folder.join("cgroup.controllers").exists();
        let device = |folder: &Path| fs::metadata(folder).map(|metadata| metadata.dev()).ok();
        let inode = fs::metadata(&folder).map_err(wrong)?.ino();
        let above = folder.ancestors().skip(1).take_while(|above| device(above) == device(&folder));
        // The id of a cgroup is the inode of its folder.
        let depth = (!in_namespace()).then(|| above.count() as i32);
        let id = is_unified(&folder).then_some((inode, depth));
        Ok(Cgroup { path: folder, id })
    }

    /// The processes in it and in those below it, as it is now.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mut found = Vec::new();
        for folder in folders(self.path.clone()) {
            let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            found.extend(text.lines().filter_map(|line| line.trim().parse::<u32>().ok()));
        }
        found
    }
}

/// A folder and all below it.
fn folders(root: PathBuf) -> impl Iterator<Item = PathBuf> {
    let mut waiting = vec![root];
    std::iter::from_fn(move || {
        let folder = waiting.pop()?;
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        waiting.extend(below.map(|entry| entry.path()));
        Some(folder)
    })
}

/// True if the root of this process's cgroups lies below the true one, whose namespace has a fixed inode
/// (include/uapi/linux/nsfs.h, `CGROUP_NS_INIT_INO`).
fn in_namespace() -> bool {
    const FIRST: u64 = 0xefff_fffb;
    fs::metadata("/proc/self/ns/cgroup").is_ok_and(|metadata| metadata.ino() != FIRST)
}

/// The names of a folder that are numbers.
pub(crate) fn numbers_in(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Cgroups of a system beyond these are not named.
const MOST: usize = 10_000;

/// Names that are kept, those of cgroups that are gone among them.
const KEPT: usize = 2 * MOST;

/// The id of the root of the unified hierarchy, mounted or not (the kernel's `kernfs_create_root` counts from 1).
const ROOT: u64 = 1;

/// The names of cgroups by id, read when one is requested that is not known.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<u64, Option<String>>);

impl Names {
    /// The name of the cgroup with this id; 0 is none.
    pub(crate) fn of(&mut self, id: u64) -> Option<String> {
        if id == 0 {
            return None;
        }
        if !self.0.contains_key(&id) {
            if self.0.len() > KEPT {
                self.0.clear();
            }
            self.0.insert(ROOT, Some("/".into()));
            self.0.extend(names().into_iter().map(|(id, name)| (id, Some(name))));
            // A cgroup that is gone is looked for once.
            self.0.entry(id).or_default();
        }
        self.0.get(&id).cloned().flatten()
    }
}

/// The names of the cgroups of the unified hierarchy by id, as they are now. Empty if it is not mounted.
pub(crate) fn names() -> HashMap<u64, String> {
    let mut names = HashMap::new();
    let Some(root) = mounted() else { return names };
    for folder in folders(root.clone()).take(MOST) {
        let Ok(inode) = fs::metadata(&folder).map(|metadata| metadata.ino()) else { continue };
        let below = folder.strip_prefix(&root).unwrap_or(&folder);
        names.insert(inode, format!("/{}", below.display()));
    }
    names
}

/// Where the unified hierarchy is mounted.
fn mounted() -> Option<PathBuf> {
    let [own, mounts] = ["cgroup", "mountinfo"].map(|name| fs::read_to_string(format!("/proc/self/{name}")));
    Hierarchy::of(&own.ok()?, &mounts.ok()?, None)?.folders.pop()
}

/// The cgroup of a process that runs, in the unified hierarchy.
pub(crate) fn of_process(process: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("0::")).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_id_and_those_of_none_are_not() {
        let mut names = Names::default();
        assert_eq!(names.of(ROOT).as_deref(), Some("/"));
        let gone = [u64::MAX, u64::MAX - 1];
        assert_eq!((names.of(0), gone.map(|id| names.of(id))), (None, [None, None]));
        assert!(gone.iter().all(|id| names.0.contains_key(id)), "each is looked for once");
        assert_eq!(names.of(ROOT).as_deref(), Some("/"), "an unknown one does not disturb the others");
        for (id, name) in super::names().into_iter().take(3) {
            assert_eq!(names.of(id), Some(name));
        }
    }

    #[test]
    fn a_folder_that_is_no_cgroup_is_refused() {
        let refused = Cgroup::open(Path::new("/proc")).expect_err("/proc is none").to_string();
        assert!(refused.contains("/proc is no cgroup"), "{refused}");
    }

    #[test]
    fn this_process_has_a_cgroup_with_a_name() {
        let names = names();
        let Some(own) = of_process(std::process::id()).filter(|_| !names.is_empty()) else {
            return testing::not_tested!("there is no unified hierarchy of cgroups; mount cgroup2");
        };
        assert!(names.values().any(|name| *name == own), "{own}");
    }
}
