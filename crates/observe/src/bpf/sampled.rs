//! What is noted of a sampled call for its stack, byte by byte, and where.

use super::reader::number;
use super::sys::{Map, MapKind};
use crate::stacks::{CallSample, REGISTERS};

/// Samples that wait for the reader.
const WAITING: usize = 1024;
/// `struct pt_regs`, as far as it is read: whole words.
pub(super) const SAVED: i32 = if cfg!(target_arch = "x86_64") { 21 * 8 } else { REGISTERS as i32 * 8 };
/// Bytes of the stack. The first that can be read are: a stack may end after fewer.
pub(super) const TOPS: [i32; 3] = [8192, 2048, 512];

/// A sample: the process and thread, the call, how many calls it stands for, their time, how much of the stack was read; then
/// registers and stack.
pub(super) const IDENTITY: i16 = 0;
pub(super) const CALL: i16 = 8;
pub(super) const WEIGHT: i16 = 16;
pub(super) const TIME: i16 = 24;
pub(super) const SIZE: i16 = 32;
pub(super) const AT: i16 = 40;
pub(super) const STACK: i16 = AT + SAVED as i16;
const BYTES: usize = STACK as usize + TOPS[0] as usize;

/// Where samples are put together, one place for each CPU, and where they wait.
#[derive(Debug)]
pub(super) struct StackMaps {
    pub place: Map,
    pub waiting: Map,
}

impl StackMaps {
    pub(super) fn new(cpus: usize) -> std::io::Result<StackMaps> {
        let place = Map::new(MapKind::Array, 4, BYTES, cpus)?;
        Ok(StackMaps { place, waiting: Map::new(MapKind::Queue, 0, BYTES, WAITING)? })
    }

    /// The samples that wait.
    pub(super) fn take(&self) -> impl Iterator<Item = CallSample> {
        std::iter::from_fn(|| self.waiting.take()).map(|bytes| read(&bytes))
    }
}

fn read(bytes: &[u8]) -> CallSample {
    let size = number(bytes, SIZE) as u32 as usize;
    let part = |begin: i16, length: usize| bytes.get(begin as usize..begin as usize + length).unwrap_or_default();
    CallSample {
        process: (number(bytes, IDENTITY) >> 32) as u32,
        call: number(bytes, CALL) as u16,
        weight: number(bytes, WEIGHT),
        weighted_ns: number(bytes, TIME),
        registers: CallSample::saved(part(AT, SAVED as usize)),
        stack: part(STACK, size.min(TOPS[0] as usize)).to_vec(),
    }
}
