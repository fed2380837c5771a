//! The costs of this machine that stand beside the 6180's.

use std::sync::LazyLock;

use record::{FixedPoint, Value};

use crate::derived::{Part, cost};
use crate::study::data::StudyData;

/// The words, tables and sentences of the paper.
pub(super) static DATA: LazyLock<StudyData> = LazyLock::new(|| StudyData::of(include_str!("../hardware.toml")));

/// Words as wide as a register, and pairs of them.
const WORD: FixedPoint = &[("width", Value::Number(8))];
const PAIR: FixedPoint = &[("width", Value::Number(16))];
const THREE: FixedPoint = &[("arguments", Value::Number(3))];

pub(super) const ADD: Part = cost("instruction.add.latency").at(&[("width", Value::Number(64))]);
pub(super) const LOAD: Part = cost("instruction.load.latency").at(&[("mode", Value::Word("base"))]);
pub(super) const LOADS: Part = cost("instruction.load.throughput").at(WORD);
pub(super) const LOAD_INDIRECT: Part = cost("instruction.load.indirect.latency");
pub(super) const STORES: Part = cost("instruction.store.throughput").at(WORD);
pub(super) const STORES_OF_TWO: Part = cost("instruction.store.throughput").at(PAIR);
pub(super) const PROCEDURE: Part = cost("crossing.procedure").at(THREE);
pub(super) const SEQUENCE: Part = cost("crossing.sequence");
pub(super) const KERNEL: Part = cost("crossing.call").at(THREE);
pub(super) const NOTHING: Part = cost("process.shell");
