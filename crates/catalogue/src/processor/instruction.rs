//! Single instructions: the time that a dependent one waits (latency), the time per instruction of independent ones
//! (throughput), and the cost of calls and branches. The assembly of each architecture is in its own folder. Its meaning,
//! and how that is checked, is here and in the files of the classes.

#[cfg(target_arch = "aarch64")]
#[path = "instruction/aarch64/text.rs"]
mod text;
#[cfg(target_arch = "x86_64")]
#[path = "instruction/x86_64/text.rs"]
mod text;

pub(crate) mod access;
pub(crate) mod basic;
pub(crate) mod branch;
mod feature;
pub(crate) mod float;
pub(crate) mod integer;
mod lanes;
#[cfg(target_arch = "aarch64")]
#[path = "instruction/aarch64/own.rs"]
pub(crate) mod own;
#[cfg(target_arch = "x86_64")]
#[path = "instruction/x86_64/string.rs"]
pub(crate) mod own;
pub(crate) mod special;
mod vectors;

use operation::{Operation, TermOf, count, numbers};

use crate::kit::BASE;
use lanes::CHAIN;

/// Calls per turn of the loop: many times the number of entries in small return predictors.
const CALLS: u64 = 64;

/// Branches per turn of the loop: one for each bit of a word.
const BRANCHES: u64 = 64;

/// The loop's own instructions add no time. They are done while a chain waits for its results, and are one decoded
/// instruction in 256 of those that do not wait.
const BESIDE_THE_CHAIN: &[TermOf] = &[];

/// Integers of 32 and of 64 bits; the headline is the register's full width.
const WIDTH: operation::Axis = count("width", numbers![32, 64]).headline(numbers![64]);

/// An instruction whose assembly contains only copies of it.
const PURE: Operation = BASE.per("instruction").terms(BESIDE_THE_CHAIN);

/// One row gives an instruction's latency and its throughput: the id, the summary, the axes, the assembly for a setting,
/// and the model of its effect on a lane.
macro_rules! instructions {
    ($($id:literal, $summary:literal, $axes:expr, $text:expr, $model:expr;)+) => {
        &[$(
            PURE.named(concat!($id, ".latency"), concat!($summary, ", each waiting for the one before"))
                .axes($axes)
                .prepare(|setting| lanes::latency(setting, $text, $model)),
            PURE.named(concat!($id, ".throughput"), concat!($summary, ", none waiting for another"))
                .axes($axes)
                .prepare(|setting| lanes::throughput(setting, $text, $model)),
        )+]
    };
}
use instructions;

#[cfg(test)]
mod tests;
