//! The integer instructions that represent all others in a headline run: add, multiply and divide.

use operation::{Operation, term};

use super::{PURE, WIDTH, integer, lanes, text};

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
        // The dividend is made large again after each divide, by an `or` for which the chain waits as for an add.
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
];
