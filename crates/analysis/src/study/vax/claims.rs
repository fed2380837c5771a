//! The paper's sentences as tests. For some of them it prints no figure.

use record::Value;

use crate::derived::{Part, Route, cost};
use crate::study::claims::{Claim, Pair, Test};

/// Two costs.
macro_rules! pair {
    ($one:expr, $other:expr) => {
        Pair { one: Route::of(&[$one]), other: Route::of(&[$other]) }
    };
}

/// A write to a terminal that a task on our own CPU, or on another one, drains.
macro_rules! write {
    ($size:literal, $path:literal, $distance:literal) => {
        cost("terminal.write").at(&[
            ("distance", Value::Word($distance)),
            ("path", Value::Word($path)),
            ("size", Value::Number($size)),
        ])
    };
}

/// A write to a terminal behind something else.
macro_rules! through {
    ($path:literal) => {
        cost("terminal.through").at(&[("path", Value::Word($path)), ("size", Value::Number(4096))])
    };
}

/// One of this many.
macro_rules! each {
    ($part:expr, $count:literal) => {
        Route { name: "", plus: &[$part], minus: &[], divide_by: $count }
    };
}

/// The paper says so, and prints no figure.
const UNPRINTED: Pair = Pair { one: Route::of(&[]), other: Route::of(&[]) };

const BYTE: Part = write!(1, "processed", "same");
const KEYSTROKE: Part = cost("terminal.echo.program").at(&[("distance", Value::Word("same"))]);
const BLOCK: Part = write!(512, "processed", "same");
const RAW_BLOCK: Part = write!(512, "raw", "same");
const NEAR: Part = write!(4096, "processed", "same");
const THROUGH_TCP: Part = through!("tcp");
const THROUGH_SCRIPT: Part = through!("script");
const FAR: Part = write!(4096, "processed", "other");

/// One interaction without a feature of the terminal.
macro_rules! session {
    ($without:literal) => {
        cost("terminal.session").at(&[("without", Value::Word($without))])
    };
}

/// A switch to a task with a working set.
macro_rules! switch {
    ($set:expr) => {
        cost("switch.process").at(&[("set", $set)])
    };
}

/// Passes over a working set on this number of CPUs.
macro_rules! passes {
    ($set:literal, $cpus:literal) => {
        cost("memory.read.cpus").at(&[("cpus", Value::Number($cpus)), ("set", Value::Number($set))])
    };
}

/// Adding up 64 KiB of a working set.
macro_rules! read {
    ($set:literal) => {
        cost("memory.read").at(&[("set", Value::Number($set))])
    };
}

/// Work while a disk transfers data, or does not.
macro_rules! transfer {
    ($work:literal, $transfer:literal) => {
        cost("contention.transfer").at(&[("transfer", Value::Word($transfer)), ("work", Value::Word($work))])
    };
}

/// An instruction of this many bytes that does nothing.
#[cfg(target_arch = "x86_64")]
macro_rules! encoded {
    ($length:literal) => {
        cost("instruction.encoding").at(&[("length", Value::Number($length))])
    };
}

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        claim: "A byte written with 511 others costs less than a tenth of a byte written alone",
        test: Test::Below(0.1),
        there: UNPRINTED,
        here: &[Pair { one: each!(BLOCK, 512.0), other: each!(BYTE, 1.0) }],
        note: "output should be assembled in a buffer, then written 512 bytes at a time; here to a terminal that processes \
               output, drained on the same CPU, so that the time is all that the bytes cost",
    },
    Claim {
        claim: "A terminal at 9600 baud, byte by byte, uses up more than 4 % of a CPU",
        test: Test::Load { per_second: 960.0, share: 0.04 },
        there: Pair { one: each!(cost("vax.output.9600"), 960.0), other: Route::of(&[]) },
        here: &[Pair { one: each!(BYTE, 1.0), other: Route::of(&[]) }],
        note: "960 writes of one byte a second",
    },
    Claim {
        claim: "Reading 9600 baud naively uses up more than half of a CPU",
        test: Test::Load { per_second: 960.0, share: 0.5 },
        there: Pair { one: each!(cost("vax.input.9600"), 960.0), other: Route::of(&[]) },
        here: &[Pair { one: each!(KEYSTROKE, 1.0), other: Route::of(&[]) }],
        note: "here keystrokes that a program reads one by one from a raw terminal and echoes",
    },
    Claim {
        claim: "A faster terminal costs as much processor time for a byte",
        test: Test::Between(0.8, 1.25),
        there: UNPRINTED,
        here: &[Pair { one: Route::of(&[FAR.processor()]), other: Route::of(&[NEAR.processor()]) }],
        note: "baud rate alters the rate at which the resources are consumed; here the faster terminal is one that another CPU \
               drains meanwhile",
    },
    Claim {
        claim: "Switching off the terminal's features gains 20 % to 80 %",
        test: Test::Between(1.15, 1.85),
        there: pair!(cost("vax.features.on"), cost("vax.features.off")),
        here: &[pair!(session!("nothing"), session!("all")), pair!(BLOCK, RAW_BLOCK)],
        note: "an interaction with all features against one with none; also output alone, processed against raw",
    },
    Claim {
        claim: "The network terminal takes more than 1.2 times the processor time of a terminal line",
        test: Test::Above(1.2),
        there: pair!(cost("vax.output.lat"), cost("vax.output.dmf")),
        here: &[pair!(THROUGH_TCP, NEAR), pair!(THROUGH_SCRIPT, NEAR)],
        note: "LAT against DMF at 10,000 bytes a second; here writes of 4 KiB through a login over TCP against those to a \
               terminal alone, all on one CPU; also through the program `script`",
    },
    Claim {
        claim: "A disk transfer slows the CPU by 4 % to 10 %",
        test: Test::Between(1.035, 1.105),
        there: pair!(cost("vax.running.transfer"), cost("vax.running")),
        here: &[
            pair!(transfer!("compute", "reading"), transfer!("compute", "none")),
            pair!(transfer!("memory", "reading"), transfer!("memory", "none")),
        ],
        note: "a computation while another CPU reads a file past the page cache; also passes over memory. `howslow \
               interference` has every other kind of work",
    },
    Claim {
        claim: "Memory makes the CPU run at less than three quarters of its speed",
        test: Test::Above(1.333),
        there: pair!(cost("vax.instruction"), cost("vax.instruction.alone")),
        here: &[pair!(read!(67_108_864), read!(16384)), pair!(read!(4_194_304), read!(16384))],
        note: "a pass over 64 MiB against one over what the first cache holds; also over 4 MiB",
    },
    Claim {
        claim: "A second CPU at the same memory is crippled: passes over memory by both take more than 1.5 times as long",
        test: Test::Above(1.5),
        there: UNPRINTED,
        here: &[
            pair!(passes!(134_217_728, 2), passes!(134_217_728, 1)),
            pair!(passes!(262_144, 2), passes!(262_144, 1)),
        ],
        note: "each CPU passes over 128 MiB of its own; also over 256 KiB, which its own caches hold",
    },
    Claim {
        claim: "Switches spoil the cache: with a working set a switch costs more than twice as much",
        test: Test::Above(2.0),
        there: UNPRINTED,
        here: &[
            pair!(switch!(Value::Word("most-l2")), switch!(Value::Number(0))),
            pair!(switch!(Value::Number(262_144)), switch!(Value::Number(0))),
        ],
        note: "of three quarters of the second cache, the work itself subtracted; also of 256 KiB",
    },
    #[cfg(target_arch = "x86_64")]
    Claim {
        claim: "Short instructions are faster than long ones",
        test: Test::Below(0.8),
        there: UNPRINTED,
        here: &[pair!(encoded!(2), encoded!(15)), pair!(encoded!(4), encoded!(8))],
        note: "instructions that do nothing, of 2 bytes against 15; also of 4 against 8",
    },
    Claim {
        claim: "Branches defeat pipelining: one guessed wrongly costs more than five times one guessed rightly",
        test: Test::Above(5.0),
        there: UNPRINTED,
        here: &[
            pair!(cost("instruction.branch.missed"), cost("instruction.branch.predicted")),
            pair!(cost("instruction.branch.taken"), cost("instruction.branch.not.taken")),
        ],
        note: "what a branch guessed wrongly adds; also one always taken against one never taken",
    },
];
