//! The order in which a pass visits the records of a file. Its memory does not grow with the file.

use operation::{Failure, Setting};

/// The distance in records between two consecutive visits of a strided pass: beyond any readahead of this kernel.
const STRIDE: u64 = 64;

/// What a pass visits, each record once.
#[derive(Clone, Copy, Debug)]
pub struct VisitPlan {
    /// Bytes of the file.
    pub length: u64,
    /// Bytes of a record. The last record may be shorter.
    pub record: u64,
    order: Order,
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Sequential,
    Reverse,
    Strided,
    Random { seed: u64 },
}

impl VisitPlan {
    /// As the point says, over a file of `length` bytes; without the axis `order`, from beginning to end. Fails for a
    /// record whose length is zero or not a multiple of a word, because words are summed.
    pub fn of(setting: &Setting, length: u64) -> Result<VisitPlan, Failure> {
        let order = match setting.point().word("order").unwrap_or("sequential") {
            "sequential" => Order::Sequential,
            "reverse" => Order::Reverse,
            "strided" => Order::Strided,
            "random" => Order::Random { seed: setting.seed() },
            other => return Err(Failure::wrong(format!("there is no order '{other}'"))),
        };
        VisitPlan::new(length, setting.number("record")?, order)
    }

    /// Records of this size in random order. Fails as [`VisitPlan::of`] does.
    pub fn random(length: u64, record: u64, seed: u64) -> Result<VisitPlan, Failure> {
        VisitPlan::new(length, record, Order::Random { seed })
    }

    fn new(length: u64, record: u64, order: Order) -> Result<VisitPlan, Failure> {
        if record == 0 || !record.is_multiple_of(8) {
            return Err(Failure::skip(format!("records of {record} bytes cannot be summed"), "a multiple of 8 bytes"));
        }
        Ok(VisitPlan { length, record, order })
    }

    pub fn is_sequential(&self) -> bool {
        matches!(self.order, Order::Sequential)
    }

    pub fn records(&self) -> u64 {
        self.length.div_ceil(self.record)
    }

    /// The bytes of the record at this offset.
    #[inline]
    pub fn length_at(&self, offset: u64) -> usize {
        self.record.min(self.length - offset) as usize
    }

    /// The offset of each record, in the order of the visits.
    pub fn offsets(&self) -> Offsets {
        let records = self.records();
        Offsets { plan: *self, records, visited: 0, place: 0, mask: records.next_power_of_two() - 1 }
    }
}

/// The offsets of one pass.
pub struct Offsets {
    plan: VisitPlan,
    records: u64,
    visited: u64,
    /// The state of the order's own arithmetic.
    place: u64,
    mask: u64,
}

impl Iterator for Offsets {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.visited == self.records {
            return None;
        }
        let record = match self.plan.order {
            Order::Sequential => self.visited,
            Order::Reverse => self.records - 1 - self.visited,
            Order::Strided => self.stride(),
            Order::Random { seed } => self.shuffled(seed),
        };
        self.visited += 1;
        Some(record * self.plan.record)
    }
}

impl Offsets {
    /// Every 64th record, then every 64th beginning with the second, and so on.
    fn stride(&mut self) -> u64 {
        let record = self.place;
        let next = record + STRIDE;
        self.place = if next < self.records { next } else { record % STRIDE + 1 };
        record
    }

    /// A sequence that visits each number below the next power of two once (a linear congruential generator of full period:
    /// Hull and Dobell, 1962). Its bits are mixed by invertible steps. Numbers beyond the last record are skipped; they are
    /// fewer than the records.
    fn shuffled(&mut self, seed: u64) -> u64 {
        loop {
            self.place = self.place.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(seed | 1) & self.mask;
            let half = self.mask.count_ones().div_ceil(2);
            let mut mixed = self.place ^ (self.place >> half);
            mixed = mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93) & self.mask;
            mixed ^= mixed >> half;
            if mixed < self.records {
                return mixed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn offsets(order: Order, length: u64, record: u64) -> Vec<u64> {
        VisitPlan { length, record, order }.offsets().collect()
    }

    #[test]
    fn every_order_visits_every_record_once() {
        for records in [1, 2, 3, 63, 64, 65, 128, 1000, 2048] {
            for order in [Order::Sequential, Order::Reverse, Order::Strided, Order::Random { seed: 7 }] {
                let visited = offsets(order, records * 80 - 8, 80);
                let all: BTreeSet<u64> = visited.iter().copied().collect();
                assert_eq!(visited.len() as u64, records, "{order:?}");
                assert!(all.iter().copied().eq((0..records).map(|record| record * 80)), "{order:?} of {records}");
            }
        }
    }

    #[test]
    fn orders_are_what_they_are_called() {
        assert_eq!(offsets(Order::Reverse, 24, 8), [16, 8, 0]);
        assert_eq!(offsets(Order::Strided, 66 * 8, 8)[..4], [0, 512, 8, 520]);
        let random = offsets(Order::Random { seed: 1 }, 4096 * 8, 8);
        let near = random.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 16 * 8).count();
        assert!(near < 100, "{near} of 4095 visits follow a neighbour");
        assert_ne!(random, offsets(Order::Random { seed: 2 }, 4096 * 8, 8));
    }

    #[test]
    fn the_last_record_may_be_shorter() {
        let plan = VisitPlan { length: 100, record: 80, order: Order::Sequential };
        assert_eq!((plan.records(), plan.length_at(0), plan.length_at(80)), (2, 80, 20));
        assert_eq!(
            VisitPlan { length: 64 << 30, record: 8, order: Order::Reverse }.offsets().next(),
            Some((64 << 30) - 8)
        );
    }
}
