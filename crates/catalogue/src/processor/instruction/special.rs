//! Atomics, fences, clocks and jumps: instructions that are not part of a chain, and prove in another way that they ran.

use std::sync::atomic::{AtomicU64, Ordering};

use operation::{Axis, Failure, Loop, Operation, Setting, count, numbers, word, words};

use super::access::AccessBlock;
use super::feature::require;
use super::lanes::{self, Counted, DIVISOR, LANES, OPERAND, Turns};
use super::{CALLS, PURE, text};
use crate::kit::{Apart, Handshake, OTHER, Shared, ensure, handles};

pub(crate) const OPERATIONS: &[Operation] = &[
    PURE.named("instruction.call.indirect", "call a procedure that a register points to and return from it")
        .per("call and return")
        .prepare(|_| {
            let looped = lanes::checked(text::CALL_INDIRECT, [0; LANES], [0; 2], |times, before, after| {
                same("calls", after[0].wrapping_sub(before[0]), times * CALLS)
            });
            Ok(looped.unrolled(CALLS))
        }),
    PURE.named("instruction.branch.taken", "compare and branch, always")
        .per("branch")
        .prepare(|_| counted(&text::TAKEN, |_, _| true)),
    PURE.named("instruction.branch.not.taken", "compare and do not branch")
        .per("branch")
        .prepare(|_| counted(&text::NOT_TAKEN, |_, _| true)),
    PURE.id("instruction.branch.indirect")
        .summary("jump to one of this many places in random order, with the load and the sum that choose it, the jump back and the loop")
        .per("jump")
        .axes(&[TARGETS])
        .prepare(jumps),
    PURE.named("instruction.atomic.add", "add to memory atomically, without contention")
        .prepare(|_| adds(text::ATOMICS_NEED, text::ATOMIC_ADD)),
    PURE.named("instruction.atomic.exchange", "exchange a register and memory atomically, without contention")
        .prepare(|_| exchanges(text::ATOMICS_NEED, text::ATOMIC_EXCHANGE)),
    PURE.named(
        "instruction.atomic.compare",
        "replace a value in memory atomically if it is the expected one (compare and exchange), without contention",
    )
    .prepare(|_| compares(text::ATOMICS_NEED, text::ATOMIC_COMPARE)),
    PURE.id("instruction.atomic.add.contended")
        .summary("add to memory atomically while a partner on another CPU does the same")
        .axes(&[OTHER])
        .follows_clock(|_| false)
        .prepare(|setting| contended(setting, text::ATOMICS_NEED, text::ATOMIC_ADD)),
    PURE.named("instruction.fence", text::FENCE_SUMMARY)
        .axes(&[text::FENCE_KINDS])
        .prepare(|setting| counted(named(setting.word("kind")?, text::FENCES)?, |_, _| true)),
    PURE.named("instruction.clock.read", text::CLOCK_SUMMARY)
        .axes(&[word("order", words!["plain", "ordered"])])
        .prepare(|setting| counted(named(setting.word("order")?, text::CLOCKS)?, |before, after| after != before)),
    PURE.named("instruction.identify", text::IDENTIFY_SUMMARY)
        .prepare(|_| counted(&text::IDENTIFY, |_, read| read != 0)),
    PURE.named("instruction.pause", "pause, as loops do that wait for another CPU")
        .prepare(|_| counted(&text::PAUSE, |_, _| true)),
    PURE.named("instruction.encoding", "do nothing, by an instruction of this many bytes")
        .axes(&[text::LENGTH])
        .prepare(|setting| counted(named(&setting.number("length")?.to_string(), text::LENGTHS)?, |_, _| true)),
];

const TARGETS: Axis = count("targets", numbers![1, 2, 4, 32]);

/// The error for a wrong count.
pub(super) fn same(what: &str, count: u64, wanted: u64) -> Result<(), Failure> {
    ensure(count == wanted, || format!("{what}: {count} instead of {wanted}"))
}

fn named(name: &str, all: &'static [Counted]) -> Result<&'static Counted, Failure> {
    let found = all.iter().find(|counted| counted.0 == name);
    found.ok_or_else(|| Failure::wrong(format!("there is no instruction for {name}")))
}

/// The loop of turns that count themselves in the first lane, and count in the second what must not happen. The value they
/// read is in the third lane; `right` receives its value before and after a batch.
fn counted((_, needs, each, turns): &'static Counted, right: fn(u64, u64) -> bool) -> Result<Loop, Failure> {
    require(needs)?;
    let looped = lanes::checked(*turns, [0; LANES], [0; 2], move |times, before, after| {
        same("turns", after[0].wrapping_sub(before[0]), times)?;
        same("what must not happen", after[1].wrapping_sub(before[1]), 0)?;
        ensure(right(before[2], after[2]), || format!("{:#x} was read, and {:#x} before", after[2], before[2]))
    });
    Ok(looped.unrolled(*each))
}

/// Jumps of a sequence, in random order. It is repeated, and too long for a predictor to learn.
const SEQUENCE: usize = 1 << 16;

fn jumps(setting: &Setting) -> Result<Loop, Failure> {
    let targets = setting.number("targets")?;
    let mut random = fastrand::Rng::with_seed(setting.seed());
    let sequence: Vec<u8> = (0..SEQUENCE).map(|_| random.u64(0..targets) as u8).collect();
    let operands = [sequence.as_ptr().expose_provenance() as u64, SEQUENCE as u64 - 1];
    let whole: u64 = sequence.iter().map(|&place| u64::from(place) + 1).sum();
    let looped = lanes::checked(text::JUMP_INDIRECT, [0; LANES], operands, move |times, before, after| {
        same("place in the sequence", after[1], (before[1] + times) % SEQUENCE as u64)?;
        let rest = (times % SEQUENCE as u64) as usize;
        let part = sequence.iter().cycle().skip(before[1] as usize).take(rest).map(|&place| u64::from(place) + 1);
        let wanted = times / SEQUENCE as u64 * whole + part.sum::<u64>();
        same("sum of the places jumped to", after[0].wrapping_sub(before[0]), wanted)
    });
    Ok(looped)
}

/// The loop of atomic adds of the divisor.
pub(super) fn adds(needs: &str, turns: Turns) -> Result<Loop, Failure> {
    atomic(needs, turns, 0, |times, before, after| {
        after.1 == before.1.wrapping_add((times * text::ATOMICS).wrapping_mul(DIVISOR))
    })
}

/// The loop of atomic exchanges. An odd number leaves the values exchanged.
pub(super) fn exchanges(needs: &str, turns: Turns) -> Result<Loop, Failure> {
    atomic(needs, turns, !OPERAND, |times, before, after| {
        let (one, other) = if times % 2 == 1 { (before.1, before.0) } else { before };
        after == (one, other)
    })
}

/// The loop of atomic replacements (compare and exchange) of a value by the next one.
pub(super) fn compares(needs: &str, turns: Turns) -> Result<Loop, Failure> {
    atomic(needs, turns, OPERAND, |times, before, after| {
        let wanted = before.0.wrapping_add(times * text::ATOMICS);
        after == (wanted, wanted)
    })
}

/// The loop of an atomic on a word that begins as `word`. `right` receives the turns and (lane, word) before and after.
fn atomic(
    needs: &str,
    turns: Turns,
    word: u64,
    right: fn(u64, (u64, u64), (u64, u64)) -> bool,
) -> Result<Loop, Failure> {
    require(needs)?;
    let block = AccessBlock::new();
    block.set(0, word);
    let mut held = word;
    let operands = [block.address(0), DIVISOR];
    let looped = lanes::checked(turns, [OPERAND; LANES], operands, move |times, before, after| {
        let reached = (after[0], block.word(0));
        let done = right(times, (before[0], held), reached);
        held = reached.1;
        ensure(done, || "memory does not hold the value that the atomic must leave")
    });
    Ok(looped.unrolled(text::ATOMICS))
}

/// What both sides of a contended word share.
#[derive(Default)]
struct Contended {
    word: Apart<AtomicU64>,
    /// During it, the partner adds.
    batch: Apart<Handshake>,
    done: AtomicU64,
}

impl Contended {
    /// Adds like the other side, one turn at a time, while it should.
    fn play(&self, turns: Turns, address: u64) -> Result<(), Failure> {
        let mut lanes = [0; LANES];
        loop {
            self.batch.0.take_part();
            // SAFETY: the address is that of the word that both sides add to, and there is at least one turn.
            unsafe { turns(1, &mut lanes, [address, DIVISOR]) };
            self.done.fetch_add(1, Ordering::Release);
        }
    }
}

/// The loop of atomic adds while a partner on another CPU adds to the same word. The sum must contain the adds of both
/// sides.
pub(super) fn contended(setting: &Setting, needs: &str, turns: Turns) -> Result<Loop, Failure> {
    require(needs)?;
    let [board, after] = handles(Shared::new(Contended::default())?);
    let address = board.word.0.as_ptr().expose_provenance() as u64;
    let partner = setting.partner(setting.partner_cpu()?, || board.play(turns, address))?;
    let mut ours = 0_u64;
    let looped = lanes::checked(turns, [0; LANES], [address, DIVISOR], move |times, _, _| {
        let _alive = &partner;
        after.batch.0.end()?;
        ours = ours.wrapping_add(times);
        let done = ours.wrapping_add(after.done.load(Ordering::Acquire));
        let wanted = done.wrapping_mul(text::ATOMICS).wrapping_mul(DIVISOR);
        same("the sum of both sides", after.word.0.load(Ordering::Acquire), wanted)
    });
    Ok(looped.before(move |_| board.batch.0.begin()).unrolled(text::ATOMICS))
}
