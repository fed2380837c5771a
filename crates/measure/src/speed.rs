//! The speed check around every batch: the frequency of the core, and whether the core is undisturbed.

use std::arch::asm;
use std::time::Duration;

use analysis::statistics::{median, quantile, sorted};
use operation::Clock;

/// One speed check.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Speed {
    /// Nanoseconds per add of a dependent chain: one core cycle on every core of the last decades.
    pub chain: f64,
    /// Nanoseconds per independent add. These adds share their ports with any other hardware thread of the core.
    pub width: f64,
}

impl Speed {
    /// Cycles per independent add. It does not depend on the frequency, and is larger if the core is shared.
    pub(crate) fn share(self) -> f64 {
        self.width / self.chain
    }

    /// The check that shows more disturbance.
    pub(crate) fn worse(self, other: Speed) -> Speed {
        if self.share() >= other.share() { self } else { other }
    }
}

/// The clock may move by this much within a quiet batch. A step of any core's frequency is larger.
pub(crate) const CLOCK_TOLERANCE: f64 = 0.015;

/// True if the core ran at one clock before and after.
pub(crate) fn steady(before: Speed, after: Speed) -> bool {
    (before.chain / after.chain - 1.0).abs() <= CLOCK_TOLERANCE
}

/// Adds per turn of either loop.
const ADDS: u64 = 48;
/// Turns of the chain: about 1 µs.
const CHAIN_TURNS: u64 = 80;
/// Turns of the independent adds: about 1 µs on four ports.
const WIDTH_TURNS: u64 = 256;

/// Factor on the length of a check, for a clock with costly readings or coarse steps, in ns. The three readings of a
/// check vary by a tenth of their cost, and must not hide a twentieth of either half. The factor is limited so that a
/// batch stays much longer than a check.
fn longer(clock: Clock) -> u64 {
    /// One half of a check of usual length, in ns.
    const HALF: f64 = 1000.0;
    const COSTS_IN_A_HALF: f64 = 20.0;
    /// A half of a check has so many times more steps than costs, or two halves of equal length would differ by as much as
    /// what a neighbour does: with 40 ns and 25 steps, an undisturbed core looked quiet a quarter of the time.
    const STEPS: f64 = 5.0;
    const MOST: f64 = 8.0;
    (clock.cost.max(STEPS * clock.step) * COSTS_IN_A_HALF / HALF).round().clamp(1.0, MOST) as u64
}

/// How many times longer the chain is that the overhead is learned from. A much longer one is never undisturbed where another
/// hardware thread uses the core, a much shorter one shows the steps of the clock.
const LONGER: u64 = 8;

/// What the chain of a check took, and beside it one that is [`LONGER`] times as long, in ns.
#[derive(Default)]
struct Tries {
    checks: Vec<f64>,
    longs: Vec<f64>,
}

impl Tries {
    /// The overhead in ns, solved from check = adds + overhead and long = `LONGER` x adds + overhead. What disturbs the core
    /// makes either longer, and the long one more often, so it is solved for what both take at their best: the medians once
    /// erred by 9 ns, and with them all cycles of that run by 0.9 %. The least may be a step of the clock too early. A coarse
    /// clock rounds either way; there it is the median.
    fn overhead(&self, coarse: bool) -> f64 {
        const BEST: f64 = 0.03;
        let solved = |check: f64, long: f64| (LONGER as f64 * check - long) / (LONGER - 1) as f64;
        let best = |times: &[f64]| quantile(&sorted(times.iter().copied()), BEST);
        let overhead = match coarse {
            true => median(self.checks.iter().zip(&self.longs).map(|(&check, &long)| solved(check, long))),
            false => best(&self.checks).zip(best(&self.longs)).map(|(check, long)| solved(check, long)),
        };
        overhead.unwrap_or(0.0)
    }

    /// True if a third of the long chains took the same time, but for a step of the clock: they were undisturbed.
    fn calm(&self, clock: &Clock) -> bool {
        let sorted = sorted(self.longs.iter().copied());
        let third = quantile(&sorted, 1.0 / 3.0).zip(sorted.first().copied());
        third.is_some_and(|(third, least)| third - least <= clock.step.max(0.001 * least))
    }
}

/// What an add takes in a long chain and in the checks around it, in ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchor {
    long: f64,
    check: f64,
}

/// Factor on the adds of all checks of a run, which makes them agree with long chains. A check takes 1 µs: where the clock steps
/// by 20 ns, its calibration errs by up to 0.8 %, and so do all cycles of the run. Only anchors whose checks are like the `usual` one of
/// the run say anything of them: checks beside a neighbour have taken 10 % longer for a while, though the long chains between them
/// had not. 1 as long as there are too few anchors.
pub(crate) fn correction(anchors: &[Anchor], usual: f64) -> f64 {
    const ENOUGH: usize = 20;
    /// Two steps of a coarse clock. What lies farther off was disturbed.
    const NEAR: f64 = 0.03;
    let ratio = |anchor: &Anchor| anchor.long / anchor.check;
    let close = |one: f64, other: f64| (one / other - 1.0).abs() <= NEAR;
    let like = || anchors.iter().filter(|anchor| close(anchor.check, usual));
    let Some(middle) = median(like().map(ratio)) else { return 1.0 };
    let near = || like().filter(|anchor| close(ratio(anchor), middle));
    // Sums instead of medians: the steps of the clock cancel in a mean.
    let sum = |part: fn(&Anchor) -> f64| near().map(part).sum::<f64>();
    if near().count() < ENOUGH { 1.0 } else { sum(|anchor| anchor.long) / sum(|anchor| anchor.check) }
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Checker {
    /// The clock that it uses.
    pub clock: Clock,
    /// The time that two clock readings add to the adds between them, in ns. It is less than the distance of two
    /// readings in a row, because the core works on the adds while it still reads.
    overhead: f64,
    /// Factor on the usual length of a check.
    longer: u64,
}

impl Checker {
    /// That of a recorded run, whose checks are recorded too.
    pub fn recorded(clock: Clock) -> Checker {
        Checker { clock, overhead: 0.0, longer: 1 }
    }

    /// Learns the overhead by comparing checks with a longer chain. Takes 3 ms where nothing disturbs the core; else it waits
    /// for a better moment, up to half a second.
    pub fn calibrate(clock: Clock) -> Checker {
        const MOMENTS: u32 = 20;
        const PAUSE: Duration = Duration::from_millis(20);
        let plain = Checker { clock, overhead: 0.0, longer: longer(clock) };
        let mut all = Tries::default();
        for moment in 0..MOMENTS {
            if moment > 0 {
                std::thread::sleep(PAUSE);
            }
            let tries = plain.compare();
            if tries.calm(&clock) {
                all = tries;
                break;
            }
            all.checks.extend(tries.checks);
            all.longs.extend(tries.longs);
        }
        Checker { overhead: all.overhead(clock.is_coarse()), ..plain }
    }

    /// What both chains take at this moment.
    fn compare(&self) -> Tries {
        const TRIES: u64 = 200;
        let mut tries = Tries::default();
        for _ in 0..TRIES / self.longer {
            let before = self.check();
            let start = self.clock.now();
            chain(CHAIN_TURNS * self.longer * LONGER);
            let long = self.clock.now() - start;
            let after = self.check();
            tries.checks.push(before.chain.min(after.chain) * self.adds(CHAIN_TURNS));
            tries.longs.push(long);
        }
        tries
    }

    /// Takes about 2 µs if clock readings are cheap.
    pub fn check(&self) -> Speed {
        let start = self.clock.now();
        chain(CHAIN_TURNS * self.longer);
        let middle = self.clock.now();
        width(WIDTH_TURNS * self.longer);
        let end = self.clock.now();
        Speed {
            chain: (middle - start - self.overhead) / self.adds(CHAIN_TURNS),
            width: (end - middle - self.overhead) / self.adds(WIDTH_TURNS),
        }
    }

    /// A chain of adds that is 16 times as long as that of a check, between two checks that show an undisturbed core. Takes
    /// 25 µs.
    pub fn anchor(&self, limit: f64) -> Option<Anchor> {
        const LONGER: u64 = 16;
        let before = self.check();
        let start = self.clock.now();
        chain(CHAIN_TURNS * self.longer * LONGER);
        let long = (self.clock.now() - start - self.overhead) / (self.adds(CHAIN_TURNS) * LONGER as f64);
        let after = self.check();
        let undisturbed = before.worse(after).share() <= limit && steady(before, after);
        undisturbed.then_some(Anchor { long, check: (before.chain + after.chain) / 2.0 })
    }

    /// The adds in this many turns of a check of usual length.
    fn adds(&self, turns: u64) -> f64 {
        (ADDS * turns * self.longer) as f64
    }
}

// The addend is a register, because recent cores execute an add of a small constant during renaming, in no time.

#[cfg(target_arch = "x86_64")]
fn chain(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        asm!(
            "2:", ".rept 48", "add {sum}, {one}", ".endr", "dec {turns}", "jnz 2b",
            sum = inout(reg) 0_u64 => _, one = in(reg) 3_u64, turns = inout(reg) turns => _,
            options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "x86_64")]
fn width(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        asm!(
            "2:", ".rept 8",
            "add {a}, {one}", "add {b}, {one}", "add {c}, {one}", "add {d}, {one}", "add {e}, {one}", "add {f}, {one}",
            ".endr", "dec {turns}", "jnz 2b",
            a = inout(reg) 0_u64 => _, b = inout(reg) 0_u64 => _, c = inout(reg) 0_u64 => _, d = inout(reg) 0_u64 => _,
            e = inout(reg) 0_u64 => _, f = inout(reg) 0_u64 => _, one = in(reg) 3_u64, turns = inout(reg) turns => _,
            options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn chain(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        asm!(
            "2:", ".rept 48", "add {sum}, {sum}, {one}", ".endr", "subs {turns}, {turns}, #1", "b.ne 2b",
            sum = inout(reg) 0_u64 => _, one = in(reg) 3_u64, turns = inout(reg) turns => _,
            options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn width(turns: u64) {
    // SAFETY: adds and a counted loop in registers that are all declared.
    unsafe {
        asm!(
            "2:", ".rept 8",
            "add {a}, {a}, {one}", "add {b}, {b}, {one}", "add {c}, {c}, {one}",
            "add {d}, {d}, {one}", "add {e}, {e}, {one}", "add {f}, {f}, {one}",
            ".endr", "subs {turns}, {turns}, #1", "b.ne 2b",
            a = inout(reg) 0_u64 => _, b = inout(reg) 0_u64 => _, c = inout(reg) 0_u64 => _, d = inout(reg) 0_u64 => _,
            e = inout(reg) 0_u64 => _, f = inout(reg) 0_u64 => _, one = in(reg) 3_u64, turns = inout(reg) turns => _,
            options(nomem, nostack)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_longer_where_reading_the_clock_costs_more_and_never_without_end() {
        let longer_with = |cost, step| {
            let mut clock = Clock::plain();
            (clock.cost, clock.step) = (cost, step);
            longer(clock)
        };
        assert_eq!(
            [1.0, 27.0, 60.0, 205.0, 1000.0, f64::INFINITY].map(|cost| longer_with(cost, 1.0)),
            [1, 1, 1, 4, 8, 8]
        );
        assert_eq!(longer_with(27.0, 1000.0), 8, "a clock of 1 µs steps");
        assert_eq!([18.5, 40.0, 52.0].map(|step| longer_with(25.0, step)), [2, 4, 5], "counters of 54, 25 and 19 MHz");
    }

    #[test]
    fn the_overhead_is_that_of_undisturbed_tries() {
        // A disturbance of 10 to 40 ns comes twice in a µs, which spares one chain of 8 µs in many.
        let mut random = fastrand::Rng::with_seed(5);
        let mut took = |adds: f64, rate: f64| {
            let mut pause = || if rate > 0.0 { -(1.0 - random.f64()).ln() / rate * 1000.0 } else { f64::INFINITY };
            let (mut at, mut disturbances) = (pause(), 0);
            while at <= adds {
                at += pause();
                disturbances += 1;
            }
            adds + 12.0 + f64::from(disturbances) * 25.0
        };
        let mut tries = |rate: f64| {
            let mut tries = Tries::default();
            for _ in 0..4000 {
                tries.checks.push(took(1040.0, rate));
                tries.longs.push(took(LONGER as f64 * 1040.0, rate));
            }
            tries
        };
        let clock = Clock::plain();
        let (undisturbed, disturbed) = (tries(0.0), tries(0.3));
        assert!((undisturbed.overhead(false) - 12.0).abs() < 1e-6 && undisturbed.calm(&clock));
        assert!((disturbed.overhead(false) - 12.0).abs() < 1e-6 && !disturbed.calm(&clock));
        assert!((disturbed.overhead(true) - 12.0).abs() > 5.0, "the median errs");
        assert_eq!(Tries::default().overhead(false), 0.0);
    }

    #[test]
    fn a_coarse_clock_rounds_either_way() {
        // Steps of 1 µs, and readings at any moment of a step.
        let mut random = fastrand::Rng::with_seed(6);
        let mut read = |ns: f64| ((random.f64() * 1000.0 + ns) / 1000.0).floor() * 1000.0;
        let mut tries = Tries::default();
        for _ in 0..201 {
            tries.checks.push(read(8500.0));
            tries.longs.push(read(64_500.0));
        }
        let found = tries.overhead(true);
        assert!((-800.0..=1800.0).contains(&found), "{found}");
    }

    #[test]
    fn an_add_is_one_cycle_in_every_run_although_the_clock_steps_by_20_ns() {
        const ADD: f64 = 0.27;
        const STEP: f64 = 20.0;
        for run in 0..40 {
            let mut random = fastrand::Rng::with_seed(run);
            // What the calibration of this run took for the overhead, of 12 ns.
            let learned = 12.0 + (random.f64() - 0.5) * 20.0;
            let mut read = |adds: f64| {
                let begin = random.f64() * STEP;
                let disturbed = if random.f64() < 0.05 { 2000.0 } else { 0.0 };
                let end = begin + adds * ADD + 12.0 + disturbed;
                (((end / STEP).floor() - (begin / STEP).floor()) * STEP - learned) / adds
            };
            let mut anchors = Vec::new();
            while anchors.len() < 300 {
                let (before, long, after) = (read(3840.0), read(16.0 * 3840.0), read(3840.0));
                let speeds = [before, after].map(|chain| Speed { chain, width: chain / 4.0 });
                if steady(speeds[0], speeds[1]) {
                    anchors.push(Anchor { long, check: (before + after) / 2.0 });
                }
            }
            let checks = || anchors.iter().map(|anchor| anchor.check).filter(|check| *check < 0.3);
            let cycle = checks().sum::<f64>() / checks().count() as f64;
            let add = ADD / (cycle * correction(&anchors, cycle));
            assert!((add - 1.0).abs() < 0.001, "run {run}: an add takes {add} cycles");
            assert!(correction(&anchors[..19], cycle) == 1.0);
            // Most anchors were taken while checks, and they alone, took a tenth longer.
            let slow: Vec<Anchor> =
                anchors.iter().map(|anchor| Anchor { check: anchor.check * 1.1, ..*anchor }).collect();
            let add = ADD / (cycle * correction(&[anchors, slow.clone(), slow].concat(), cycle));
            assert!((add - 1.0).abs() < 0.001, "run {run}: an add takes {add} cycles beside a neighbour");
        }
    }

    #[test]
    fn independent_adds_are_cheaper_than_dependent_ones() {
        let checker = Checker::calibrate(Clock::calibrate());
        let least = |pick: fn(Speed) -> f64| (0..200).map(|_| pick(checker.check())).fold(f64::INFINITY, f64::min);
        let (chain, width) = (least(|speed| speed.chain), least(|speed| speed.width));
        assert!(chain > 0.05 && width > 0.01, "chain {chain} width {width}");
        // True on silicon. An emulator runs both one after the other.
        assert!(width < chain * 1.1, "chain {chain} width {width}");
    }
}
