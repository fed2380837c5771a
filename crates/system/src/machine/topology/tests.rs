//! Recorded machines: each is a folder with the files that Linux shows on such a machine.

use super::*;
use crate::machine::recorded::Recorded;

/// A folder with the files of a machine.
struct Machine(Recorded);

impl Machine {
    fn new(cpus: u32) -> Machine {
        let machine = Machine(Recorded::empty());
        machine.file("sys/devices/system/cpu/online", &format!("0-{}", cpus - 1));
        machine
    }

    fn file(&self, path: &str, text: &str) {
        self.0.add(path, format!("{text}\n"));
    }

    /// One file of every one of these CPUs.
    fn files(&self, cpus: &[u32], name: &str, text: &str) {
        for cpu in cpus {
            self.file(&format!("sys/devices/system/cpu/cpu{cpu}/{name}"), text);
        }
    }

    /// These CPUs share a cache.
    fn cache(&self, cpus: &[u32], index: u32, level: u32, kind: &str) {
        for (name, text) in [("level", level.to_string()), ("type", kind.into()), ("shared_cpu_list", listed(cpus))] {
            self.files(cpus, &format!("cache/index{index}/{name}"), &text);
        }
    }

    /// These CPUs are one core with its own caches.
    fn core(&self, cpus: &[u32]) {
        self.files(cpus, "topology/core_cpus_list", &listed(cpus));
        self.cache(cpus, 0, 1, "Data");
        self.cache(cpus, 1, 1, "Instruction");
        self.cache(cpus, 2, 2, "Unified");
    }

    fn socket(&self, cpus: &[u32]) {
        // The name in older kernels.
        self.files(cpus, "topology/core_siblings_list", &listed(cpus));
    }

    fn topology(&self) -> Topology {
        Topology::read(self.0.path())
    }
}

fn listed(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

const EIGHT: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Four cores of two threads: 0 and 4 are one core.
fn desktop() -> Machine {
    let machine = Machine::new(8);
    (0..4).for_each(|core| machine.core(&[core, core + 4]));
    machine.socket(&EIGHT);
    machine.cache(&EIGHT, 3, 3, "Unified");
    machine
}

#[test]
fn on_one_socket_other_is_another_core_and_never_the_sibling() {
    let topology = desktop().topology();
    assert_eq!(topology.distance(0, 4), Distance::Sibling);
    assert_eq!(topology.distance(0, 5), Distance::Core);
    for cpu in EIGHT {
        let others = topology.partners_at(cpu, &EIGHT, Distance::named("other"));
        assert_eq!(others.len(), 6, "{others:?}");
        assert!(!others.contains(&((cpu + 4) % 8)) && !others.contains(&cpu), "{others:?}");
        assert_eq!(topology.partners_at(cpu, &EIGHT, Distance::named("awake")), others);
        assert_eq!(topology.partners_at(cpu, &EIGHT, Distance::named("core")), others);
        assert_eq!(topology.partners_at(cpu, &EIGHT, Distance::named("sibling")), [(cpu + 4) % 8]);
        assert!(topology.partners_at(cpu, &EIGHT, Distance::named("cache")).is_empty());
        assert!(topology.partners_at(cpu, &EIGHT, Distance::named("socket")).is_empty());
    }
}

#[test]
fn only_the_cpus_that_may_be_used_count() {
    let topology = desktop().topology();
    assert_eq!(topology.partners_at(0, &[0, 4], Distance::named("other")), [4]);
    assert_eq!(topology.other(0, &[0, 4]), Some(Distance::Sibling));
    assert_eq!(topology.partners_at(0, &[0, 2, 4], Distance::named("other")), [2]);
    assert!(topology.partners_at(0, &[0], Distance::named("other")).is_empty());
}

/// Two sockets of two caches each, of two cores each, without hardware threads.
fn server() -> Machine {
    let machine = Machine::new(8);
    EIGHT.iter().for_each(|&cpu| machine.core(&[cpu]));
    for socket in [[0, 1, 2, 3], [4, 5, 6, 7]] {
        machine.socket(&socket);
        socket.chunks(2).for_each(|pair| machine.cache(pair, 3, 3, "Unified"));
    }
    machine
}

#[test]
fn two_sockets_and_several_caches_are_distinguished() {
    let topology = server().topology();
    assert_eq!(topology.partners_at(0, &EIGHT, Distance::named("other")), [1]);
    assert_eq!(topology.partners_at(0, &EIGHT, Distance::named("core")), [1]);
    assert_eq!(topology.partners_at(0, &EIGHT, Distance::named("cache")), [2, 3]);
    assert_eq!(topology.partners_at(0, &EIGHT, Distance::named("socket")), [4, 5, 6, 7]);
    assert!(topology.partners_at(0, &EIGHT, Distance::named("sibling")).is_empty());
}

#[test]
fn other_means_the_same_for_all_cpus_of_a_run() {
    let topology = server().topology();
    // CPU 2 shares its cache with no other CPU here. All of them have a core of another cache.
    let usable = [0, 1, 2];
    assert_eq!(topology.other(0, &usable), Some(Distance::Cache));
    assert_eq!(topology.partners_at(0, &usable, Distance::named("other")), [2]);
    assert_eq!(topology.partners_at(2, &usable, Distance::named("other")), [0, 1]);
    // With nothing that all have, each has its nearest.
    let usable = [0, 1, 2, 4];
    assert_eq!(topology.other(0, &usable), Some(Distance::Socket));
    let machine = Machine::new(4);
    machine.core(&[0, 1]);
    machine.core(&[2]);
    let topology = machine.topology();
    assert_eq!(topology.other(2, &[0, 1, 2, 3]), Some(Distance::Unknown));
}

/// Two strong cores of two threads (0 to 3) and a cluster of four small ones that share a second-level cache, as laptops
/// of Intel have; all share the third.
fn laptop() -> Machine {
    let machine = Machine::new(8);
    machine.core(&[0, 1]);
    machine.core(&[2, 3]);
    for cpu in 4..8 {
        machine.core(&[cpu]);
    }
    machine.cache(&[4, 5, 6, 7], 2, 2, "Unified");
    machine.socket(&EIGHT);
    machine.cache(&EIGHT, 3, 3, "Unified");
    machine
}

#[test]
fn a_partner_is_of_the_same_kind_of_core_where_there_is_one() {
    let machine = laptop();
    machine.file("sys/devices/cpu_core/cpus", "0-3");
    machine.file("sys/devices/cpu_atom/cpus", "4-7");
    let topology = machine.topology();
    assert_eq!(EIGHT.map(|cpu| topology.kind_of(cpu)), [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(topology.partners_at(0, &EIGHT, Distance::named("other")), [2, 3]);
    assert_eq!(topology.partners_at(5, &EIGHT, Distance::named("other")), [4, 6, 7]);
    // The sibling is of the same kind, and the cores of the other kind are what is left.
    assert_eq!(topology.partners_at(0, &[0, 1, 6, 7], Distance::named("core")), [6, 7]);
}

#[test]
fn the_nearest_cache_counts_where_cores_are_of_one_kind() {
    let machine = Machine::new(8);
    EIGHT.iter().for_each(|&cpu| machine.core(&[cpu]));
    EIGHT.chunks(4).for_each(|cluster| machine.cache(cluster, 2, 2, "Unified"));
    machine.socket(&EIGHT);
    machine.cache(&EIGHT, 3, 3, "Unified");
    assert_eq!(machine.topology().partners_at(0, &EIGHT, Distance::named("other")), [1, 2, 3]);
}

#[test]
fn kinds_of_cores_by_capacity_and_by_frequency() {
    let machine = laptop();
    machine.files(&[0, 1, 2, 3], "cpu_capacity", "1024");
    machine.files(&[4, 5], "cpu_capacity", "446");
    machine.files(&[6, 7], "cpu_capacity", "906");
    assert_eq!(EIGHT.map(|cpu| machine.topology().kind_of(cpu)), [0, 0, 0, 0, 2, 2, 1, 1]);
    let strongest = |cpus: &[u32]| strongest(&machine.0.host(), cpus);
    assert_eq!([strongest(&[4, 5, 6, 7]), strongest(&[5, 4]), strongest(&EIGHT), strongest(&[])], [6, 5, 0, 0]);
    let machine = laptop();
    // Cores of one kind, one of which has a higher boost, and a kernel that gives all the same capacity.
    machine.files(&EIGHT, "cpu_capacity", "1024");
    machine.files(&[0, 1], "cpufreq/cpuinfo_max_freq", "5200000");
    machine.files(&[2, 3], "cpufreq/cpuinfo_max_freq", "5000000");
    machine.files(&[4, 5, 6, 7], "cpufreq/cpuinfo_max_freq", "3900000");
    assert_eq!(EIGHT.map(|cpu| machine.topology().kind_of(cpu)), [0, 0, 0, 0, 1, 1, 1, 1]);
}

#[test]
fn without_files_any_other_cpu_is_somewhere_else() {
    let topology = Topology::read(Recorded::empty().path());
    assert_eq!(topology, Topology::default());
    assert_eq!(topology.partners_at(0, &[0, 1, 2], Distance::named("other")), [1, 2]);
    assert_eq!(topology.other(0, &[0, 1, 2]), Some(Distance::Unknown));
    assert!(topology.partners_at(0, &[0, 1, 2], Distance::named("core")).is_empty());
    assert!(topology.partners_at(0, &[0], Distance::named("other")).is_empty());
    assert_eq!(topology.kind_of(2), 0);
}

#[test]
fn a_virtual_machine_that_lists_cores_and_no_caches_claims_nothing() {
    let machine = Machine::new(2);
    machine.files(&[0], "topology/core_cpus_list", "0");
    machine.files(&[1], "topology/core_cpus_list", "1");
    let topology = machine.topology();
    assert_eq!(topology.distance(0, 1), Distance::Unknown);
    assert_eq!(topology.partners_at(0, &[0, 1], Distance::named("other")), [1]);
    // A list that does not hold the CPU itself is nonsense and counts as none.
    let machine = Machine::new(2);
    machine.files(&[0, 1], "topology/core_cpus_list", "5");
    assert_eq!(machine.topology().distance(0, 1), Distance::Unknown);
}

#[test]
fn two_cpus_of_this_machine_are_placed_as_in_the_whole() {
    let here = Topology::here();
    let cpus: Vec<u32> = here.0.keys().copied().collect();
    let [first, .., last] = cpus[..] else { return testing::not_tested!("this machine lists one CPU or none") };
    assert_eq!(Topology::between(first, last), here.distance(first, last));
}
