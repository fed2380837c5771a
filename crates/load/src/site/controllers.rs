//! Which control groups this machine offers, of which version, and where new ones can be made.

use std::path::{Path, PathBuf};

use super::text::read;

/// The version of the interface of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// One hierarchy for each controller.
    One,
    /// One hierarchy for all.
    Two,
}

impl Version {
    /// `control groups, version 1`.
    pub fn name(self) -> &'static str {
        match self {
            Version::One => "control groups, version 1",
            Version::Two => "control groups, version 2",
        }
    }
}

/// A folder in which groups can be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub version: Version,
    pub folder: PathBuf,
}

/// The folders in which groups can be made, by controller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Controllers {
    /// Limits memory and counts it.
    pub(super) memory: Option<Place>,
    /// Counts processor time.
    pub(super) time: Option<Place>,
    /// Why memory cannot be limited.
    pub(super) why_not: String,
}

struct Mounted {
    version: Version,
    folder: PathBuf,
    /// The controllers of version 1.
    options: Vec<String>,
}

impl Controllers {
    pub fn find() -> Controllers {
        Controllers::among(&read(Path::new("/proc/self/mountinfo")), &read(Path::new("/proc/self/cgroup")))
    }

    /// How memory is limited; `None` if it cannot be.
    pub fn version(&self) -> Option<Version> {
        self.memory.as_ref().map(|place| place.version)
    }

    /// Why memory cannot be limited; empty if it can.
    pub fn why_not(&self) -> &str {
        &self.why_not
    }

    fn among(mountinfo: &str, own: &str) -> Controllers {
        let mounted = mounted(mountinfo);
        let one = |controller: &str| {
            let holds_it = |mounted: &&Mounted| {
                mounted.version == Version::One && mounted.options.iter().any(|option| option == controller)
            };
            mounted.iter().find(holds_it).and_then(|mounted| place(mounted, own_group(own, controller), |_| true))
        };
        let two = |holds: &dyn Fn(&Path) -> bool| {
            let mounted = mounted.iter().find(|mounted| mounted.version == Version::Two)?;
            place(mounted, own_group(own, ""), holds)
        };
        let has_memory = |folder: &Path| {
            let words = read(&folder.join("cgroup.controllers"));
            words.split_whitespace().any(|word| word == "memory")
        };
        // Memory is in one hierarchy only. Where it is of version 2, time is counted there too.
        let memory = one("memory").or_else(|| two(&has_memory));
        let time = match &memory {
            Some(place) if place.version == Version::Two => Some(place.clone()),
            _ => one("cpuacct").or_else(|| two(&|_| true)),
        };
        let why_not = match &memory {
            Some(_) => String::new(),
            None if mounted.is_empty() => "no control groups are mounted".into(),
            None => "there is no right to make a control group for memory".into(),
        };
        Controllers { memory, time, why_not }
    }
}

/// A folder of this hierarchy in which a group can be made: its root as this process sees it, else the own group, whose
/// limits then hold too.
fn place(mounted: &Mounted, own: Option<&str>, holds: impl Fn(&Path) -> bool) -> Option<Place> {
    let below = own.map(|own| mounted.folder.join(own.trim_start_matches('/')));
    let mut folders = [Some(mounted.folder.clone()), below].into_iter().flatten();
    let writable = |folder: &PathBuf| rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok();
    folders.find(|folder| writable(folder) && holds(folder)).map(|folder| Place { version: mounted.version, folder })
}

/// The group of this process in the hierarchy of a controller; that of version 2 has none.
fn own_group<'a>(text: &'a str, controller: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?;
        let path = parts.next()?;
        controllers.split(',').any(|word| word == controller).then_some(path)
    })
}

/// The hierarchies in the text of `/proc/self/mountinfo`.
fn mounted(text: &str) -> Vec<Mounted> {
    let of_line = |line: &str| {
        let (mount, system) = line.split_once(" - ")?;
        let folder = mount.split_whitespace().nth(4)?.replace("\\040", " ");
        let mut words = system.split_whitespace();
        let version = match words.next()? {
            "cgroup" => Version::One,
            "cgroup2" => Version::Two,
            _ => return None,
        };
        let options = words.nth(1).unwrap_or_default().split(',').map(String::from).collect();
        Some(Mounted { version, folder: folder.into(), options })
    };
    text.lines().filter_map(of_line).collect()
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
        let found = Controllers::among(&mixed, "4:memory:/a\n0::/b\n");
        assert_eq!(found.version(), Some(Version::One));
        assert_eq!(found.memory.map(|place| place.folder), Some(memory));
        assert_eq!(found.time.map(|place| (place.version, place.folder)), Some((Version::One, time)));

        let pure = line(&unified, "cgroup2", "rw");
        let found = Controllers::among(&pure, "0::/\n");
        assert_eq!(found.version(), None, "version 2 without the controller for memory");
        assert!(found.why_not().contains("no right"));
        fs::write(unified.join("cgroup.controllers"), "cpuset cpu io memory pids\n").expect("a file");
        let found = Controllers::among(&pure, "0::/\n");
        assert_eq!((found.version(), found.time == found.memory), (Some(Version::Two), true));
        assert!(Controllers::among("", "").why_not().contains("mounted"));
    }
}
