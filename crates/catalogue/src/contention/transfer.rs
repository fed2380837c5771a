//! Work of a CPU while a device transfers data: the transfers take turns at the memory, and their interrupts take the CPU that
//! they are delivered to.

use std::sync::Arc;

use operation::{Axis, Failure, Loop, Need, Operation, Setting, word, words};
use record::Estimate;
use rustix::fd::OwnedFd;

use crate::file::direct::filled;
use crate::kit::library::pread;
use crate::kit::{BASE, Block, Part, Seat, Seats, Work, beside, ensure};
use crate::memory::bandwidth::Reading;

/// What the timed task does: steps of a computation in registers, or passes over 64 MiB, which most caches do not hold.
const WORK: Axis = word("work", words!["compute", "memory"]);

/// What a partner on another CPU does meanwhile: it sleeps, or reads a file past the page cache, and sleeps while it waits for
/// the device.
const TRANSFER: Axis = word("transfer", words!["none", "reading"]);

/// Steps of the computation: some microseconds.
const STEPS: u64 = 4096;
/// The memory that is passed over.
const SET: u64 = 64 << 20;
/// Bytes of one transfer, and of the file.
const PIECE: usize = 128 << 10;
const FILE: u64 = 8 << 20;

pub(crate) const OPERATIONS: &[Operation] = &[BASE
    .named(
        "contention.transfer",
        "4096 dependent steps of a computation, or the sum of 64 KiB of memory, while another CPU reads a file \
            past the page cache",
    )
    .version(2)
    .per("piece of work")
    .axes(&[WORK, TRANSFER])
    .quoted(Estimate::Typical)
    .needs(&[Need::TwoCpus])
    .prepare(|setting| match setting.word("work")? {
        "memory" => worked(setting, |seat| Reading::new(SET, seat.seed)),
        _ => worked(setting, |seat| Ok(Stepping { state: seat.seed | 1, before: 0 })),
    })];

/// The work, beside a partner that reads or beside none.
fn worked<W: Work>(setting: &Setting, own: fn(Seat) -> Result<W, Failure>) -> Result<Loop, Failure> {
    let reads = setting.word("transfer")? == "reading";
    let file = Arc::new(filled(setting, PIECE, FILE / PIECE as u64)?);
    let seats = Seats::apart(setting, 1 + u64::from(reads))?;
    let load = move |_| Ok(Transfers { file: Arc::clone(&file), block: Block::new(PIECE), next: 0, wrong: false });
    beside(setting, (&seats, Part::Throughout), own, load)
}

/// A chain of steps, each of which needs the result of the one before (Marsaglia, Xorshift RNGs, 2003).
struct Stepping {
    state: u64,
    before: u64,
}

impl Work for Stepping {
    fn ready(&mut self, _: u64) -> Result<(), Failure> {
        self.before = self.state;
        Ok(())
    }

    fn work(&mut self, times: u64) {
        for _ in 0..times * STEPS {
            self.state ^= self.state << 13;
            self.state ^= self.state >> 7;
            self.state ^= self.state << 17;
        }
    }

    fn check(&mut self, _: u64) -> Result<(), Failure> {
        // Its period is 2^64 - 1, so no batch ends where it began.
        let went = self.state != self.before && self.state != 0;
        ensure(went, || "the computation did not go on")
    }
}

/// A partner's reads, each of the next blocks of the file.
struct Transfers {
    file: Arc<OwnedFd>,
    block: Block,
    next: u64,
    wrong: bool,
}

impl Work for Transfers {
    fn work(&mut self, times: u64) {
        for _ in 0..times {
            let read = pread(&self.file, self.block.bytes(), self.next * PIECE as u64);
            // Each block begins with its number.
            let reported = self.block.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes));
            self.wrong |= read != Ok(PIECE) || reported != Some(self.next);
            self.next = (self.next + 1) % (FILE / PIECE as u64);
        }
    }

    fn check(&mut self, _: u64) -> Result<(), Failure> {
        if self.wrong { Err(Failure::wrong("another block was read")) } else { Ok(()) }
    }
}
