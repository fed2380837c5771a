//! The loop around integer instructions: one dependent chain, or several side by side, each in a register of its own (a
//! lane), and the check of each lane's final value. It knows no instruction.

use std::cell::Cell;

use crate::kit::{ensure, handles};
use operation::{Failure, Loop, Setting, opaque};

/// Instructions per turn of a loop. Large enough that a processor that runs the loop's own two instructions after them, not
/// beside them, adds less than half a percent; small enough for the smallest cache of decoded instructions.
pub(super) const CHAIN: u64 = 256;

/// Lanes of a throughput: more than any current processor needs to keep its multipliers and adders busy.
pub(super) const LANES: usize = 8;

/// Does `times` turns (not 0) of `CHAIN` instructions, the same number on each lane, with the operands.
///
/// # Safety
/// The processor has the instruction, and the operands suit it (a divisor is not 0).
pub(super) type Turns = unsafe fn(times: u64, lanes: &mut [u64; LANES], operands: [u64; 2]);

/// How an access is done: its name on the axis, the feature it needs, its turns.
pub(super) type Way = (&'static str, &'static str, Turns);

/// What a word on an axis means: the word, the feature, copies per turn, and the turns, which count themselves in the first lane.
pub(super) type Counted = (&'static str, &'static str, u64, Turns);

/// An instruction at one width.
pub(super) struct InstructionText {
    /// The turns on the first lane alone.
    pub(super) latency: Turns,
    /// The turns on all lanes.
    pub(super) throughput: Turns,
}

/// An instruction at every width.
pub(super) struct Widths {
    /// On 32 bits; `None` if only the other width is measured.
    pub(super) narrow: Option<InstructionText>,
    /// On 64 bits.
    pub(super) wide: InstructionText,
    /// The feature of the processor that the instruction needs; empty if every processor has it.
    pub(super) needs: &'static str,
}

/// The history of a lane, for its model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// Its value before.
    pub(super) start: u64,
    /// The operands, of `width` bits.
    pub(super) operands: [u64; 2],
    /// Bits of the operands and the lane.
    pub(super) width: u64,
    pub(super) count: u64,
}

impl Case {
    /// The part of `value` in the lane's width.
    pub(super) fn narrowed(&self, value: u64) -> u64 {
        if self.width < 64 { value & ((1 << self.width) - 1) } else { value }
    }

    /// The final value of the lane if each instruction changes it as `step` says.
    pub(super) fn repeated(&self, step: impl Fn(u64) -> u64) -> u64 {
        repeated(self.start, self.count, step)
    }
}

/// The result of `count` steps from `start`. If the values repeat, as those of all chains without a closed form do, the
/// rest of the steps is skipped.
pub(super) fn repeated<T: Copy + PartialEq>(start: T, count: u64, step: impl Fn(T) -> T) -> T {
    let (mut value, mut done) = (start, 0);
    let (mut mark, mut marked) = (value, 0);
    while done < count {
        value = step(value);
        done += 1;
        if value == mark {
            let period = done - marked;
            return (0..(count - done) % period).fold(value, |value, _| step(value));
        }
        if done == 2 * marked + 1 {
            (mark, marked) = (value, done);
        }
    }
    value
}

/// The expected final value of a lane.
pub(super) type LaneModel = fn(&Case) -> u64;

/// The initial values of lanes, also used as addends and factors: odd, with bits everywhere.
pub(super) const OPERAND: u64 = 0x9E37_79B9_7F4A_7C15;

/// A seven-digit prime. A quotient by it keeps 12 bits of a 32-bit dividend, and 44 of a 64-bit one.
pub(super) const DIVISOR: u64 = 1_000_003;

/// The text that a setting requests.
pub(super) type Choose = fn(&Setting) -> &'static Widths;

/// The loop of a dependent chain.
pub(super) fn latency(setting: &Setting, choose: Choose, model: LaneModel) -> Result<Loop, Failure> {
    let (text, width) = at_width(setting, choose(setting))?;
    Ok(chains(text.latency, 1, width, model))
}

/// The loop of independent chains.
pub(super) fn throughput(setting: &Setting, choose: Choose, model: LaneModel) -> Result<Loop, Failure> {
    let (text, width) = at_width(setting, choose(setting))?;
    Ok(chains(text.throughput, LANES, width, model))
}

/// The text at the setting's width, or that of 64 bits if it has no such axis; a skip if the processor lacks it.
fn at_width<'a>(setting: &Setting, widths: &'a Widths) -> Result<(&'a InstructionText, u64), Failure> {
    super::feature::require(widths.needs)?;
    match (&widths.narrow, setting.point().number("width")) {
        (Some(narrow), Some(32)) => Ok((narrow, 32)),
        (None, Some(32)) => Err(Failure::wrong("the instruction has no text of 32 bits")),
        _ => Ok((&widths.wide, 64)),
    }
}

/// The loop of turns on this number of lanes. Each lane must end with the value that the model gives.
pub(super) fn chains(turns: Turns, used: usize, width: u64, model: LaneModel) -> Loop {
    let case = Case { start: 0, operands: [0; 2], width, count: 0 };
    let operands = [OPERAND, DIVISOR].map(|operand| case.narrowed(opaque(operand)));
    let starts = std::array::from_fn(|lane| case.narrowed(OPERAND.rotate_left(lane as u32)) >> 1);
    let each = CHAIN / used as u64;
    checked(turns, starts, operands, move |times, before, after| {
        for (&start, &end) in before.iter().zip(after).take(used) {
            let wanted = model(&Case { start, operands, width, count: times.wrapping_mul(each) });
            ensure(end == wanted, || format!("the chain ended in {end:#x} instead of {wanted:#x}"))?;
        }
        Ok(())
    })
    .unrolled(CHAIN)
}

/// The loop of turns on lanes that begin with `starts`. `check` receives the turns of a batch and the lanes before and
/// after it. The function that builds the turns has checked that the processor has the instruction and that the operands
/// suit it.
pub(super) fn checked(
    turns: Turns,
    starts: [u64; LANES],
    operands: [u64; 2],
    mut check: impl FnMut(u64, &[u64; LANES], &[u64; LANES]) -> Result<(), Failure> + 'static,
) -> Loop {
    let mut before = starts;
    let [lanes, result] = handles(Cell::new(before));
    let run = move |times: u64| {
        let mut values = lanes.get();
        if times > 0 {
            // SAFETY: the caller has checked what the turns need, and there is at least one turn.
            unsafe { turns(times, &mut values, operands) };
        }
        lanes.set(values);
        Ok(())
    };
    let verify = move |times: u64| {
        let after = result.get();
        let checked = check(times, &before, &after);
        before = after;
        checked
    };
    Loop::new(run).verify(verify)
}
