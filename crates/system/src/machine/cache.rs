//! The caches of a CPU, as the kernel lists them, else as the processor or the C library reports them.

use record::{Bytes, Cache};

use crate::machine::host::Host;

/// The caches of this CPU, smallest level first.
pub fn describe(host: &Host, cpu: u32) -> Vec<Cache> {
    let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache");
    let listed = host.list(&folder);
    let mut caches: Vec<Cache> = listed.iter().filter_map(|name| cache(host, &format!("{folder}/{name}"))).collect();
    if caches.is_empty() {
        caches.clone_from(&host.processor.caches);
    }
    if caches.is_empty() {
        caches = known();
    }
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

fn cache(host: &Host, folder: &str) -> Option<Cache> {
    let path = |file: &str| format!("{folder}/{file}");
    Some(Cache {
        level: host.number(&path("level"))?,
        kind: host.read(&path("type"))?.to_lowercase(),
        size: size(&host.read(&path("size"))?)?,
        line: host.number(&path("coherency_line_size")),
        shared_by: host.read(&path("shared_cpu_list")),
    })
}

/// A size such as `48K`.
fn size(text: &str) -> Option<Bytes> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).map(Bytes)
}

/// The caches that the C library knows: glibc reads them from the processor, musl knows nothing.
fn known() -> Vec<Cache> {
    #[cfg(target_env = "gnu")]
    {
        use crate::machine::host::sysconf;

        let caches = [
            (1, "data", libc::_SC_LEVEL1_DCACHE_SIZE, libc::_SC_LEVEL1_DCACHE_LINESIZE),
            (1, "instruction", libc::_SC_LEVEL1_ICACHE_SIZE, libc::_SC_LEVEL1_ICACHE_LINESIZE),
            (2, "unified", libc::_SC_LEVEL2_CACHE_SIZE, libc::_SC_LEVEL2_CACHE_LINESIZE),
            (3, "unified", libc::_SC_LEVEL3_CACHE_SIZE, libc::_SC_LEVEL3_CACHE_LINESIZE),
        ];
        let one = |&(level, kind, size, line): &(u32, &str, _, _)| {
            let line = sysconf(line).and_then(|line| u32::try_from(line).ok());
            Some(Cache { level, kind: kind.into(), size: Bytes(sysconf(size)?), line, shared_by: None })
        };
        caches.iter().filter_map(one).collect()
    }
    #[cfg(not(target_env = "gnu"))]
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recorded::Recorded;

    #[test]
    fn sizes_with_their_units() {
        assert_eq!(size("48K"), Some(Bytes(48 << 10)));
        assert_eq!(size("491520K"), Some(Bytes(480 << 20)));
        assert_eq!(size("2M"), Some(Bytes(2 << 20)));
        assert_eq!(size("K"), None);
        assert_eq!(size("1é"), None);
    }

    #[test]
    fn the_kernels_list_is_sorted_by_level() {
        let mut files = Vec::new();
        for (index, level, kind, size) in
            [(0, "2", "Unified", "1536K\n"), (1, "1", "Instruction", "32K\n"), (2, "1", "Data", "32K\n")]
        {
            for (file, text) in [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", "0,48\n")] {
                files.push((format!("sys/devices/system/cpu/cpu3/cache/index{index}/{file}"), text));
            }
        }
        let recorded = Recorded::new(&files);
        let host = recorded.host();
        assert!(describe(&host, 0).iter().all(|cache| cache.size != Bytes(1536 << 10)));
        let caches = describe(&host, 3);
        let seen: Vec<(u32, &str)> = caches.iter().map(|cache| (cache.level, cache.kind.as_str())).collect();
        assert_eq!(seen, [(1, "data"), (1, "instruction"), (2, "unified")]);
        assert_eq!(caches[2].size, Bytes(1536 << 10));
        assert_eq!((caches[0].shared_by.as_deref(), caches[0].line), (Some("0,48"), None));
    }
}
