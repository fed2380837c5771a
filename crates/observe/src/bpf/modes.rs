//! How often samples find a task in its program and in the kernel: more often than the kernel's own ticks, which split what a short
//! program used by a handful of samples, and at other times than those at which the kernel wakes tasks.

use std::time::{Duration, Instant};

use super::builder::Builder;
use super::events;
use super::instruction::{Compute, Instruction, Operand, When, Width};
use super::layout::{self, HERE};
use super::maps::Maps;
use super::sys::{Attachment, Program, Runs};
use Operand::Constant;

/// The time of a CPU between two samples in ns, at first and later: no multiples of a tick. A sample takes 3 to 30 us, most where the
/// timer is that of a virtual machine.
const PERIODS: [u64; 2] = [1_997_000, 4_987_000];
/// How long the first period is used.
const FINE: Duration = Duration::from_millis(300);

/// A timer interrupted a task: counts it by the mode in the registers that the interrupt saved. Nothing else writes to these counts.
fn sampled(maps: &Maps, period: usize) -> Vec<Instruction> {
    let mut b = Builder::new(maps);
    let [end, user] = b.code.labels();
    let (mode, bits, in_program) = HERE.mode;
    let [program, kernel] = layout::MODES[period];
    b.code.load(Width::Double, 9, 6, mode);
    b.code.compute(Compute::And, 9, Constant(bits));
    b.this_task();
    b.find_own(end);
    b.code.jump_if(9, When::Equal, Constant(in_program), user);
    b.count(7, kernel);
    b.code.otherwise(end, user);
    b.count(7, program);
    b.end(end)
}

/// The programs that count samples by mode, of which one is at work.
#[derive(Debug)]
pub(super) struct Modes {
    programs: [Program; 2],
    attached: Vec<Attachment>,
    /// Until when it is the first; `None` afterwards.
    fine_until: Option<Instant>,
}

impl Modes {
    /// Begins to sample. `None` if the kernel does not take the programs.
    pub(super) fn start(maps: &Maps) -> Option<Modes> {
        let load = |period| Program::load_for("mode", &sampled(maps, period), Runs::Events).ok();
        let programs = [load(0)?, load(1)?];
        let mut modes = Modes { programs, attached: Vec::new(), fine_until: Some(Instant::now() + FINE) };
        modes.attach(0);
        Some(modes)
    }

    /// Goes on to the longer period when it is time.
    pub(super) fn schedule(&mut self) {
        if self.fine_until.is_some_and(|until| Instant::now() >= until) {
            self.fine_until = None;
            self.attach(1);
        }
    }

    fn attach(&mut self, period: usize) {
        self.attached.clear();
        self.attached = events::attach(&self.programs[period], events::clock(PERIODS[period])).unwrap_or_default();
    }
}

/// Samples by mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModeSamples {
    /// How long they found user mode and the kernel, in ns.
    pub sampled_ns: [f64; 2],
    /// The time between as many equal ones that would show as much, in ns (L. Kish, Survey sampling, 1965).
    pub each_ns: f64,
}

impl ModeSamples {
    /// From their numbers for each period; `None` if there are none.
    pub(crate) fn of(modes: [[u64; 2]; 2]) -> Option<ModeSamples> {
        let mut found = ModeSamples { sampled_ns: [0.0; 2], each_ns: 0.0 };
        for (counts, period) in modes.iter().zip(PERIODS) {
            for (sum, count) in found.sampled_ns.iter_mut().zip(counts) {
                *sum += (*count * period) as f64;
                found.each_ns += (*count * period) as f64 * period as f64;
            }
        }
        let all: f64 = found.sampled_ns.iter().sum();
        found.each_ns /= all;
        (all > 0.0).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_count_by_the_time_for_which_they_stand() {
        let [fine, coarse] = PERIODS.map(|period| period as f64);
        let found = ModeSamples::of([[3, 1], [0, 0]]).expect("samples");
        assert_eq!((found.sampled_ns, found.each_ns), ([3.0 * fine, fine], fine));
        let found = ModeSamples::of([[4, 0], [1, 2]]).expect("samples");
        assert_eq!(found.sampled_ns, [4.0 * fine + coarse, 2.0 * coarse]);
        assert!(fine < found.each_ns && found.each_ns < coarse, "{found:?}");
        assert!(ModeSamples::of([[0; 2]; 2]).is_none());
    }
}
