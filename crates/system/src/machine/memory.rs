//! The memory: its size, its page sizes, its nodes.

use record::{Bytes, Memory};

use crate::machine::host::{Host, chosen, field, sysconf};

pub fn describe(host: &Host) -> Memory {
    let meminfo = host.read("proc/meminfo").unwrap_or_default();
    let system = rustix::system::sysinfo();
    let unit = u64::from(system.mem_unit.max(1));
    Memory {
        total: kib(&meminfo, "MemTotal").unwrap_or(Bytes((system.totalram as u64).saturating_mul(unit))),
        swap: kib(&meminfo, "SwapTotal").unwrap_or(Bytes((system.totalswap as u64).saturating_mul(unit))),
        page: Bytes(sysconf(libc::_SC_PAGESIZE).unwrap_or(4096)),
        huge_pages: huge_pages(host, &meminfo),
        transparent_huge_pages: host
            .read("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|choice| chosen(&choice)),
        nodes: nodes(&host.list("sys/devices/system/node")),
    }
}

/// What can be had without swapping; all of it if the kernel does not report that.
pub fn available(host: &Host) -> Bytes {
    let meminfo = host.read("proc/meminfo").unwrap_or_default();
    kib(&meminfo, "MemAvailable").unwrap_or_else(|| describe(host).total)
}

/// A line of `/proc/meminfo`: `MemTotal:  24684096 kB`, where kB means KiB.
pub fn kib(meminfo: &str, key: &str) -> Option<Bytes> {
    field(meminfo, key)?.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024).map(Bytes)
}

/// Huge page sizes: one folder `hugepages-2048kB` for each, else the default size.
fn huge_pages(host: &Host, meminfo: &str) -> Vec<Bytes> {
    let size = |name: &String| {
        let kib = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse::<u64>().ok()?;
        kib.checked_mul(1024).map(Bytes)
    };
    let mut sizes: Vec<Bytes> = host.list("sys/kernel/mm/hugepages").iter().filter_map(size).collect();
    if sizes.is_empty() {
        sizes.extend(kib(meminfo, "Hugepagesize").filter(|size| size.0 > 0));
    }
    sizes.sort();
    sizes
}

/// Counts folders named `node0`, `node1`. A kernel without NUMA has one node and no folder.
fn nodes(names: &[String]) -> u32 {
    let is_node = |name: &&String| name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok());
    names.iter().filter(is_node).count().max(1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recorded::Recorded;

    #[test]
    fn meminfo_counts_in_kib() {
        let meminfo = "MemTotal:       24684096 kB\nSwapTotal:             0 kB\nHugePages_Total:       0\n";
        assert_eq!(kib(meminfo, "MemTotal"), Some(Bytes(24_684_096 << 10)));
        assert_eq!(kib(meminfo, "SwapTotal"), Some(Bytes(0)));
        assert_eq!(kib(meminfo, "HugePages_Total"), None);
    }

    #[test]
    fn huge_pages_by_folder_or_by_meminfo() {
        assert_eq!(huge_pages(&Recorded::empty().host(), "Hugepagesize:       2048 kB\n"), [Bytes(2 << 20)]);
        let files =
            ["1048576", "2048", "64"].map(|size| format!("sys/kernel/mm/hugepages/hugepages-{size}kB/nr_hugepages"));
        let recorded = Recorded::new(&files.each_ref().map(|path| (path.as_str(), "0\n")));
        assert_eq!(huge_pages(&recorded.host(), ""), [Bytes(64 << 10), Bytes(2 << 20), Bytes(1 << 30)]);
    }

    #[test]
    fn nodes_are_counted() {
        let names = ["has_cpu", "node0", "node1", "online"].map(str::to_owned);
        assert_eq!(nodes(&names), 2);
        assert_eq!(nodes(&[]), 1);
    }
}
