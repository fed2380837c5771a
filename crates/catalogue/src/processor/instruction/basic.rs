//! The integer instructions that represent all others in a headline run: add, multiply and divide.

use operation::{Operation, term};

use super::{PURE, WIDTH, integer, lanes, text};

pub(crate) const OPERATIONS: &[Operation] = &[
    PURE.named("instruction.add.latency", "add a register to a register, each waiting for the one before")
        .aliases(&["ada"])
        .axes(&[WIDTH])
        .headline()
        .prepare(|setting| lanes::latency(setting, |_| &text::ADD, integer::sum)),
    PURE.named("instruction.add.throughput", "add a register to a register, none waiting for another")
        .axes(&[WIDTH])
        .prepare(|setting| lanes::throughput(setting, |_| &text::ADD, integer::sum)),
    PURE.named("instruction.multiply.latency", "multiply two integers, each waiting for the one before")
        .axes(&[WIDTH])
        .headline()
        .prepare(|setting| lanes::latency(setting, |_| &text::MULTIPLY, integer::product)),
    PURE.named("instruction.multiply.throughput", "multiply two integers, none waiting for another")
        .axes(&[WIDTH])
        .prepare(|setting| lanes::throughput(setting, |_| &text::MULTIPLY, integer::product)),
    PURE.named("instruction.divide.latency", "divide a full integer by a 20-bit one, each waiting for the one before")
        .axes(&[WIDTH])
        .headline()
        // The dividend is made large again after each divide, by an `or` for which the chain waits as for an add.
        .terms(&[term(1.0, "instruction.add.latency").same(&["width"])])
        .prepare(|setting| lanes::latency(setting, |_| &text::DIVIDE, integer::quotient)),
    PURE.named("instruction.divide.throughput", "divide a full integer by a 20-bit one, none waiting for another")
        .axes(&[WIDTH])
        .prepare(|setting| lanes::throughput(setting, |_| &text::DIVIDE, integer::quotient)),
];
