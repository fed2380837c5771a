//! The built-in job: references to pages of an area that belongs to the user, each followed by computation.

use std::time::{Duration, Instant};

use analysis::load::Relief;
use rustix::mm::Advice;
use system::mapped::Mapped;

use crate::plan::Job;

/// Computation that takes a known time on a processor that it has for itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spin {
    /// Steps per second.
    pub per_second: f64,
}

impl Spin {
    /// Finds how fast this processor computes: the best of several tries, which neighbours disturb least.
    pub fn calibrate() -> Spin {
        const STEPS: u64 = 200_000;
        const TRIES: u32 = 50;
        let try_once = |_| {
            let start = Instant::now();
            spin(STEPS);
            start.elapsed().as_secs_f64()
        };
        let best = (0..TRIES).map(try_once).fold(f64::INFINITY, f64::min);
        Spin { per_second: STEPS as f64 / best.max(1e-9) }
    }
}

/// Dependent multiplications, which no compiler and no wide processor makes shorter.
fn spin(steps: u64) {
    let mut state = std::hint::black_box(1_u64);
    for _ in 0..steps {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    std::hint::black_box(state);
}

/// An area of memory with a user's pages.
pub struct Area {
    memory: Mapped,
    random: fastrand::Rng,
}

impl Area {
    /// Maps an area of whole pages, without touching them. Fails if there is no address space or memory left.
    pub fn map(bytes: u64, seed: u64) -> std::io::Result<Area> {
        let page = rustix::param::page_size();
        let memory = Mapped::private((bytes as usize).div_ceil(page) * page)?;
        let area = Area { memory, random: fastrand::Rng::with_seed(seed) };
        // With huge pages one fault would bring 512 pages, and a working set would be no number of pages.
        area.advise(Advice::LinuxNoHugepage);
        Ok(area)
    }

    pub fn pages(&self) -> usize {
        self.memory.bytes() / rustix::param::page_size()
    }

    /// Writes to a page. The first time, it is filled: half with bytes at random, as data compress to about a half.
    pub fn touch(&mut self, page: usize) {
        let size = rustix::param::page_size();
        let at = page % self.pages() * size;
        // SAFETY: it lies within the mapping.
        let start = unsafe { self.memory.start::<u64>().as_ptr().byte_add(at) };
        // SAFETY: the mapping is readable, aligned, and all bits are valid numbers.
        let old = unsafe { start.read_volatile() };
        // SAFETY: the mapping is writable, and nobody else refers to it.
        unsafe { start.write_volatile(old.wrapping_add(1) | 1) };
        if old == 0 {
            // SAFETY: the page lies within the mapping, and nobody else refers to it.
            let words = unsafe { std::slice::from_raw_parts_mut(start, size / 8) };
            words[1..size / 16].fill_with(|| self.random.u64(..));
        }
    }

    /// Touches every page, so that none is new when the job first refers to it.
    pub fn fill(&mut self) {
        (0..self.pages()).for_each(|page| self.touch(page));
    }

    /// Does the job once. Returns false if it took longer than `limit` and was given up.
    pub fn work(&mut self, job: &Job, spin_of: Spin, limit: Duration) -> bool {
        /// How often the time is looked at, in references that take less than a slice.
        const LOOK: u32 = 16;
        /// The time of a slice in seconds.
        const SLICE: f64 = 0.001;
        let start = Instant::now();
        let pages = self.pages();
        let hot = ((pages as f64 * job.hot).ceil() as usize).clamp(1, pages);
        let steps = (job.cpu.0 * spin_of.per_second / f64::from(job.references)).round() as u64;
        let slice = ((SLICE * spin_of.per_second) as u64).max(1);
        let look = if steps > slice { 1 } else { LOOK };
        let is_late = || start.elapsed() > limit;
        for reference in 0..job.references {
            let among = if self.random.f64() < job.locality { hot } else { pages };
            let page = self.random.usize(..among);
            self.touch(page);
            let mut left = steps;
            while left > slice {
                spin(slice);
                left -= slice;
                if is_late() {
                    return false;
                }
            }
            spin(left);
            if reference % look == look - 1 && is_late() {
                return false;
            }
        }
        !is_late()
    }

    /// What is done against page faults before an interaction.
    pub fn begin(&self, relief: Relief) {
        if relief.requests() {
            self.advise(Advice::WillNeed);
        }
    }

    /// What is done against page faults after an interaction.
    pub fn end(&self, relief: Relief) {
        match relief {
            Relief::None | Relief::PrePaging => {}
            Relief::PostPurging => self.advise(Advice::LinuxCold),
            Relief::PagingOut | Relief::Both => self.advise(Advice::LinuxPageOut),
        }
    }

    /// Kernels that lack a kind of advice do nothing.
    fn advise(&self, advice: Advice) {
        let _ = self.memory.advise(advice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Size, Time};

    #[test]
    fn a_job_touches_its_working_set_and_computes() {
        let mut area = Area::map(64 << 12, 1).expect("memory");
        let job = Job { cpu: Time(0.05), working_set: Size(64 << 12), references: 2000, locality: 0.5, hot: 0.2 };
        let before = operation::Usage::of_this_thread();
        assert!(area.work(&job, Spin::calibrate(), Duration::from_secs(60)));
        let used = operation::Usage::of_this_thread().since(before);
        assert!(used.minor_faults >= 60.0, "every page is touched: {used:?}");
        // Neighbours can make it longer, nothing can make it much shorter.
        assert!(used.user + used.system > 0.04e9, "{used:?}");
        for relief in Relief::ALL {
            area.begin(relief);
            area.end(relief);
        }
        assert!(area.work(&job, Spin { per_second: 1.0 }, Duration::from_secs(60)));
    }

    #[test]
    fn a_job_that_takes_too_long_is_given_up() {
        let mut area = Area::map(1 << 16, 1).expect("memory");
        let job = Job { cpu: Time(600.0), references: 1 << 20, ..Job::default() };
        assert!(!area.work(&job, Spin { per_second: 1e9 }, Duration::ZERO));
        let few = Job { references: 4, ..job };
        assert!(!area.work(&few, Spin { per_second: 1e7 }, Duration::ZERO));
        let short = Job { cpu: Time(0.0), ..few };
        assert!(!area.work(&short, Spin { per_second: 1e9 }, Duration::ZERO), "the end is looked at too");
    }

    #[test]
    fn a_page_keeps_what_was_written() {
        let mut area = Area::map(3 << 12, 1).expect("memory");
        area.touch(1);
        area.touch(4);
        // SAFETY: the page lies within the mapping.
        let first = unsafe { area.memory.start::<u64>().as_ptr().byte_add(rustix::param::page_size()) };
        // SAFETY: it was written above.
        assert_eq!(unsafe { first.read_volatile() }, 3, "4 is page 1 of 3 again: touched twice, and odd");
    }
}
