//! Which prices faults have, and memory that is given back.

use std::collections::BTreeMap;

use record::{CallTime, FaultKinds, FaultTime, Observation, PageSize, ProcessCounts, Usage};

use super::*;

/// How often each cost prices what was seen.
fn priced(seen: &Observation) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for line in OPERATIONS.lines(seen, Met::One) {
        *all.entry(line.name()).or_default() += line.term.times;
    }
    all
}

fn seen_with(faults: u64, together: Requests) -> Observation {
    let usage = Usage { minor_faults: Some(faults), ..Usage::default() };
    Observation { together, usage, ..Observation::default() }
}

/// A process that ended, of whose 402 faults a quarter was sampled: some of each kind, two of them of huge pages. It unmapped a base page 40
/// times, and gave back the two huge ones by one call.
pub(super) fn that_ended() -> Observation {
    let each = CallTime { samples: 100, mean_ns: 500.0, error_ns: 1.0, ..CallTime::default() };
    let kinds = Some(FaultKinds { read: 20, new: 52, copied: 30 });
    let calls = vec![
        CallCount { freed_pages: 40, ..call("munmap", 40, 0, None) },
        CallCount { freed_pages: 1024, ..call("madvise", 1, 0, None) },
    ];
    let faults = Some(FaultTime { count: 102, each, kinds });
    let together = Requests { calls, huge_pages: 2, faults, ..Requests::default() };
    let seen = seen_with(402, together);
    let (usage, requests) = (seen.usage, seen.together.clone());
    let process =
        ProcessCounts { pid: Some(9), processes: 1, thread_count: 1, usage, requests, ..ProcessCounts::default() };
    Observation { processes: vec![process], ..seen }
}

#[test]
fn huge_pages_and_the_pages_of_copied_processes_have_prices_of_their_own() {
    let together = Requests { huge_pages: 256, copied_pages: 8 << 18, forks: 8, ..Requests::default() };
    let priced = priced(&seen_with(300, together));
    for (name, times) in lines(&[
        ("page.fault.huge@frames=fresh", 256.0),
        ("page.fault.anonymous@frames=fresh", 44.0),
        ("process.fork.resident@resident=1073741824", 8.0),
    ]) {
        assert_eq!(priced.get(&name), Some(&times), "{name} in {priced:?}");
    }
}

#[test]
fn faults_are_priced_by_what_the_sampled_ones_were() {
    let priced = priced(&that_ended());
    // 400 base pages, of which 20 in 100 were read, 50 were new and 30 copied. As many as small calls gave back were in the caches.
    for (name, times) in lines(&[
        ("page.fault.huge@frames=recycled", 2.0),
        ("page.fault.around", 80.0),
        ("page.fault.copy", 120.0),
        ("page.fault.anonymous@frames=recycled", 40.0),
        ("page.fault.anonymous@frames=fresh", 160.0),
    ]) {
        let found = priced.get(&name).copied().unwrap_or(0.0);
        assert!((found - times).abs() < 1e-9, "{name}: {found} in {priced:?}");
    }
}

#[test]
fn what_calls_did_not_give_back_is_given_back_at_the_end() {
    const PER_SMALL: f64 = 512.0;
    let [base, file, huge] = given_back(&that_ended());
    // The calls gave back 1,064 pages, of which 1,024 are those of the two huge ones; 320 base pages were new or copied.
    assert!((base * PER_SMALL - (40.0 + 280.0)).abs() < 1e-9, "{base}");
    assert!((huge * 32.0 - 2.0).abs() < 1e-9, "{huge}");
    assert!((file * PER_SMALL - 80.0 * 16.0).abs() < 1e-9, "{file}");
    let mut running = that_ended();
    running.processes[0].running = true;
    assert_eq!(given_back(&running)[1], 0.0, "a process that runs has its pages still");
}

#[test]
fn larger_pages_hold_as_much_more() {
    let mut seen = that_ended();
    seen.together.page = PageSize(64 << 10);
    // Huge pages have 512 MiB, so that what calls gave back was none; of base pages they gave back more than there were.
    assert_eq!(given_back(&seen), [1.25, 2.5, 16.0], "40 base pages and 80 of a file by 2 MiB, 2 huge ones by 64 MiB");
    let copied = |page| {
        let together = Requests { copied_pages: 8 << 18, forks: 8, page, ..Requests::default() };
        priced(&seen_with(300, together))["process.fork.resident@resident=1073741824"]
    };
    assert_eq!(copied(PageSize(16 << 10)), 4.0 * copied(PageSize::default()));
}

/// How often what gives back 2 MiB of base pages and of a file's pages, and 64 MiB of huge ones, prices what was seen.
fn given_back(seen: &Observation) -> [f64; 3] {
    let small = |pages: &str| format!("page.unmap.touched@pages={pages},size=2097152");
    let all = priced(seen);
    [small("base"), small("file"), "page.unmap.touched@pages=huge,size=67108864".into()]
        .map(|name| all.get(&name).copied().unwrap_or(0.0))
}
