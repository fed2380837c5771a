//! The topology of the CPUs, as the kernel lists it: which of them share a core, a cache, a socket, and which are of
//! one kind. A partner's CPU is chosen by this alone, so that costs of different distances never mix.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

use record::largest_first;

use crate::machine::host::{Host, numbers};

/// How far one CPU is from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// The other hardware thread of the same core.
    Sibling,
    /// Another core that shares the last level of cache.
    Core,
    /// Another core of the same socket that does not share the last level of cache.
    Cache,
    /// A core of another socket.
    Socket,
    /// Not known: a virtual machine or a sandbox without these files.
    Unknown,
}

impl Distance {
    /// What another CPU means where no distance is given, in this order: the first of these that the machine has. The sibling comes last, because
    /// two tasks on one core disturb each other.
    const OTHER: [Distance; 5] =
        [Distance::Core, Distance::Cache, Distance::Socket, Distance::Unknown, Distance::Sibling];

    /// The distance that this word names, if it names one.
    pub fn named(word: &str) -> Option<Distance> {
        match word {
            "sibling" => Some(Distance::Sibling),
            "core" => Some(Distance::Core),
            "cache" => Some(Distance::Cache),
            "socket" => Some(Distance::Socket),
            _ => None,
        }
    }

    /// What a cost reports about the partner's CPU.
    pub fn described(self) -> &'static str {
        match self {
            Distance::Sibling => "partner on the same core",
            Distance::Core => "partner on another core of the same cache",
            Distance::Cache => "partner on another core without a shared cache",
            Distance::Socket => "partner on another socket",
            Distance::Unknown => "partner somewhere else",
        }
    }
}

/// The known facts of one CPU. A group is named by the first CPU in it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Place {
    core: Option<u32>,
    socket: Option<u32>,
    /// Level and group of each cache that holds data, nearest first.
    caches: Vec<(u32, u32)>,
    /// The kind of core as a number, the strongest first.
    kind: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology(BTreeMap<u32, Place>);

impl Topology {
    /// The topology of this machine, read once.
    pub fn here() -> &'static Topology {
        static HERE: OnceLock<Topology> = OnceLock::new();
        HERE.get_or_init(|| Topology::read(Path::new("/")))
    }

    /// Reads the files below this root for all CPUs online. Empty if there are none.
    pub fn read(root: &Path) -> Topology {
        let files = Host::below(root);
        Topology::of(&files, &files.online())
    }

    /// How many CPUs are online; 0 where none are listed.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// The distance of two CPUs of this machine, from the files of these two alone.
    pub fn between(cpu: u32, other: u32) -> Distance {
        Topology::of(&Host::below(Path::new("/")), &[cpu, other]).distance(cpu, other)
    }

    fn of(files: &Host, cpus: &[u32]) -> Topology {
        let mut places: BTreeMap<u32, Place> = cpus.iter().map(|&cpu| (cpu, Place::default())).collect();
        for (cpu, group) in files.groups(cpus, CORE) {
            places.entry(cpu).or_default().core = Some(group);
        }
        for (cpu, group) in files.groups(cpus, SOCKET) {
            places.entry(cpu).or_default().socket = Some(group);
        }
        for (cpu, level, group) in files.caches(cpus) {
            places.entry(cpu).or_default().caches.push((level, group));
        }
        for place in places.values_mut() {
            place.caches.sort_unstable();
        }
        for (cpu, kind) in files.kinds(cpus) {
            places.entry(cpu).or_default().kind = kind;
        }
        places.retain(|cpu, _| cpus.contains(cpu));
        Topology(places)
    }

    /// The number of this CPU's kind of core. 0 is the strongest, or the only kind. All CPUs of a run are of one kind.
    pub fn kind_of(&self, cpu: u32) -> u32 {
        self.0.get(&cpu).map_or(0, |place| place.kind)
    }

    pub fn distance(&self, cpu: u32, other: u32) -> Distance {
        let (Some(one), Some(two)) = (self.0.get(&cpu), self.0.get(&other)) else { return Distance::Unknown };
        let same = |one: Option<u32>, two: Option<u32>| Some(one? == two?);
        let socket = same(one.socket, two.socket);
        match same(one.core, two.core) {
            None => Distance::Unknown,
            Some(true) => Distance::Sibling,
            Some(false) if socket == Some(false) => Distance::Socket,
            Some(false) => match (one.caches.last(), two.caches.last()) {
                (Some(one), Some(two)) if one == two => Distance::Core,
                (Some(_), Some(_)) if socket == Some(true) => Distance::Cache,
                _ => Distance::Unknown,
            },
        }
    }

    /// The CPUs of `usable` at this distance from `cpu`. If some of them share a lower level of cache with it, or are
    /// of the same kind of core, only those.
    pub fn partners(&self, cpu: u32, usable: &[u32], distance: Distance) -> Vec<u32> {
        let mut partners: Vec<u32> =
            usable.iter().copied().filter(|&other| other != cpu && self.distance(cpu, other) == distance).collect();
        if partners.iter().any(|&other| self.kind_of(other) == self.kind_of(cpu)) {
            partners.retain(|&other| self.kind_of(other) == self.kind_of(cpu));
        }
        let nearest = partners.iter().map(|&other| self.shared_level(cpu, other)).min().unwrap_or(u32::MAX);
        partners.retain(|&other| self.shared_level(cpu, other) == nearest);
        partners
    }

    /// The meaning of `distance=other` for `cpu`: the first distance in the stated order at which every usable CPU has
    /// a partner, so that it is the same for all rounds of a run. If there is none, the first at which this CPU has a
    /// partner.
    pub fn other(&self, cpu: u32, usable: &[u32]) -> Option<Distance> {
        let has = |cpu: u32, distance: Distance| {
            usable.iter().any(|&other| other != cpu && self.distance(cpu, other) == distance)
        };
        let for_all = |&distance: &Distance| usable.iter().all(|&cpu| has(cpu, distance));
        let order = || Distance::OTHER.into_iter();
        order().find(for_all).or_else(|| order().find(|&distance| has(cpu, distance)))
    }

    /// The CPUs that a partner may be on: those at this distance, or at the one that the machine prefers. None where the
    /// machine has none.
    pub fn partners_at(&self, cpu: u32, usable: &[u32], distance: Option<Distance>) -> Vec<u32> {
        let distance = distance.or_else(|| self.other(cpu, usable));
        distance.map(|distance| self.partners(cpu, usable, distance)).unwrap_or_default()
    }

    /// The lowest level of cache that both share.
    fn shared_level(&self, cpu: u32, other: u32) -> u32 {
        let (Some(one), Some(two)) = (self.0.get(&cpu), self.0.get(&other)) else { return u32::MAX };
        one.caches.iter().find(|cache| two.caches.contains(cache)).map_or(u32::MAX, |&(level, _)| level)
    }
}

/// Capacities of cores of one kind differ by no more than the first share, and highest frequencies by no more than the
/// second: single cores of a kind may have a higher boost.
const CAPACITY: f64 = 0.03;
const FREQUENCY: f64 = 0.15;

/// A CPU's lists of those in its core and in its socket, by their newer and their older names.
pub(super) const CORE: [&str; 2] = ["topology/core_cpus_list", "topology/thread_siblings_list"];
pub(super) const SOCKET: [&str; 2] = ["topology/package_cpus_list", "topology/core_siblings_list"];

impl Host {
    /// The group of each CPU, named by its first member, from the first readable one of these lists of group members of a CPU.
    /// One list per group is read, because a large machine has thousands.
    pub(super) fn groups<const N: usize>(&self, cpus: &[u32], lists: [&str; N]) -> BTreeMap<u32, u32> {
        let mut groups = BTreeMap::new();
        for &cpu in cpus {
            if groups.contains_key(&cpu) {
                continue;
            }
            let list = lists.iter().find_map(|list| self.read(&format!("sys/devices/system/cpu/cpu{cpu}/{list}")));
            let fellows = numbers(&list.unwrap_or_default());
            if let Some(&first) = fellows.iter().min().filter(|_| fellows.contains(&cpu)) {
                groups.extend(fellows.into_iter().map(|fellow| (fellow, first)));
            }
        }
        groups
    }

    /// CPU, level and group of every cache that holds data.
    fn caches(&self, cpus: &[u32]) -> Vec<(u32, u32, u32)> {
        /// More caches than any CPU has.
        const MOST: u32 = 10;
        let mut caches = Vec::new();
        for index in 0..MOST {
            let cache = format!("cache/index{index}");
            let groups = self.groups(cpus, [&*format!("{cache}/shared_cpu_list")]);
            let firsts: BTreeSet<u32> = groups.values().copied().collect();
            // The first CPU of a group may be offline or not ours. Any other member of the group has the same list.
            let fellow = |first: u32| cpus.iter().copied().find(|cpu| groups.get(cpu) == Some(&first));
            let text = |cpu: u32, name: &str| self.read(&format!("sys/devices/system/cpu/cpu{cpu}/{cache}/{name}"));
            let levels: BTreeMap<u32, u32> = firsts
                .into_iter()
                .filter_map(|first| {
                    let cpu = fellow(first)?;
                    let holds_data = text(cpu, "type")? != "Instruction";
                    Some((first, text(cpu, "level")?.parse().ok()?)).filter(|_| holds_data)
                })
                .collect();
            caches.extend(groups.iter().filter_map(|(&cpu, first)| Some((cpu, *levels.get(first)?, *first))));
        }
        caches
    }

    /// The kind of each CPU's core: by the lists of hybrid x86 processors, else by the capacity that the kernel gives
    /// each CPU, else by the highest frequency. Empty if none of them is known, which means one kind.
    fn kinds(&self, cpus: &[u32]) -> BTreeMap<u32, u32> {
        let mut listed = BTreeMap::new();
        for (kind, name) in (0..).zip(["cpu_core", "cpu_atom", "cpu_lowpower"]) {
            let list = self.read(&format!("sys/devices/{name}/cpus")).unwrap_or_default();
            listed.extend(numbers(&list).into_iter().map(|cpu| (cpu, kind)));
        }
        if cpus.iter().all(|cpu| listed.contains_key(cpu)) {
            return listed;
        }
        let by = |file: &str| -> Option<Vec<(u32, f64)>> {
            let value = |cpu: u32| self.number(&format!("sys/devices/system/cpu/cpu{cpu}/{file}"));
            cpus.iter().map(|&cpu| Some((cpu, value(cpu)?))).collect()
        };
        let kinds = by("cpu_capacity").map(|values| ranked(values, CAPACITY));
        let kinds = kinds.filter(|kinds| kinds.values().any(|&kind| kind > 0));
        kinds.or_else(|| Some(ranked(by("cpufreq/cpuinfo_max_freq")?, FREQUENCY))).unwrap_or_default()
    }
}

/// Numbers the CPUs by their values, the largest first. A step down by more than `tolerance` begins the next number.
fn ranked(mut values: Vec<(u32, f64)>, tolerance: f64) -> BTreeMap<u32, u32> {
    largest_first(&mut values, |one| one.1);
    let (mut kind, mut last) = (0, values.first().map_or(0.0, |&(_, value)| value));
    let mut kinds = BTreeMap::new();
    for (cpu, value) in values {
        if value < last * (1.0 - tolerance) {
            kind += 1;
        }
        last = value;
        kinds.insert(cpu, kind);
    }
    kinds
}

/// The first of these CPUs whose core is of the strongest kind among them; 0 of none.
pub(super) fn strongest(host: &Host, cpus: &[u32]) -> u32 {
    let kinds = host.kinds(cpus);
    cpus.iter().copied().min_by_key(|cpu| kinds.get(cpu)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
