//! The readers' own work, without a file: what each of them contains in addition to its method.

use operation::{Operation, repeat};
use record::Estimate;

use super::sum::sum;
use super::{FILE, READ, RECORD};
use crate::kit::{Block, ensure};

pub(crate) const OPERATIONS: &[Operation] = &[READ
    .named("read.sum", "add up one record repeatedly, up to the number of bytes of the file; nothing is read")
    .axes(&[RECORD, FILE])
    .has_point(|_| true)
    .quoted(Estimate::Quiet)
    .prepare(|setting| {
        let mut block = Block::new(setting.number("record")? as usize);
        let records = setting.number("file")?.div_ceil(setting.number("record")?.max(1));
        let expected = sum(block.bytes()).wrapping_mul(records);
        Ok(repeat(move || {
            let total =
                (0..records).fold(0_u64, |total, _| total.wrapping_add(sum(std::hint::black_box(&*block.bytes()))));
            ensure(total == expected, || "the sum is not that of the records")
        }))
    })];
