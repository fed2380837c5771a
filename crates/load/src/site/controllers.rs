//! Which control groups this machine offers, of which version, and where new ones can be made.

use std::path::{Path, PathBuf};

use system::machine::Hierarchy;

use super::text::read;

/// A folder in which groups can be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// Of the interface of control groups: 1 has a hierarchy for each controller, 2 one for all.
    pub version: u8,
    pub folder: PathBuf,
}

/// The folders in which groups can be made, by controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Controllers {
    /// Limits memory and counts it.
    pub(super) memory: Option<Place>,
    /// Counts processor time.
    pub(super) time: Option<Place>,
    /// Why memory cannot be limited; empty if it can.
    pub why_not: String,
}

impl Controllers {
    pub fn find() -> Controllers {
        Controllers::among(&read(Path::new("/proc/self/mountinfo")), &read(Path::new("/proc/self/cgroup")))
    }

    /// By which version memory is limited; `None` if it cannot be.
    pub fn version(&self) -> Option<u8> {
        self.memory.as_ref().map(|place| place.version)
    }

    /// The same in words.
    pub fn name(&self) -> Option<&'static str> {
        Some(if self.version()? == 1 { "control groups, version 1" } else { "control groups, version 2" })
    }

    fn among(mountinfo: &str, own: &str) -> Controllers {
        let one = |controller: &str| place(Hierarchy::of(own, mountinfo, Some(controller)).as_ref(), |_| true);
        let two = Hierarchy::of(own, mountinfo, None);
        let has = |folder: &Path, file: &str| read(&folder.join(file)).split_whitespace().any(|word| word == "memory");
        let has_memory = |folder: &Path| has(folder, "cgroup.controllers");
        // Version 2 enables a controller only below a group without processes of its own, but for the root, which has no type.
        let is_free = |folder: &Path| {
            has(folder, "cgroup.subtree_control")
                || !folder.join("cgroup.type").exists()
                || read(&folder.join("cgroup.procs")).is_empty()
        };
        // Memory is in one hierarchy only. Where it is of version 2, time is counted there too.
        let memory = one("memory").or_else(|| place(two.as_ref(), |folder| has_memory(folder) && is_free(folder)));
        let time = match &memory {
            Some(place) if place.version == 2 => Some(place.clone()),
            _ => one("cpuacct").or_else(|| place(two.as_ref(), |_| true)),
        };
        let occupied = || place(two.as_ref(), has_memory).map(|place| place.folder.display().to_string());
        let why_not = match (&memory, occupied()) {
            (Some(_), _) => String::new(),
            (None, Some(folder)) => format!(
                "the control group {folder} has processes of its own, below which version 2 limits no memory; move them into a child \
                 of it"
            ),
            _ if two.is_none() && Hierarchy::of(own, mountinfo, Some("memory")).is_none() => {
                "no control groups are mounted".into()
            }
            _ => "there is no right to make a control group for memory".into(),
        };
        Controllers { memory, time, why_not }
    }
}

/// A folder of this hierarchy in which a group can be made: its root as this process sees it, else the own group or one above it, whose
/// limits then hold too.
fn place(hierarchy: Option<&Hierarchy>, holds: impl Fn(&Path) -> bool) -> Option<Place> {
    let &Hierarchy { version, ref folders } = hierarchy?;
    let writable = |folder: &&PathBuf| rustix::fs::access(*folder, rustix::fs::Access::WRITE_OK).is_ok();
    let mut folders = folders.last().into_iter().chain(folders);
    let folder = folders.find(|folder| writable(folder) && holds(folder))?;
    Some(Place { version, folder: folder.clone() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn both_versions_are_found_where_they_are_mounted() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| {
            let folder = root.path().join(name);
            fs::create_dir_all(&folder).expect("a folder");
            folder
        };
        let (memory, time, unified) = (at("memory"), at("cpu,cpuacct"), at("unified"));
        let line = |folder: &Path, kind: &str, options: &str| {
            format!("36 25 0:30 / {} rw,nosuid - {kind} {kind} {options}\n", folder.display())
        };
        let mixed = line(&memory, "cgroup", "rw,memory")
            + &line(&time, "cgroup", "rw,cpu,cpuacct")
            + &line(&unified, "cgroup2", "rw,nsdelegate");
        let found = Controllers::among(&mixed, "4:memory:/a\n3:cpu,cpuacct:/a\n0::/b\n");
        assert_eq!(found.version(), Some(1));
        assert_eq!(found.memory.map(|place| place.folder), Some(memory));
        assert_eq!(found.time.map(|place| (place.version, place.folder)), Some((1, time)));

        let pure = line(&unified, "cgroup2", "rw");
        let found = Controllers::among(&pure, "0::/\n");
        assert_eq!(found.version(), None, "version 2 without the controller for memory");
        assert!(found.why_not.contains("no right"));
        fs::write(unified.join("cgroup.controllers"), "cpuset cpu io memory pids\n").expect("a file");
        let found = Controllers::among(&pure, "0::/\n");
        assert_eq!((found.version(), found.time == found.memory), (Some(2), true));
        assert!(Controllers::among("", "").why_not.contains("mounted"));
    }

    /// A delegated group of version 2 that holds howslow itself, and its shell in a child of it.
    #[test]
    fn memory_is_limited_only_below_a_group_without_processes() {
        let root = tempfile::tempdir().expect("a folder");
        let (group, leaf) = (root.path().join("delegated"), root.path().join("delegated/leaf"));
        fs::create_dir_all(&leaf).expect("folders");
        let write = |folder: &Path, name: &str, text: &str| fs::write(folder.join(name), text).expect("a file");
        for folder in [&group, &leaf] {
            write(folder, "cgroup.controllers", "cpu memory pids\n");
            write(folder, "cgroup.type", "domain\n");
            write(folder, "cgroup.procs", "17\n");
        }
        let mounted = format!("31 24 0:26 / {} rw - cgroup2 cgroup2 rw\n", root.path().display());
        let found = Controllers::among(&mounted, "0::/delegated\n");
        assert_eq!(found.version(), None);
        assert!(found.why_not.contains("has processes of its own"), "{}", found.why_not);
        assert!(found.time.is_some(), "time is counted nevertheless");
        write(&group, "cgroup.procs", "");
        let found = Controllers::among(&mounted, "0::/delegated/leaf\n");
        assert_eq!(found.memory, Some(Place { version: 2, folder: group }));
    }
}
