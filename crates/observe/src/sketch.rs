//! How many different things there were, within some per cent, in a kilobyte: HyperLogLog (P. Flajolet and others, Analysis of
//! Algorithms 2007), and linear counting for few (K.-Y. Whang and others, ACM TODS 15:208, 1990).

/// Bytes of a sketch. The standard error is 1.04 over their square root: 3 %.
pub(crate) const REGISTERS: usize = 1 << REGISTER_BITS;
/// The high bits of a hash, which choose the register.
pub(crate) const REGISTER_BITS: i32 = 10;

/// The registers: of the hashes of each, the largest place of the first set bit below. Empty if all are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch(Vec<u8>);

impl Sketch {
    /// From its registers.
    pub(crate) fn of(registers: &[u8]) -> Sketch {
        let used = registers.iter().any(|register| *register > 0);
        Sketch(if used { registers.to_vec() } else { Vec::new() })
    }

    /// Notes one thing by its hash: the register chosen by the high bits gets the place of the first set bit of the others.
    pub(crate) fn insert(&mut self, hash: u64) {
        if self.0.is_empty() {
            self.0 = vec![0; REGISTERS];
        }
        let place = (hash >> (64 - REGISTER_BITS)) as usize;
        // The program in the kernel shifts by 31 bits at most.
        let rank = (hash << REGISTER_BITS).leading_zeros().min(31) as u8 + 1;
        self.0[place] = self.0[place].max(rank);
    }

    /// Adds what another has seen.
    pub(crate) fn add(&mut self, other: &Sketch) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
        }
        for (register, other) in self.0.iter_mut().zip(&other.0) {
            *register = (*register).max(*other);
        }
    }

    /// Leaves only what raised a register since an earlier state.
    pub(crate) fn subtract(&mut self, earlier: &Sketch) {
        for (register, earlier) in self.0.iter_mut().zip(&earlier.0) {
            if register == earlier {
                *register = 0;
            }
        }
        if self.0.iter().all(|register| *register == 0) {
            self.0.clear();
        }
    }

    /// How many different ones there were; `None` if nothing was seen.
    pub(crate) fn distinct(&self) -> Option<u64> {
        if self.0.is_empty() {
            return None;
        }
        let many = self.0.len() as f64;
        let unused = self.0.iter().filter(|register| **register == 0).count() as f64;
        let sum: f64 = self.0.iter().map(|register| 0.5_f64.powi(i32::from(*register))).sum();
        let estimate = 0.7213 / (1.0 + 1.079 / many) * many * many / sum;
        let few = unused > 0.0 && estimate <= 2.5 * many;
        Some(if few { many * (many / unused).ln() } else { estimate }.round() as u64)
    }
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
        let mut none = Sketch::default();
        none.add(&both);
        assert_eq!(none, both);
    }
}
