//! Units of work that several tasks do to compare how much they get done: computing within the core, or passing over a
//! working set. A unit is always the same work, so that the time per unit compares between machines.

use operation::{Failure, opaque};

use super::check::ensure;
use super::work::Work;

/// A chain of dependent multiplications and additions, within the core.
pub(crate) struct Computing {
    steps: u64,
    value: u64,
    /// What the value must be after all units so far: computed by leaps.
    expected: u64,
}

/// The multiplier and increment of Knuth's MMIX generator.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

impl Computing {
    /// So many steps per unit.
    pub(crate) fn new(steps: u64, seed: u64) -> Computing {
        Computing { steps, value: seed, expected: seed }
    }

    #[inline(never)]
    pub(crate) fn unit(&mut self) {
        let mut value = self.value;
        for _ in 0..self.steps {
            // Hidden, so that the compiler does not leap.
            value = opaque(value.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT));
        }
        self.value = value;
    }
}

/// The value after this number of steps, computed in one leap per bit of the number.
fn leap(value: u64, mut steps: u64) -> u64 {
    let (mut multiplier, mut increment, mut value) = (MULTIPLIER, INCREMENT, value);
    while steps > 0 {
        if steps & 1 == 1 {
            value = value.wrapping_mul(multiplier).wrapping_add(increment);
        }
        increment = increment.wrapping_mul(multiplier.wrapping_add(1));
        multiplier = multiplier.wrapping_mul(multiplier);
        steps >>= 1;
    }
    value
}

impl Work for Computing {
    fn work(&mut self, times: u64) {
        (0..times).for_each(|_| self.unit());
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        self.expected = leap(self.expected, times * self.steps);
        ensure(self.value == self.expected, || "the computed value is wrong")
    }
}

/// Passes over a working set: each reads every line of it and changes it.
pub(crate) struct Passing {
    words: Vec<u64>,
    passes: u64,
    all: u64,
}

/// Words in a line of 64 bytes.
const LINE: usize = 8;

impl Passing {
    /// A working set of this number of bytes, and the number of passes per unit.
    pub(crate) fn new(bytes: usize, passes: u64) -> Passing {
        Passing { words: vec![1; bytes / size_of::<u64>()], passes, all: 0 }
    }

    #[inline(never)]
    pub(crate) fn unit(&mut self) {
        for _ in 0..self.passes {
            self.words.iter_mut().step_by(LINE).for_each(|word| *word = opaque(*word + 1));
        }
    }
}

impl Work for Passing {
    fn work(&mut self, times: u64) {
        (0..times).for_each(|_| self.unit());
    }

    fn check(&mut self, times: u64) -> Result<(), Failure> {
        self.all += times * self.passes;
        let right = self.words.iter().step_by(LINE).all(|word| *word == 1 + self.all);
        ensure(right, || "a pass left out a line of its working set")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_checked() {
        let mut computing = Computing::new(1000, 7);
        computing.work(3);
        assert!(computing.check(3).is_ok() && computing.check(1).is_err());
        let mut passing = Passing::new(4096, 2);
        passing.work(5);
        assert!(passing.check(5).is_ok());
        passing.words[8 * LINE] += 1;
        assert!(passing.check(0).is_err());
    }

    #[test]
    fn a_leap_ends_where_steps_do() {
        let walked = (0..1237).fold(5_u64, |value, _| value.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT));
        assert_eq!(leap(5, 1237), walked);
    }
}
