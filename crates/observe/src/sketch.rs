//! How many different things there were, within some per cent, in a kilobyte: HyperLogLog (P. Flajolet and others, Analysis of
//! Algorithms 2007), and linear counting for few (K.-Y. Whang and others, ACM TODS 15:208, 1990).

/// Bytes of a sketch. The standard error is 1.04 over their square root: 3 %.
pub(crate) const REGISTERS: usize = 1 << REGISTER_BITS;
/// The high bits of a hash, which choose the register.
pub(crate) const REGISTER_BITS: i32 = 10;

/// The registers: of the hashes of each, the largest place of the first set bit below. Empty if all are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    now: Vec<u8>,
    /// Those of an earlier state, whose things are not counted.
    before: Vec<u8>,
}

impl Sketch {
    /// From its registers.
    pub(crate) fn of(registers: &[u8]) -> Sketch {
        let used = registers.iter().any(|register| *register > 0);
        Sketch { now: if used { registers.to_vec() } else { Vec::new() }, before: Vec::new() }
    }

    /// Notes one thing by its hash: the register chosen by the high bits gets the place of the first set bit of the others.
    pub(crate) fn insert(&mut self, hash: u64) {
        if self.now.is_empty() {
            self.now = vec![0; REGISTERS];
        }
        let place = (hash >> (64 - REGISTER_BITS)) as usize;
        // The program in the kernel shifts by 31 bits at most.
        let rank = (hash << REGISTER_BITS).leading_zeros().min(31) as u8 + 1;
        self.now[place] = self.now[place].max(rank);
    }

    /// Adds what another has seen.
    pub(crate) fn add(&mut self, other: &Sketch) {
        for (registers, others) in [(&mut self.now, &other.now), (&mut self.before, &other.before)] {
            if registers.is_empty() {
                registers.clone_from(others);
            }
            registers.iter_mut().zip(others).for_each(|(register, other)| *register = (*register).max(*other));
        }
    }

    /// Leaves only what was first seen since an earlier state.
    pub(crate) fn subtract(&mut self, earlier: &Sketch) {
        if self.now == earlier.now {
            *self = Sketch::default();
        } else {
            self.before.clone_from(&earlier.now);
        }
    }

    /// How many different ones there were; `None` if nothing was seen. After a subtraction, the error is that of all ever seen.
    pub(crate) fn distinct(&self) -> Option<u64> {
        let seen = (estimate(&self.now) - estimate(&self.before)).max(0.0);
        (!self.now.is_empty()).then_some(seen.round() as u64)
    }
}

/// How many different ones these registers have seen.
fn estimate(registers: &[u8]) -> f64 {
    if registers.is_empty() {
        return 0.0;
    }
    let many = registers.len() as f64;
    let unused = registers.iter().filter(|register| **register == 0).count() as f64;
    let sum: f64 = registers.iter().map(|register| 0.5_f64.powi(i32::from(*register))).sum();
    let estimate = 0.7213 / (1.0 + 1.079 / many) * many * many / sum;
    let few = unused > 0.0 && estimate <= 2.5 * many;
    if few { many * (many / unused).ln() } else { estimate }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sketch of these numbers, by the hash and the places that the program in the kernel uses.
    fn sketch(numbers: std::ops::Range<u64>) -> Sketch {
        let mut sketch = Sketch::default();
        for number in numbers {
            let mut hash = (number ^ number >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^= hash >> 32;
            hash = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            hash ^= hash >> 29;
            sketch.insert(hash);
        }
        sketch
    }

    #[test]
    fn few_and_many_are_counted_within_some_per_cent() {
        for many in [1, 23, 500, 1024, 6000, 153_000] {
            let found = sketch(1..many + 1).distinct().expect("some");
            assert!(found.abs_diff(many) as f64 <= 1.0 + many as f64 * 0.1, "{many}: {found}");
        }
        assert_eq!(sketch(0..0).distinct(), None);
    }

    #[test]
    fn the_same_things_are_counted_once() {
        let mut both = sketch(0..400);
        both.add(&sketch(200..600));
        assert_eq!(both, sketch(0..600));
        let mut later = both.clone();
        later.subtract(&both);
        assert_eq!(later, Sketch::default());
        for (known, new) in [(20_000, 20_000), (100_000, 20_000)] {
            let mut later = sketch(0..known + new);
            later.subtract(&sketch(0..known));
            later.add(&sketch(0..10));
            let error = later.distinct().expect("some").abs_diff(new);
            assert!(error as f64 <= 0.05 * (known + new) as f64, "{known} and {new}: {error} more or less");
        }
        let mut none = Sketch::default();
        none.add(&both);
        assert_eq!(none, both);
    }
}
