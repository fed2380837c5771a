//! What prices page faults by what they were, and memory that is given back: by calls, and at the end of processes.

use record::{CallCount, FaultKinds, Observation, PageSize, Requests, Term, Usage, Value};

use super::list::PriceList;

/// The sizes at which giving memory back is measured: within the core's private caches, and far beyond them.
const SMALL: u64 = 2 << 20;
const LARGE: u64 = 64 << 20;
/// What prices memory that is given back.
pub(super) const UNMAPPED: &str = "page.unmap.touched";
/// More huge pages than these are no longer in the caches when they are given again.
const FEW_HUGE: u64 = 4;
/// The bytes of a file that the kernel maps at one fault, unless a page is larger (fault_around_bytes, mm/memory.c).
const AROUND: u64 = 64 << 10;

/// The faults of some tasks, and what became of their pages.
#[derive(Default)]
pub(super) struct Memory {
    page: PageSize,
    /// By samples; `None` where the kernel does not report them.
    kinds: Option<FaultKinds>,
    /// Huge pages that were given at a first touch; base pages that calls gave back, in all and by those that gave few at once.
    huge: u64,
    freed: u64,
    freed_few: u64,
    /// Processes that ended, and their part of the faults.
    ended: u64,
    ended_share: f64,
}

impl Memory {
    pub(super) fn of(seen: &Observation) -> Memory {
        let faults = |usage: &Usage| usage.minor_faults.unwrap_or(0);
        let ended = || seen.processes.iter().filter(|process| !process.running);
        let all: u64 = seen.processes.iter().map(|process| faults(&process.usage)).sum();
        Memory {
            page: seen.together.page,
            kinds: seen.together.faults.and_then(|faults| faults.kinds).filter(|kinds| kinds.total() > 0),
            huge: seen.together.huge_pages,
            freed: freed_by_calls(&seen.together),
            freed_few: freed_few(&seen.together),
            ended: ended().map(|process| process.processes).sum(),
            ended_share: ended().map(|process| faults(&process.usage)).sum::<u64>() as f64 / all.max(1) as f64,
        }
    }

    /// What prices so many faults, given what they most likely were where that was not sampled; then what prices the ends of the
    /// processes whose pages these are.
    pub(super) fn terms(&self, list: &PriceList, left: f64, likely: impl Fn(f64) -> Faults) -> [Vec<Term>; 2] {
        let huge = left.min(self.huge as f64);
        let base = left - huge;
        let faults = self.kinds.map_or_else(|| likely(base), |kinds| Faults::by_samples(kinds, huge, base));
        // What was given back a moment ago is still in the caches.
        let recycled = faults.new.min(self.freed_few as f64);
        let frames = |word: &str| [("frames", Value::Word(word.into()))];
        let found = if self.huge > FEW_HUGE { "fresh" } else { "recycled" };
        let first = [
            list.at("page.fault.huge", &frames(found), huge),
            list.at("page.fault.anonymous", &frames("fresh"), faults.new - recycled),
            list.at("page.fault.anonymous", &frames("recycled"), recycled),
            list.at("page.fault.copy", &[], faults.copied),
            list.at("page.fault.around", &[], faults.read),
        ];
        [first.concat(), self.ends(list, &faults)]
    }

    /// What the ends of processes give back: what their calls did not.
    fn ends(&self, list: &PriceList, faults: &Faults) -> Vec<Term> {
        let by_calls = huge_by_calls(self.huge, self.freed, self.page);
        let huge = (self.huge - by_calls) as f64 * self.ended_share;
        let freed = (self.freed - by_calls * self.page.in_huge()) as f64;
        let page = self.page.0 as f64;
        let base = (faults.new + faults.copied - freed).max(0.0) * self.ended_share;
        let file = faults.read * self.page.0.max(AROUND) as f64 * self.ended_share;
        let each = base / self.ended.max(1) as f64;
        [
            unmapped(list, "huge", huge * page * self.page.in_huge() as f64, LARGE),
            base_pages(list, base * page, each * page),
            unmapped(list, "file", file, SMALL),
        ]
        .concat()
    }
}

/// Page faults but those of huge pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Faults {
    pub new: f64,
    pub copied: f64,
    pub read: f64,
}

impl Faults {
    /// So many faults, of the kinds of the sampled ones, among which there were huge pages.
    fn by_samples(kinds: FaultKinds, huge: f64, base: f64) -> Faults {
        let new = (kinds.new as f64 - huge).max(0.0);
        let all = new + (kinds.copied + kinds.read) as f64;
        let each = if all > 0.0 { base / all } else { 0.0 };
        Faults { new: new * each, copied: kinds.copied as f64 * each, read: kinds.read as f64 * each }
    }
}

/// What prices the memory that calls like this one gave back.
pub(super) fn freed(list: &PriceList, call: &CallCount, requests: &Requests) -> Vec<Term> {
    if call.freed_pages == 0 {
        return Vec::new();
    }
    let (all, page) = (freed_by_calls(requests), requests.page);
    let huge_share = (huge_by_calls(requests.huge_pages, all, page) * page.in_huge()) as f64 / all.max(1) as f64;
    let freed = (call.freed_pages * page.0) as f64;
    let base = freed * (1.0 - huge_share);
    let huge = unmapped(list, "huge", freed * huge_share, LARGE);
    [huge, base_pages(list, base, base / call.count.max(1) as f64)].concat()
}

/// How many of these huge pages calls that gave back this many base pages gave back: as many as can be.
fn huge_by_calls(huge: u64, freed: u64, page: PageSize) -> u64 {
    huge.min(freed / page.in_huge())
}

fn freed_by_calls(requests: &Requests) -> u64 {
    requests.calls.iter().map(|call| call.freed_pages).sum()
}

/// Pages that are still in the private caches when the kernel gives them again.
fn freed_few(requests: &Requests) -> u64 {
    /// At once: from this on the C library maps memory of its own.
    const FEW: u64 = 128 << 10;
    requests
        .calls
        .iter()
        .filter(|call| call.freed_pages * requests.page.0 <= FEW * call.count)
        .map(|call| call.freed_pages)
        .sum()
}

fn base_pages(list: &PriceList, bytes: f64, at_once: f64) -> Vec<Term> {
    let size = if at_once > SMALL as f64 { LARGE } else { SMALL };
    unmapped(list, "base", bytes, size)
}

fn unmapped(list: &PriceList, pages: &str, bytes: f64, size: u64) -> Vec<Term> {
    let at = [("pages", Value::Word(pages.into())), ("size", Value::Number(size))];
    list.at(UNMAPPED, &at, bytes / size as f64)
}
