//! Findings about memory: faults that huge pages, or memory that is kept, would save.

use record::{Bytes, Observation};

use super::super::rows::Bill;
use super::saving::{FEW, Saving, answered, beside_calls, each};

/// Most faults of a program that begins, or of a process that was copied.
const BEGINNING: u64 = 128;

/// Faults by which memory was given, and not a program loaded.
fn faults(seen: &Observation) -> u64 {
    let begun = BEGINNING * (1 + seen.together.execs + seen.together.forks);
    seen.usage.minor_faults.unwrap_or(0).saturating_sub(begun)
}

/// The processor time of one fault, in ns: as it was timed, else by what was charged beside calls.
fn each_fault(seen: &Observation, bill: &Bill) -> Option<f64> {
    let by_charge = || Some(beside_calls(bill)? / seen.usage.minor_faults.filter(|faults| *faults > 0)? as f64);
    seen.together.faults.map(|faults| faults.each.mean_ns.max(0.0)).or_else(by_charge)
}

/// Large areas that are given page by page.
pub(super) fn small_pages(seen: &Observation, bill: &Bill) -> Option<Saving> {
    const LEAST: Bytes = Bytes(64 << 20);
    let (page, in_huge) = (seen.together.page.0, seen.together.page.in_huge());
    let small = faults(seen).saturating_sub(seen.together.huge_pages);
    let areas = answered(seen, &["mmap", "brk", "mremap"]).max(1);
    if small * page < LEAST.0 || small < in_huge * areas {
        return None;
    }
    let text = format!(
        "{small} page faults gave memory in pages of {}, {} for each mmap or brk: with huge pages (MADV_HUGEPAGE, or always in \
         /sys/kernel/mm/transparent_hugepage/enabled) one takes the place of {in_huge}; what is not touched of {} is held as well, and the \
         first touches are dear where the host of a virtual machine must find it.",
        Bytes(page),
        small / areas,
        Bytes(page * in_huge)
    );
    // Huge pages are cleared like small ones, which is a fifth to a half of such a fault.
    let saves = each_fault(seen, bill).map(|each| [0.4 * each * small as f64, each * small as f64]);
    Some((text, small as f64, saves))
}

/// Memory that is given back and taken again.
pub(super) fn given_back(seen: &Observation, bill: &Bill) -> Option<Saving> {
    let times = answered(seen, &["munmap"]).min(answered(seen, &["mmap"])) + answered(seen, &["madvise"]);
    let huge = seen.together.huge_pages;
    let pages = faults(seen) + (seen.together.page.in_huge() - 1) * huge.min(faults(seen));
    if times < FEW || pages < 4 * times {
        return None;
    }
    let threads = seen.processes.iter().map(|process| process.thread_count).max().unwrap_or(1);
    let others = match threads {
        0 | 1 => String::new(),
        2 => ", and each time the CPU of the other thread is interrupted".into(),
        _ => format!(", and each time the CPUs of the other {} threads are interrupted", threads - 1),
    };
    let large = if huge > 0 { format!(", {huge} huge pages among them") } else { String::new() };
    let text = format!(
        "{times} times memory was given back (munmap, madvise), and {} pages on the mean were taken and cleared anew{large}{others}: memory \
         that is kept (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD of malloc, a pool) is there already.",
        pages / times
    );
    let saves = each_fault(seen, bill).map(|fault| {
        let calls = |end: usize| -> f64 {
            let total = |call: &&str| Some(each(bill, call)?[end] * answered(seen, &[call]) as f64);
            ["mmap", "munmap", "madvise"].iter().filter_map(total).sum()
        };
        let faults = fault * faults(seen) as f64;
        [0.6 * (calls(0) + faults), calls(1) + 1.1 * faults]
    });
    Some((text, pages as f64, saves))
}
