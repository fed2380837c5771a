//! The speed check around every batch: the frequency of the core, and whether the core is undisturbed.

use std::arch::asm;

use analysis::statistics::median;
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
    const MOST: f64 = 8.0;
    // A step of usual size is within the cost of a reading.
    let coarse = if clock.step > 4.0 * clock.cost { clock.step } else { 0.0 };
    (clock.cost.max(coarse) * COSTS_IN_A_HALF / HALF).round().clamp(1.0, MOST) as u64
}

/// Checks the speed of the core it runs on.
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
    /// Learns the overhead by comparing checks with a chain twenty times as long, where it is negligible.
    pub fn calibrate(clock: Clock) -> Checker {
        const TRIES: usize = 201;
        const LONGER: u64 = 20;
        let plain = Checker { clock, overhead: 0.0, longer: longer(clock) };
        let overheads = (0..TRIES).map(|_| {
            let before = plain.check();
            let start = clock.now();
            chain(CHAIN_TURNS * plain.longer * LONGER);
            let long = clock.now() - start;
            let after = plain.check();
            // Solved for the overhead: check = adds + overhead, long = LONGER x adds + overhead. Within these 25 µs the
            // frequency seldom moves. The median excludes the cases where it did.
            let check = (before.chain + after.chain) / 2.0 * plain.adds(CHAIN_TURNS);
            (LONGER as f64 * check - long) / (LONGER - 1) as f64
        });
        Checker { overhead: median(overheads).unwrap_or(0.0), ..plain }
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
        let of = |cost, step| {
            let mut clock = Clock::plain();
            (clock.cost, clock.step) = (cost, step);
            longer(clock)
        };
        assert_eq!([1.0, 27.0, 60.0, 205.0, 1000.0, f64::INFINITY].map(|cost| of(cost, 1.0)), [1, 1, 1, 4, 8, 8]);
        assert_eq!(of(27.0, 1000.0), 8, "a clock of 1 µs steps");
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
