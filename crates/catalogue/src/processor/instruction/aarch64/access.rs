//! The loads and stores of aarch64. The first operand is the address of memory that the operation owns, so that every
//! access through it is to that memory.

use std::arch::asm;

use operation::{Axis, count, numbers, word, words};

use super::super::CHAIN;
use super::super::lanes::{LANES, Turns, Way};
use super::turns::{beside, chain, narrow_beside, turns};

/// Instructions on v0, filled from the last lane.
macro_rules! vector {
    ($line:literal) => {
        turns!(CHAIN, "x8", "x1", "x2", ["dup v0.2d, x15"], [""], $line)
    };
}

/// A chain that goes through v0.
macro_rules! vector_chain {
    ($line:literal) => {
        turns!(CHAIN, "x8", "x1", "x2", ["fmov d0, x8"], ["fmov x8, d0"], $line)
    };
}

/// How an address is formed. `before` and `after` also change the register that holds it; `pair` loads two registers.
pub(in super::super) const MODE: Axis =
    word("mode", words!["base", "offset", "index", "scaled", "extended", "before", "after", "pair"]);

/// Bytes of an access; 32 is a pair of vector registers.
pub(in super::super) const WIDTH: Axis = count("width", numbers![1, 2, 4, 8, 16, 32]);

/// Loads whose address is the value loaded before, by the form of the address.
pub(in super::super) const LOAD_CHAINS: &[Way] = &[
    ("base", "", chain!("ldr \\value, [\\value]")),
    ("offset", "", chain!("ldr \\value, [\\value, #64]")),
    ("index", "", chain!("ldr \\value, [\\operand, \\value]")),
    ("scaled", "", chain!("ldr \\value, [\\operand, \\value, lsl #3]")),
    ("extended", "", chain!("ldr \\value, [\\operand, w8, uxtw #3]")),
    // The register changed must not be the one loaded.
    ("before", "", chain!("ldr x16, [\\value, #64]!", "ldr \\value, [x16, #64]!")),
    ("after", "", chain!("ldr x16, [\\value], #64", "ldr \\value, [x16], #64")),
    ("pair", "", chain!("ldp \\value, x16, [\\value]")),
];

/// A pointer that is loaded from where the value points, and its target.
pub(in super::super) const LOAD_INDIRECT: Turns = chain!("ldr \\value, [\\value, #64]; ldr \\value, [\\value]");

/// Loads of eight words of a line. The value in the second lane is from the last.
macro_rules! eight {
    ($load:literal, $kind:literal) => {
        turns!(
            CHAIN,
            "x8",
            "x1",
            "x2",
            [""],
            [""],
            concat!($load, $kind, "8, [x1]"),
            concat!($load, $kind, "10, [x1, #8]"),
            concat!($load, $kind, "11, [x1, #16]"),
            concat!($load, $kind, "12, [x1, #24]"),
            concat!($load, $kind, "13, [x1, #32]"),
            concat!($load, $kind, "14, [x1, #40]"),
            concat!($load, $kind, "15, [x1, #48]"),
            concat!($load, $kind, "9, [x1, #56]")
        )
    };
}

/// Loads by their width: the name, the feature needed, the byte from which the second lane's value comes, the turns. The
/// loads of one group are of different words of a line, because several loads of one word may be slow.
pub(in super::super) const LOADS: &[(&str, &str, u64, Turns)] = &[
    ("1", "", 56, eight!("ldrb ", "w")),
    ("2", "", 56, eight!("ldrh ", "w")),
    ("4", "", 56, eight!("ldr ", "w")),
    ("8", "", 56, eight!("ldr ", "x")),
    (
        "16",
        "",
        48,
        turns!(
            CHAIN,
            "x8",
            "x1",
            "x2",
            [""],
            ["fmov x9, d3"],
            "ldr q0, [x1]",
            "ldr q1, [x1, #16]",
            "ldr q2, [x1, #32]",
            "ldr q3, [x1, #48]"
        ),
    ),
    ("32", "", 32, turns!(CHAIN, "x8", "x1", "x2", [""], ["fmov x9, d2"], "ldp q0, q1, [x1]", "ldp q2, q3, [x1, #32]")),
];

/// Loads of eight bytes from one place.
pub(in super::super) const LOAD: Turns = beside!("ldr \\value, [\\operand]");

/// Stores of eight bytes to one place.
pub(in super::super) const STORE: Turns = beside!("str \\value, [\\operand]");

pub(in super::super) const STORES: &[Way] = &[
    ("1", "", narrow_beside!("strb \\value, [x1]")),
    ("2", "", narrow_beside!("strh \\value, [x1]")),
    ("4", "", narrow_beside!("str \\value, [x1]")),
    ("8", "", beside!("str \\value, [\\operand]")),
    ("16", "", vector!("str q0, [\\operand]")),
    ("32", "", vector!("stp q0, q0, [\\operand]")),
];

/// An address that is formed and stored.
pub(in super::super) const STORE_POINTER: Turns = beside!("add \\value, \\operand, #8; str \\value, [\\operand]");

/// A store and a load of the same bytes, by their width.
pub(in super::super) const FORWARDS: &[Way] = &[
    ("1", "", chain!("strb w8, [\\operand]; ldrb w8, [\\operand]")),
    ("8", "", chain!("str \\value, [\\operand]; ldr \\value, [\\operand]")),
    ("16", "", vector_chain!("str q0, [\\operand]; ldr q0, [\\operand]")),
];

/// A load of what two stores wrote, which few store buffers forward.
pub(in super::super) const FORWARD_BLOCKED: Turns =
    chain!("str w8, [\\operand]; str w8, [\\operand, #4]; ldr \\value, [\\operand]");

/// The stack pointer stays a multiple of 16.
pub(in super::super) const PUSH_POP: Turns = chain!("str \\value, [sp, #-16]!; ldr \\value, [sp], #16");

/// Pushes and pops of pairs per turn. The number is odd, because two exchanges cancel.
pub(in super::super) const PAIRS: u64 = 63;

/// Two registers, pushed in one order and popped in the other.
pub(in super::super) const PUSH_PAIR: Turns =
    turns!(PAIRS, "x8", "x1", "x2", [""], [""], "stp \\value, x9, [sp, #-16]!; ldp x9, \\value, [sp], #16");

/// Loads, each of which must come before all later accesses.
pub(in super::super) const LOAD_ACQUIRE: Turns = chain!("ldar \\value, [\\value]");
pub(in super::super) const LOADS_ACQUIRE: Turns = beside!("ldar \\value, [\\operand]");
/// Stores, each of which must come after all earlier accesses.
pub(in super::super) const STORE_RELEASE: Turns = beside!("stlr \\value, [\\operand]");
