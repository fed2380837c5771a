//! The loop around floating-point and vector instructions: like that around integers, but lanes are vector registers. It
//! knows no instruction.

use std::cell::Cell;

use operation::{Failure, Loop, Setting};

use super::feature::require;
use crate::kit::handles;

/// Lanes of a throughput. On x86-64, two instructions may begin in each cycle, and a result takes up to six; on aarch64,
/// four may begin, and a result takes up to five.
pub(super) const LANES: usize = if cfg!(target_arch = "x86_64") { 12 } else { 24 };

/// Instructions per turn of the loop: the same even number on every lane.
pub(super) const CHAIN: u64 = 240;

/// Turns of a batch: few enough that sums of small integers are exact in single precision.
const MOST: u64 = 1 << 15;

/// The content of the registers: the lanes, and three operands. Instructions on a lane take the first and the second
/// operand in turn.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub(super) struct VectorRegisters {
    pub(super) lanes: [[u64; 8]; LANES],
    pub(super) operands: [[u64; 8]; 3],
}

/// Does `times` turns (not 0) of `CHAIN` instructions, the same number on each lane.
///
/// # Safety
/// The processor has the instruction.
pub(super) type NumberTurns = unsafe fn(times: u64, registers: &mut VectorRegisters);

/// An instruction on one register kind.
pub(super) struct Vector {
    /// The kind, as it is called on the axis `vector`.
    pub(super) name: &'static str,
    pub(super) needs: &'static str,
    /// Bytes of the register it works on.
    pub(super) bytes: usize,
    /// The turns on the first lane alone.
    pub(super) latency: NumberTurns,
    /// The turns on all lanes.
    pub(super) throughput: NumberTurns,
}

/// An instruction in single and in double precision.
pub(super) type Precisions = (&'static [Vector], &'static [Vector]);

/// A number's model: the result of `count` instructions with three operands from `start`.
pub(super) type NumberModel<T> = fn(start: T, operands: [T; 3], count: u64) -> T;

/// An instruction on floating-point numbers.
pub(super) struct Float {
    pub(super) single: &'static [Vector],
    pub(super) double: &'static [Vector],
    pub(super) operands: [f64; 3],
    pub(super) in_single: NumberModel<f32>,
    pub(super) in_double: NumberModel<f64>,
}

/// An instruction on vectors of 64-bit integers.
pub(super) struct Packed {
    pub(super) vectors: &'static [Vector],
    pub(super) operands: [u64; 3],
    pub(super) model: NumberModel<u64>,
}

/// Which turns of an instruction are timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lanes {
    One,
    All,
}

/// The loop of a floating-point instruction at the setting's precision and vector.
pub(super) fn float(setting: &Setting, float: &'static Float, lanes: Lanes) -> Result<Loop, Failure> {
    let start = |lane: usize| lane as f64 + 1.0;
    if setting.word("precision")? == "single" {
        let (turns, bytes) = chosen(setting, float.single, lanes)?;
        let spread = |number: f64| u64::from((number as f32).to_bits()) * 0x1_0000_0001;
        let number = |word: u64| f32::from_bits(word as u32);
        let model = move |word, operands: [u64; 3], count| {
            u64::from((float.in_single)(number(word), operands.map(number), count).to_bits()) * 0x1_0000_0001
        };
        return Ok(chains(turns, lanes, bytes, filled(|lane| spread(start(lane)), float.operands.map(spread)), model));
    }
    let (turns, bytes) = chosen(setting, float.double, lanes)?;
    let model = |word, operands: [u64; 3], count| {
        (float.in_double)(f64::from_bits(word), operands.map(f64::from_bits), count).to_bits()
    };
    Ok(chains(turns, lanes, bytes, filled(|lane| start(lane).to_bits(), float.operands.map(f64::to_bits)), model))
}

/// The loop of an integer instruction at the setting's vector.
pub(super) fn packed(setting: &Setting, packed: &'static Packed, lanes: Lanes) -> Result<Loop, Failure> {
    let (turns, bytes) = chosen(setting, packed.vectors, lanes)?;
    let start = |lane: usize| super::lanes::OPERAND.rotate_left(lane as u32);
    Ok(chains(turns, lanes, bytes, filled(start, packed.operands), packed.model))
}

/// The turns at the setting's vector, and the number of bytes they change; a skip if the processor lacks them.
fn chosen(setting: &Setting, vectors: &'static [Vector], lanes: Lanes) -> Result<(NumberTurns, usize), Failure> {
    let wanted = setting.word("vector")?;
    let Some(vector) = vectors.iter().find(|vector| vector.name == wanted) else {
        return Err(Failure::wrong(format!("the instruction has no text for {wanted}")));
    };
    require(vector.needs)?;
    Ok((if lanes == Lanes::One { vector.latency } else { vector.throughput }, vector.bytes))
}

/// Registers filled with the same numbers. Two narrower numbers may fill a word.
fn filled(start: impl Fn(usize) -> u64, operands: [u64; 3]) -> VectorRegisters {
    VectorRegisters {
        lanes: std::array::from_fn(|lane| [start(lane); 8]),
        operands: operands.map(|operand| [operand; 8]),
    }
}

/// The loop of turns on these registers, which are set anew for each batch. Each number must end with the value that the
/// model gives.
fn chains(
    turns: NumberTurns,
    lanes: Lanes,
    bytes: usize,
    starts: VectorRegisters,
    model: impl Fn(u64, [u64; 3], u64) -> u64 + 'static,
) -> Loop {
    let used = if lanes == Lanes::One { 1 } else { LANES };
    let [registers, result] = handles(Cell::new(starts));
    let run = move |times: u64| {
        let mut values = starts;
        if times > 0 {
            // SAFETY: `chosen` has checked that the processor has the instruction, and there is at least one turn.
            unsafe { turns(times, &mut values) };
        }
        registers.set(values);
        Ok(())
    };
    let verify = move |times: u64| {
        let ended = result.get();
        for lane in 0..used {
            let operands = starts.operands.map(|operand| operand[0]);
            let wanted = model(starts.lanes[lane][0], operands, times * (CHAIN / used as u64));
            // The upper half of the word is not part of a scalar in single precision.
            let own = if bytes == 4 { u64::from(u32::MAX) } else { u64::MAX };
            let words = &ended.lanes[lane][..bytes.div_ceil(8)];
            if let Some(word) = words.iter().find(|&&word| (word ^ wanted) & own != 0) {
                return Err(Failure::wrong(format!("a lane holds {word:#x} instead of {wanted:#x}")));
            }
        }
        Ok(())
    };
    Loop::new(run).verify(verify).unrolled(CHAIN).at_most(MOST)
}
