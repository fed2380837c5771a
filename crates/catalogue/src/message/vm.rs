//! Another process's memory, read and written without its participation (`process_vm_readv`, `process_vm_writev`).

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{iovec, pid_t};
use operation::{Failure, Operation, Partner, Setting, repeat, term};

use super::{ALIGNED, ENDS, NEAR_OR_FAR, OFFSET, SELF, SIZE, SIZE_OF_TWO, TRIP, not_answered, there_and_back};
use crate::kit::{Block, OURS, Shared, THEIRS, await_turn, ensure, exactly, handles, invoke, pass_turn, tried};

/// The defaults: a transfer between this process and one that sleeps. Where it sleeps makes no difference.
const TRANSFER: Operation = SELF.version(3).per("transfer").axes(&[SIZE]);

pub(crate) const OPERATIONS: &[Operation] = &[
    TRANSFER
        .named("vm.self", "read a message from this process's memory as if it were another's (process_vm_readv)")
        .axes(&[ENDS, OFFSET])
        .prepare(|setting| {
            let own = RemotePlace { process: std::process::id() as pid_t, place: Block::of(PATTERN, setting.size()?) };
            let mut block = Block::behind(setting.number("offset")? as usize, setting.size()?);
            let last = block.len() - 1;
            tried(repeat(move || {
                block[last] = 0;
                own.read(&mut block)?;
                ensure(block[last] == PATTERN, || "the wrong bytes were read")
            }))
        }),
    TRANSFER
        .named("vm.read", "read a message from the memory of a partner process that sleeps (process_vm_readv)")
        .calls(&["process_vm_readv"])
        .axes(&[SIZE, OFFSET])
        .prepare(|setting| {
            let (memory, partner) = sleeper(setting)?;
            let mut block = Block::behind(setting.number("offset")? as usize, setting.size()?);
            let last = block.len() - 1;
            Ok(repeat(move || {
                let _alive = &partner;
                block[last] = 0;
                memory.read(&mut block)?;
                ensure(block[last] == PATTERN, || "the wrong bytes were read")
            }))
        }),
    TRANSFER
        .named("vm.write", "write a message into the memory of a partner process that sleeps (process_vm_writev)")
        .calls(&["process_vm_writev"])
        .prepare(|setting| {
            let (memory, partner) = sleeper(setting)?;
            let [memory, there] = handles(memory);
            let mut block = memory.place.clone();
            let mut found = block.clone();
            let last = block.len() - 1;
            let [written, expected] = handles(Cell::new(0_u8));
            let writes = repeat(move || {
                let _alive = &partner;
                block[last] = block[last].wrapping_add(1);
                written.set(block[last]);
                memory.write(&block)
            });
            Ok(writes.verify(move |_| {
                there.read(&mut found)?;
                let arrived = found[last] == expected.get();
                ensure(arrived, || "the partner's memory is not what was written")
            }))
        }),
    // As libraries for message passing do it: the sender writes into the receiver's memory and wakes the receiver.
    TRIP.named(
        "vm.roundtrip",
        "write a message into the memory of a partner process, wake it by a futex, and read the answer out of it",
    )
    .version(3)
    .axes(&[NEAR_OR_FAR, SIZE_OF_TWO])
    .moves(there_and_back)
    .explained_by(&[
        term(1.0, "vm.write").same(&["size"]),
        term(1.0, "vm.read").same(&["size"]).at(ALIGNED),
        term(1.0, "futex.roundtrip").same(&["distance"]),
    ])
    .prepare(|setting: &Setting| {
        let turn = Shared::new(AtomicU32::new(OURS))?;
        let mut place = Block::new(setting.size()?);
        let last = place.len() - 1;
        let partner = setting.repeating_partner(setting.partner_cpu()?, || {
            await_turn(&turn, THEIRS)?;
            // The other process has changed it without the compiler's knowledge.
            let message = std::hint::black_box(&mut place);
            message[last] = message[last].wrapping_add(1);
            std::hint::black_box(message);
            pass_turn(&turn, OURS).map(drop)
        })?;
        let mut block = place.clone();
        let memory = RemotePlace { process: partner.pid(), place };
        tried(repeat(move || {
            let _alive = &partner;
            let expected = block[last].wrapping_add(1);
            memory.write(&block)?;
            pass_turn(&turn, THEIRS)?;
            await_turn(&turn, OURS)?;
            memory.read(&mut block)?;
            if block[last] == expected { Ok(()) } else { not_answered() }
        }))
    }),
];

/// The content of a partner's memory.
const PATTERN: u8 = 0x5a;

/// A place in a process's memory. In a forked partner it has the same address as here.
struct RemotePlace {
    process: pid_t,
    place: Block,
}

impl RemotePlace {
    fn there(&self) -> [iovec; 1] {
        [iovec { iov_base: self.place.as_ptr().cast_mut().cast(), iov_len: self.place.len() }]
    }

    #[inline(always)]
    fn read(&self, block: &mut [u8]) -> Result<(), Failure> {
        let here = [iovec { iov_base: block.as_mut_ptr().cast(), iov_len: block.len() }];
        // SAFETY: this process's block is valid to write; the kernel checks the other address.
        exactly(block.len(), unsafe { invoke!(process_vm_readv, self.process, &here, 1, &self.there(), 1, 0) }?)
    }

    /// Only for another process, to whose memory no reference of this process points.
    #[inline(always)]
    fn write(&self, block: &[u8]) -> Result<(), Failure> {
        let here = [iovec { iov_base: block.as_ptr().cast_mut().cast(), iov_len: block.len() }];
        // SAFETY: this process's block is only read; the place written is one that the partner keeps for it.
        exactly(block.len(), unsafe { invoke!(process_vm_writev, self.process, &here, 1, &self.there(), 1, 0) }?)
    }
}

/// A partner that has filled its memory with the pattern and sleeps.
fn sleeper(setting: &Setting) -> Result<(RemotePlace, Partner), Failure> {
    let filled = Shared::new(AtomicU32::new(0))?;
    let mut place = Block::new(setting.size()?);
    let partner = setting.partner(setting.cpu(), || {
        std::hint::black_box(&mut place).fill(PATTERN);
        filled.store(THEIRS, Ordering::Release);
        loop {
            pass_turn(&filled, THEIRS)?;
            // SAFETY: sleeps until a signal ends the process.
            unsafe { libc::pause() };
        }
    })?;
    await_turn(&filled, THEIRS)?;
    let memory = RemotePlace { process: partner.pid(), place };
    // Whether it is allowed can only be found by trying.
    memory.read(&mut memory.place.clone())?;
    Ok((memory, partner))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place in another process is known only by its address, which is passed to the calls.
    #[test]
    fn the_partner_s_memory_lies_at_a_page_s_beginning_and_is_read_from_there() {
        for size in [26, 65536] {
            let point = record::Point::default().with("size", record::Value::Number(size));
            let setting = Setting::new(point, std::env::temp_dir(), 0, None, 1);
            let (memory, _partner) = match sleeper(&setting) {
                Err(Failure::Errno { errno: libc::EPERM | libc::ENOSYS }) => {
                    return testing::not_tested!(
                        "another process's memory may not be read here; run outside the sandbox"
                    );
                }
                got => got.expect("a partner"),
            };
            assert!((memory.there()[0].iov_base as usize).is_multiple_of(rustix::param::page_size()));
            let mut block = Block::behind(16, size as usize);
            memory.read(&mut block).expect("read");
            assert!(block.iter().all(|byte| *byte == PATTERN), "what was read is not the partner's");
        }
    }
}
