//! The integer instructions that represent all others in a headline run: add, multiply and divide.

use operation::{Operation, term};

use super::{PURE, WIDTH, integer, lanes, text};

const OF_A_WIDTH: Operation = PURE.axes(&[WIDTH]);

pub(crate) const OPERATIONS: &[Operation] = &[
    OF_A_WIDTH
        .named("instruction.add.latency", "add a register to a register, each waiting for the one before")
        .aliases(&["ada"])
        .headline()
        .prepare(|setting| lanes::latency(setting, |_| &text::ADD, integer::sum)),
    OF_A_WIDTH
        .named("instruction.add.throughput", "add a register to a register, none waiting for another")
        .prepare(|setting| lanes::throughput(setting, |_| &text::ADD, integer::sum)),
    OF_A_WIDTH
        .named("instruction.multiply.latency", "multiply two integers, each waiting for the one before")
        .headline()
        .prepare(|setting| lanes::latency(setting, |_| &text::MULTIPLY, integer::product)),
    OF_A_WIDTH
        .named("instruction.multiply.throughput", "multiply two integers, none waiting for another")
        .prepare(|setting| lanes::throughput(setting, |_| &text::MULTIPLY, integer::product)),
    OF_A_WIDTH
        .named("instruction.divide.latency", "divide a full integer by a 20-bit one, each waiting for the one before")
        .headline()
        // The dividend is made large again after each divide, by an `or` for which the chain waits as for an add.
        .terms(&[term(1.0, "instruction.add.latency").same(&["width"])])
        .prepare(|setting| lanes::latency(setting, |_| &text::DIVIDE, integer::quotient)),
    OF_A_WIDTH
        .named("instruction.divide.throughput", "divide a full integer by a 20-bit one, none waiting for another")
        .prepare(|setting| lanes::throughput(setting, |_| &text::DIVIDE, integer::quotient)),
];
