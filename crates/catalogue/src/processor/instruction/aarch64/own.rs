//! Operations that only aarch64 has: its own integer instructions, pairs on the stack, ordered accesses, atomics made of
//! two accesses, and clearing memory by cache blocks.

use std::arch::asm;

use operation::{Axis, Failure, Loop, Operation, Setting, Value, numbers, repeat, size, term};

use super::access::{self, AccessBlock};
use super::float::{PRECISION, STEPS, of, stepped};
use super::lanes::{self, InstructionText, LANES, OPERAND, Turns, Widths};
use super::text::turns::{beside, chain, turns, wide};
use super::vectors::{self, Lanes};
use super::{CHAIN, PURE, instructions, special, text};
use crate::kit::{BASE, OTHER, ensure};

const ADDRESS: Widths = wide!("add \\value, \\value, \\operand, lsl #3");
const SHIFTED: Widths = wide!("add \\value, \\value, \\operand, lsl #12");
const MULTIPLY_ADD: Widths = wide!("madd \\value, \\operand, \\other, \\value");
const MULTIPLY_HIGH: Widths = wide!("umulh \\value, \\value, \\operand; orr \\value, \\value, \\operand");
/// A swap and its reverse, because two swaps of the same register cancel.
const REVERSE: Widths = wide!("rbit x16, \\value", "rbit \\value, x16");
/// Incremented by one, because the flags say that two values are equal.
const SELECT: Widths = Widths {
    narrow: None,
    wide: InstructionText {
        latency: turns!(CHAIN, "x8", "x1", "x2", ["cmp x1, x1"], [""], "csinc \\value, \\value, \\value, ne"),
        throughput: turns!(
            CHAIN / LANES as u64,
            "x8,x9,x10,x11,x12,x13,x14,x15",
            "x1",
            "x2",
            ["cmp x1, x1"],
            [""],
            "csinc \\value, \\value, \\value, ne"
        ),
    },
    needs: "",
};

pub(crate) const INTEGERS: &[Operation] = instructions! {
    "instruction.address", "add a register times eight to a register, as an array's addresses are formed",
        &[],
        |_| &ADDRESS, |case| added(case, case.operands[0] << 3);
    "instruction.add.shifted", "add a register shifted by more than an address ever is (12) to a register",
        &[],
        |_| &SHIFTED, |case| added(case, case.operands[0] << 12);
    "instruction.multiply.add", "multiply two registers and add the product to a register (madd)",
        &[],
        |_| &MULTIPLY_ADD, |case| added(case, case.operands[0].wrapping_mul(case.operands[1]));
    "instruction.bits.reverse", "turn a register's bits round (rbit), there and back in turn",
        &[],
        |_| &REVERSE, |case| case.start;
    "instruction.select", "choose by the flags between a register and its successor (csinc)",
        &[],
        |_| &SELECT, |case| added(case, 1);
};

/// What is added this number of times.
fn added(case: &lanes::Case, summand: u64) -> u64 {
    case.start.wrapping_add(summand.wrapping_mul(case.count))
}

/// The upper half of the product with the operand, this number of times. Each time the operand's bits are set.
fn upper(case: &lanes::Case) -> u64 {
    let factor = case.operands[0];
    case.repeated(|value| ((u128::from(value) * u128::from(factor)) >> 64) as u64 | factor)
}

/// The other operations that only aarch64 has.
pub(crate) const OPERATIONS: &[Operation] = &[
    PURE.id("instruction.multiply.high.latency")
        .summary("multiply two registers to the upper half of the product (umulh), each waiting for the one before")
        // Its bits are set again after each instruction, or the value would vanish, by an `or` for which the chain waits as
        // for an add.
        .terms(&[term(1.0, "instruction.add.latency").at(&[("width", Value::Number(64))])])
        .prepare(|setting| lanes::latency(setting, |_| &MULTIPLY_HIGH, upper)),
    PURE.id("instruction.multiply.high.throughput")
        .summary("multiply two registers to the upper half of the product (umulh), none waiting for another")
        .prepare(|setting| lanes::throughput(setting, |_| &MULTIPLY_HIGH, upper)),
    PURE.named(
        "instruction.float.accumulate.latency",
        "multiply two floating-point numbers and add a third in one instruction, where the third is the sum of \
            the one before",
    )
    .axes(&[PRECISION, text::FLOAT_CHAINS])
    .prepare(|setting| {
        let float = const { &of(text::FLOAT_ACCUMULATE, STEPS, stepped, stepped) };
        vectors::float(setting, float, Lanes::One)
    }),
    PURE.id("instruction.push.pair")
        .summary("push two registers on the stack and pop them (stp, ldp), each four waiting for those before")
        .per("pushes and pops of two")
        .prepare(|_| pairs()),
    PURE.id("instruction.load.acquire.latency")
        .summary("load the address of the next load, before all accesses that follow (ldar)")
        .prepare(|_| access::ring(text::LOAD_ACQUIRE, "base")),
    PURE.id("instruction.load.acquire.throughput")
        .summary("load eight bytes before all accesses that follow (ldar), none waiting for another's value")
        .prepare(|_| access::loads(text::LOADS_ACQUIRE, 8, 0, 0)),
    PURE.named("instruction.store.release.throughput", "store eight bytes after all accesses before (stlr)")
        .prepare(|_| access::stores(text::STORE_RELEASE, 8, 0)),
    PURE.named(
        "instruction.exclusive.add",
        "add to memory atomically by a load and a store that are retried if another CPU intervened (ldaxr, stlxr)",
    )
    .per("load and store")
    .prepare(|_| special::adds("", text::EXCLUSIVE_ADD)),
    PURE.id("instruction.exclusive.exchange")
        .summary("exchange a register and memory atomically by a load and a store (ldaxr, stlxr)")
        .per("load and store")
        .prepare(|_| special::exchanges("", text::EXCLUSIVE_EXCHANGE)),
    PURE.id("instruction.exclusive.compare")
        .summary("compare and exchange a value in memory by a load and a store (ldaxr, stlxr)")
        .per("load and store")
        .prepare(|_| special::compares("", text::EXCLUSIVE_COMPARE)),
    PURE.named(
        "instruction.exclusive.add.contended",
        "add to memory atomically by a load and a store (ldaxr, stlxr) while a partner on another CPU does the same",
    )
    .per("load and store")
    .axes(&[OTHER])
    .follows_clock(|_| false)
    .prepare(|setting| special::contended(setting, "", text::EXCLUSIVE_ADD)),
    BASE.named("instruction.zero", "clear this many bytes, one cache block per instruction (dc zva)")
        .axes(&[CLEARED])
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(zeros),
];

const CLEARED: Axis = size(numbers![64, 512, 4096]);

/// The loop of pushed and popped pairs. An odd number of exchanges leaves them exchanged.
fn pairs() -> Result<Loop, Failure> {
    let starts = std::array::from_fn(|lane| OPERAND.rotate_left(lane as u32));
    let looped = lanes::checked(text::PUSH_PAIR, starts, [0; 2], |times, before, after| {
        let (one, other) = if times % 2 == 1 { (before[1], before[0]) } else { (before[0], before[1]) };
        ensure((after[0], after[1]) == (one, other), || "the popped values are not those that were pushed")
    });
    Ok(looped.unrolled(text::PAIRS))
}

/// The loop that clears the beginning of a block.
fn zeros(setting: &Setting) -> Result<Loop, Failure> {
    let (size, unit) = (setting.size()? as u64, cleared_at_a_time()?);
    if size % unit != 0 {
        return Err(Failure::skip(format!("the processor clears {unit} bytes at a time"), ""));
    }
    let block = AccessBlock::new();
    let words = size as usize / 8;
    (0..words).for_each(|index| block.set(index, OPERAND));
    let cleared = block.clone();
    let clears = repeat(move || {
        let start = block.address(0);
        // SAFETY: the text writes only the block, which is longer than any size cleared, and jumps only within itself.
        unsafe {
            asm!("22: dc zva, {at}", "add {at}, {at}, {unit}", "cmp {at}, {end}", "b.lo 22b", at = inout(reg) start => _,
                unit = in(reg) unit, end = in(reg) start + size, options(nostack));
        }
        Ok(())
    });
    Ok(clears.verify(move |_| {
        let left = (0..words).filter(|&index| cleared.word(index) != 0).count() as u64;
        (0..words).for_each(|index| cleared.set(index, OPERAND));
        special::same("words not cleared", left, 0)
    }))
}

/// Bytes that one instruction clears; a skip if it is forbidden.
fn cleared_at_a_time() -> Result<u64, Failure> {
    /// The bit that forbids it.
    const PROHIBITED: u64 = 1 << 4;
    let register: u64;
    // SAFETY: every program may read the register.
    unsafe { asm!("mrs {register}, dczid_el0", register = out(reg) register, options(nomem, nostack)) };
    if register & PROHIBITED != 0 {
        return Err(Failure::skip("the kernel forbids dc zva", ""));
    }
    // The register holds the logarithm of the number of 4-byte words.
    Ok(4 << (register & 15))
}
