//! What one page fault costs in processor time, measured with one process that has less memory than it refers to.

use std::time::{Duration, Instant};

use analysis::load::{FaultCost, PageDevice};
use operation::Usage;

use crate::error::LoadError;
use crate::site::{Controllers, Group, Ledger};
use crate::users::Area;

/// The memory of that process. Enough for any kernel to run it.
const MEMORY: u64 = 12 << 20;
/// What it refers to.
const AREA: u64 = 24 << 20;
/// Pages touched for the first time that are timed, at most so many as take half of its memory, and references to pages that may be on the
/// device.
const NEW_PAGES: usize = 1500;
const REFERENCES: usize = 4000;
/// A slow device gets no more time than this.
const LONGEST: Duration = Duration::from_secs(3);

/// Measures it with a page device that is on. Zeros where memory cannot be limited, or there is no device. Forks: call it
/// while the process has one thread. Fails if a group cannot be made, or the process does not come back.
pub(crate) fn cost(
    on: &Controllers,
    ledger: &Ledger,
    device: PageDevice,
    cpus: &[u32],
) -> Result<FaultCost, LoadError> {
    let paged = device != PageDevice::None && on.version().is_some();
    let group = Group::make(on, ledger, paged.then_some(MEMORY), paged)?;
    let work = || -> Option<[f64; 3]> {
        group.enter(cpus).ok()?;
        measure(paged)
    };
    let found =
        system::guard::apart(Duration::from_secs(30), work).map_err(|lost| LoadError::Users(lost.to_string()))?;
    let [minor_s, major_s, wait_s] = found.unwrap_or_default();
    Ok(FaultCost { minor_s, major_s, wait_s })
}

/// In that process: seconds of the processor for the first touch of a page, and for one that comes from the device, and
/// seconds of waiting for it.
fn measure(paged: bool) -> Option<[f64; 3]> {
    let mut area = Area::map(AREA, 1).ok()?;
    let new_pages = new_pages(rustix::param::page_size());
    let busy = |used: Usage| (used.user + used.system) / 1e9;
    let before = Usage::of_this_process();
    (0..new_pages).for_each(|page| area.touch(page));
    let new = Usage::of_this_process().since(before);
    let minor_s = busy(new) / new.minor_faults.max(1.0);
    if !paged {
        return Some([minor_s, 0.0, 0.0]);
    }
    (new_pages..area.pages()).for_each(|page| area.touch(page));
    let mut random = fastrand::Rng::with_seed(2);
    let (before, start) = (Usage::of_this_process(), Instant::now());
    for _ in 0..REFERENCES {
        let page = random.usize(..area.pages());
        area.touch(page);
        if start.elapsed() > LONGEST {
            break;
        }
    }
    let used = Usage::of_this_process().since(before);
    let faults = used.major_faults.max(1.0);
    let waited = start.elapsed().as_secs_f64() - busy(used);
    Some([minor_s, busy(used) / faults, waited.max(0.0) / faults])
}

fn new_pages(page_size: usize) -> usize {
    NEW_PAGES.min(MEMORY as usize / 2 / page_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_pages_fit_into_the_memory_whatever_their_size() {
        assert_eq!([4096, 16 << 10, 64 << 10].map(new_pages), [NEW_PAGES, 384, 96]);
    }
}
