//! The limits on this process: its own, and the tightest one on the path from its cgroup up to the mount's root.

use std::path::PathBuf;

use record::{Bytes, Limits};
use rustix::process::{Resource, getrlimit};

use crate::machine::host::Host;
use crate::machine::mounted::mounted_path;

/// A membership: which controllers, and the group's path. Version 2 has one line without controllers.
#[derive(Debug, PartialEq)]
struct Membership {
    controllers: String,
    path: String,
}

/// A mounted hierarchy: its place, and which part of the hierarchy it shows.
#[derive(Debug, PartialEq)]
struct Mount {
    version: u8,
    controllers: String,
    root: String,
    point: String,
}

const LIMIT_OF_MEMORY: [&str; 2] = ["memory.max", "memory.limit_in_bytes"];

/// The hierarchy's version and its limits, and those of this process.
pub fn limits(host: &Host) -> Limits {
    let memberships = memberships(&host.read("proc/self/cgroup").unwrap_or_default());
    let mounts = mounts(&host.read("proc/self/mountinfo").unwrap_or_default());
    let has_v1 = |controller: &str| memberships.iter().any(|group| names(&group.controllers, controller));
    let version = match memberships.as_slice() {
        [] => "none",
        // In a hybrid system, the controllers that limit are in the version-1 mounts.
        _ if has_v1("memory") || has_v1("cpu") || has_v1("pids") => "v1",
        _ => "v2",
    };
    let tightest = |controller: &str, read: &dyn Fn(&str) -> Option<f64>| {
        let folders = folders(&memberships, &mounts, controller);
        folders.iter().filter_map(|folder| read(folder)).reduce(f64::min)
    };
    let read = |folder: &str, file: &str| host.read(&format!("{folder}/{file}"));
    let memory = tightest("memory", &|folder| limit(&either(host, folder, LIMIT_OF_MEMORY)?));
    let cpus = tightest("cpu", &|folder| match read(folder, "cpu.max") {
        Some(both) => quota(&both),
        None => quota(&format!("{} {}", read(folder, "cpu.cfs_quota_us")?, read(folder, "cpu.cfs_period_us")?)),
    });
    let processes = tightest("pids", &|folder| limit(&read(folder, "pids.max")?));
    Limits {
        cgroup: version.into(),
        memory: memory.map(|bytes| Bytes(bytes as u64)),
        cpus,
        processes: processes.map(|count| count as u64),
        open_files: getrlimit(Resource::Nofile).current,
        locked_memory: getrlimit(Resource::Memlock).current.map(Bytes),
        root: rustix::process::geteuid().is_root(),
    }
}

/// The bytes of memory that the cgroups of this process leave it: what is below their limits, with the pages of files that they would
/// give back first. `None` without a limit.
pub fn memory_left(host: &Host) -> Option<u64> {
    let memberships = memberships(&host.read("proc/self/cgroup")?);
    let folders = folders(&memberships, &mounts(&host.read("proc/self/mountinfo")?), "memory");
    let left = |folder: &String| {
        let limit = limit(&either(host, folder, LIMIT_OF_MEMORY)?)?;
        let used = either(host, folder, ["memory.current", "memory.usage_in_bytes"])?.parse::<f64>().ok()?;
        let sums = host.read(&format!("{folder}/memory.stat")).unwrap_or_default();
        let sum = |name: &str| sums.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        let files = sum("total_inactive_file ").or_else(|| sum("inactive_file ")).unwrap_or(0.0);
        Some((limit - (used - files).max(0.0)).max(0.0) as u64)
    };
    folders.iter().filter_map(left).min()
}

/// A file of a group, by its name in version 2 and in version 1.
fn either(host: &Host, folder: &str, [two, one]: [&str; 2]) -> Option<String> {
    host.read(&format!("{folder}/{two}")).or_else(|| host.read(&format!("{folder}/{one}")))
}

/// `/proc/self/cgroup`: lines of `number:controllers:path`.
fn memberships(text: &str) -> Vec<Membership> {
    let line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        Some(Membership {
            controllers: parts.next()?.into(),
            path: parts.next().filter(|p| p.starts_with('/'))?.into(),
        })
    };
    text.lines().filter_map(line).collect()
}

/// The cgroup mounts in `/proc/self/mountinfo` (proc(5)): root is field 4, the mount point 5; after a lone `-` come the
/// type, the source and the options, among which version 1 names its controllers.
fn mounts(text: &str) -> Vec<Mount> {
    let line = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        let version = match after.next()? {
            "cgroup" => 1,
            "cgroup2" => 2,
            _ => return None,
        };
        let controllers = after.nth(1).unwrap_or_default().to_owned();
        let (root, point) = (before.next()?.into(), mounted_path(before.next()?));
        Some(Mount { version, controllers, root, point: point.to_string_lossy().into_owned() })
    };
    text.lines().filter_map(line).collect()
}

fn names(controllers: &str, controller: &str) -> bool {
    controllers.split(',').any(|name| name == controller)
}

/// A hierarchy of control groups as this process sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hierarchy {
    /// 1 or 2.
    pub version: u8,
    /// The folders of this process's group and of those above it, up to what is mounted.
    pub folders: Vec<PathBuf>,
}

impl Hierarchy {
    /// That of version 1 with this controller, or, without a controller, that of version 2, by the texts of `/proc/self/cgroup` and
    /// `/proc/self/mountinfo`.
    pub fn of(memberships: &str, mountinfo: &str, controller: Option<&str>) -> Option<Hierarchy> {
        let version = if controller.is_some() { 1 } else { 2 };
        let mut memberships = self::memberships(memberships);
        memberships
            .retain(|group| controller.map_or(group.controllers.is_empty(), |name| names(&group.controllers, name)));
        let mounts = mounts(mountinfo);
        let folders = folders(&memberships, &mounts, controller.unwrap_or_default());
        let folders: Vec<PathBuf> = folders.into_iter().map(|folder| format!("/{folder}").into()).collect();
        (!folders.is_empty()).then_some(Hierarchy { version, folders })
    }
}

/// The folders, below the host's root, of this process's group and of those above it, if `controller` may limit it
/// there.
fn folders(memberships: &[Membership], mounts: &[Mount], controller: &str) -> Vec<String> {
    let v1 = memberships.iter().find(|group| !group.controllers.is_empty() && names(&group.controllers, controller));
    let mount = match v1 {
        Some(_) => mounts.iter().find(|mount| mount.version == 1 && names(&mount.controllers, controller)),
        None => mounts.iter().find(|mount| mount.version == 2),
    };
    let group = v1.or_else(|| memberships.iter().find(|group| group.controllers.is_empty()));
    let (Some(mount), Some(group)) = (mount, group) else { return Vec::new() };
    // A container sees its group's path from outside and its mount from inside, or both from inside.
    let below = group.path.strip_prefix(mount.root.trim_end_matches('/')).unwrap_or("");
    let mut parts: Vec<&str> = below.split('/').filter(|part| !part.is_empty()).collect();
    if parts.contains(&"..") {
        parts.clear();
    }
    let point = mount.point.trim_matches('/');
    (0..=parts.len()).rev().map(|depth| [&[point], &parts[..depth]].concat().join("/")).collect()
}

/// A limit. `max` is none, and neither is version 1's largest number, which is rounded down to a page.
fn limit(text: &str) -> Option<f64> {
    text.parse::<u64>().ok().filter(|&value| value < 1 << 62).map(|value| value as f64)
}

/// Quota over period, in CPUs: `50000 100000` is half of one; `max` and `-1` are no limit.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let (quota, period) = (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recorded::Recorded;

    /// Those of a host of the given files.
    fn limits_of(files: &[(&str, &str)]) -> Limits {
        limits(&Recorded::new(files).host())
    }

    #[test]
    fn what_is_used_is_not_left_but_for_pages_of_files() {
        let mounts = "31 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let files = [
            ("proc/self/cgroup", "0::/a/b"),
            ("proc/self/mountinfo", mounts),
            ("sys/fs/cgroup/a/memory.max", "1000000"),
            ("sys/fs/cgroup/a/memory.current", "900000"),
            ("sys/fs/cgroup/a/memory.stat", "anon 700000\ninactive_file 150000\nactive_file 50000"),
            ("sys/fs/cgroup/a/b/memory.max", "max"),
            ("sys/fs/cgroup/a/b/memory.current", "5"),
        ];
        assert_eq!(memory_left(&Recorded::new(&files).host()), Some(250_000));
        assert_eq!(memory_left(&Recorded::new(&files[..2]).host()), None);
    }

    #[test]
    fn version_2_takes_the_tightest_limit_on_the_way_up() {
        let limits = limits_of(&[
            ("proc/self/cgroup", "0::/user.slice/user-1000.slice/run.scope"),
            ("proc/self/mountinfo", "31 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate"),
            ("sys/fs/cgroup/user.slice/user-1000.slice/run.scope/memory.max", "max"),
            ("sys/fs/cgroup/user.slice/user-1000.slice/run.scope/cpu.max", "max 100000"),
            ("sys/fs/cgroup/user.slice/user-1000.slice/memory.max", "1073741824"),
            ("sys/fs/cgroup/user.slice/user-1000.slice/pids.max", "10813"),
            ("sys/fs/cgroup/user.slice/memory.max", "2147483648"),
            ("sys/fs/cgroup/user.slice/cpu.max", "150000 100000"),
        ]);
        assert_eq!(limits.cgroup, "v2");
        assert_eq!(limits.memory, Some(Bytes(1 << 30)));
        assert_eq!((limits.cpus, limits.processes), (Some(1.5), Some(10813)));
    }

    #[test]
    fn version_1_in_a_container_that_sees_its_path_from_outside() {
        let mount = |number: u32, name: &str| {
            format!("{number} 31 0:29 /docker/4f3e /sys/fs/cgroup/{name} ro,nosuid - cgroup cgroup rw,{name}")
        };
        let mounts = [mount(32, "memory"), mount(33, "cpu,cpuacct"), mount(34, "pids")].join("\n");
        let limits = limits_of(&[
            (
                "proc/self/cgroup",
                "8:pids:/docker/4f3e\n4:memory:/docker/4f3e\n2:cpu,cpuacct:/docker/4f3e\n0::/docker/4f3e",
            ),
            ("proc/self/mountinfo", &mounts),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/pids/pids.max", "max"),
        ]);
        assert_eq!(limits.cgroup, "v1");
        assert_eq!(limits.memory, Some(Bytes(512 << 20)));
        assert_eq!((limits.cpus, limits.processes), (Some(0.5), None));
    }

    #[test]
    fn unlimited_is_no_limit() {
        let limits = limits_of(&[
            ("proc/self/cgroup", "4:memory:/a\n1:cpu:/"),
            (
                "proc/self/mountinfo",
                "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                 32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu",
            ),
            ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"),
        ]);
        assert_eq!((limits.memory, limits.cpus, limits.processes), (None, None, None));
    }

    #[test]
    fn the_unified_hierarchy_is_found_among_others() {
        let mounts = "30 24 0:26 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n\
                      31 24 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw\n";
        let found = Hierarchy::of("1:cpu:/\n0::/\n", mounts, None);
        assert_eq!(found, Some(Hierarchy { version: 2, folders: vec!["/sys/fs/cgroup/unified".into()] }));
        assert_eq!(Hierarchy::of("0::/\n", "", None), None);
    }

    #[test]
    fn a_path_out_of_the_name_space_is_its_root() {
        let limits = limits_of(&[
            ("proc/self/cgroup", "0::/../../other"),
            ("proc/self/mountinfo", "31 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"),
            ("sys/fs/cgroup/memory.max", "4096"),
        ]);
        assert_eq!(limits.memory, Some(Bytes(4096)));
    }
}
