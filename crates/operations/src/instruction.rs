//! Single instructions: what a dependent one waits for (latency), how often a processor finishes independent ones
//! (throughput, as time per instruction), and what calls and branches cost. Each architecture's text is in a folder of
//! its own; what the text means, and how that is checked, is here and in the files of the classes.

#[cfg(target_arch = "aarch64")]
#[path = "instruction/aarch64/text.rs"]
mod text;
#[cfg(target_arch = "x86_64")]
#[path = "instruction/x86_64/text.rs"]
mod text;

mod access;
mod branch;
mod float;
mod integer;
mod lanes;
mod special;
mod vectors;

use operation::{Operation, TermOf, Value, count, term};

use crate::DEFAULT;

/// Instructions per turn of a loop. Enough that a processor that runs the loop's own two instructions after them, not
/// beside them, adds less than half a percent; few enough for the smallest cache of decoded instructions.
const CHAIN: u64 = 256;

/// The loop's own instructions add nothing: they are done while a chain waits for its results, and are one decoded
/// instruction in 256 of those that do not wait.
const BESIDE_THE_CHAIN: &[TermOf] = &[];

/// Integers of 32 and of 64 bits; the headline is the register's full width.
const WIDTH: operation::Axis = count("width", &[Value::Number(32), Value::Number(64)]).headline(&[Value::Number(64)]);

/// An instruction whose text holds nothing but copies of it.
const PURE: Operation = Operation { per: "instruction", terms: BESIDE_THE_CHAIN, ..DEFAULT };

/// One row gives an instruction's latency and its throughput: the id, what it does, the axes, the text a setting asks
/// for, and what the text makes of a lane.
macro_rules! instructions {
    ($($id:literal, $summary:literal, $axes:expr, $text:expr, $model:expr;)+) => {
        &[$(
            Operation {
                id: concat!($id, ".latency"),
                summary: concat!($summary, ", each waiting for the one before"),
                axes: $axes,
                prepare: |setting| lanes::latency(setting, $text, $model),
                ..PURE
            },
            Operation {
                id: concat!($id, ".throughput"),
                summary: concat!($summary, ", none waiting for another"),
                axes: $axes,
                prepare: |setting| lanes::throughput(setting, $text, $model),
                ..PURE
            },
        )+]
    };
}
use instructions;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "instruction.add.latency",
        summary: "add a register to a register, each waiting for the one before",
        aliases: &["ada"],
        axes: &[WIDTH],
        headline: true,
        prepare: |setting| lanes::latency(setting, |_| &text::ADD, integer::sum),
        ..PURE
    },
    Operation {
        id: "instruction.add.throughput",
        summary: "add a register to a register, none waiting for another",
        axes: &[WIDTH],
        prepare: |setting| lanes::throughput(setting, |_| &text::ADD, integer::sum),
        ..PURE
    },
    Operation {
        id: "instruction.multiply.latency",
        summary: "multiply two integers, each waiting for the one before",
        axes: &[WIDTH],
        headline: true,
        prepare: |setting| lanes::latency(setting, |_| &text::MULTIPLY, integer::product),
        ..PURE
    },
    Operation {
        id: "instruction.multiply.throughput",
        summary: "multiply two integers, none waiting for another",
        axes: &[WIDTH],
        prepare: |setting| lanes::throughput(setting, |_| &text::MULTIPLY, integer::product),
        ..PURE
    },
    Operation {
        id: "instruction.divide.latency",
        summary: "divide a full integer by a 20-bit one, each waiting for the one before",
        axes: &[WIDTH],
        headline: true,
        // The dividend is made large again after each divide, by an `or` that the chain waits for as for an add.
        terms: &[term(1.0, "instruction.add.latency").same(&["width"])],
        prepare: |setting| lanes::latency(setting, |_| &text::DIVIDE, integer::quotient),
        ..PURE
    },
    Operation {
        id: "instruction.divide.throughput",
        summary: "divide a full integer by a 20-bit one, none waiting for another",
        axes: &[WIDTH],
        prepare: |setting| lanes::throughput(setting, |_| &text::DIVIDE, integer::quotient),
        ..PURE
    },
    branch::CALL,
    branch::PREDICTED,
    branch::MISSED,
];

/// The families of instructions, beyond those above.
pub(crate) use access::OPERATIONS as ACCESSES;
pub(crate) use branch::OPERATIONS as BRANCHES;
pub(crate) use float::{FLOATS, VECTORS};
pub(crate) use integer::OPERATIONS as INTEGERS;
#[cfg(target_arch = "x86_64")]
pub(crate) use integer::OWN as OWN_INTEGERS;
pub(crate) use special::OPERATIONS as SPECIAL;
pub(crate) use text::OWN;
#[cfg(target_arch = "aarch64")]
pub(crate) use text::OWN_INTEGERS;

#[cfg(test)]
mod tests;
