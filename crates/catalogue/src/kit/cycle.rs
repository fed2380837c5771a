//! Numbers that a loop uses in a cycle, across batches, and the sum of those used.

use operation::Failure;

use super::check::ensure;

/// Numbers used in a cycle. A batch begins where the one before ended.
pub struct Cycle {
    /// Prefix sums: entry n is the sum of the first n numbers.
    sums: Vec<u64>,
    next: usize,
}

impl Cycle {
    /// The cycle of these numbers, at the first one.
    pub fn new(values: impl IntoIterator<Item = u64>) -> Cycle {
        let mut sums = vec![0_u64];
        sums.extend(values.into_iter().scan(0_u64, |sum, value| {
            *sum = sum.wrapping_add(value);
            Some(*sum)
        }));
        Cycle { sums, next: 0 }
    }

    pub fn length(&self) -> u64 {
        self.sums.len() as u64 - 1
    }

    /// Advances by `times` numbers, which must add up to `sum` modulo 2^64. Fails if they do not.
    pub fn hold(&mut self, times: u64, sum: u64) -> Result<(), Failure> {
        let wanted = self.advance(times);
        ensure(sum == wanted, || format!("the results add up to {sum:#x} instead of {wanted:#x}"))
    }

    fn advance(&mut self, times: u64) -> u64 {
        let length = self.length();
        let end = self.next as u64 + times;
        let (turns, end) = (end / length, (end % length) as usize);
        let sum = self.sums[length as usize]
            .wrapping_mul(turns)
            .wrapping_add(self.sums[end])
            .wrapping_sub(self.sums[self.next]);
        self.next = end;
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_of_any_length_go_round() {
        let values = [5, u64::MAX, 7];
        let mut cycle = Cycle::new(values);
        let mut all = values.iter().cycle();
        for times in [0, 1, 2, 3, 4, 100, 3, 1] {
            let sum = all.by_ref().take(times).fold(0_u64, |sum, value| sum.wrapping_add(*value));
            assert_eq!(cycle.advance(times as u64), sum, "{times}");
        }
    }

    #[test]
    fn another_sum_is_a_failure() {
        assert!(matches!(Cycle::new([5, 6]).hold(2, 12), Err(Failure::Wrong(_))));
    }
}
