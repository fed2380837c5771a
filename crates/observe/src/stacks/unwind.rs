//! From the registers and the top of a stack to the places of all callers.

use std::rc::Rc;

use gimli::{CfaRule, Register, RegisterRule, UnwindContext, UnwindSection};

use super::module::{Mapping, Module, Place};

/// Deeper callers are left out.
const DEEPEST: usize = 64;

/// What a program in the kernel notes of a sampled call.
#[derive(Clone, Debug)]
pub(crate) struct CallSample {
    pub process: u32,
    pub call: u16,
    /// How many calls it stands for, and their time on the CPU.
    pub weight: u64,
    pub weighted_ns: u64,
    /// The registers by their numbers in tables of callers; the last is the address of the code.
    pub registers: [u64; REGISTERS],
    /// The top of the stack.
    pub stack: Vec<u8>,
}

#[cfg(target_arch = "x86_64")]
mod here {
    /// 16 registers and the return address (System V ABI, AMD64 supplement, figure 3.36).
    pub(crate) const REGISTERS: usize = 17;
    pub(super) const STACK: usize = 7;
    pub(super) const FRAME: usize = 6;
    /// What holds the caller's address; without a rule for it, it is on the stack.
    pub(super) const RETURN: usize = 16;
    /// The bits of an address of code.
    pub(super) const CODE: u64 = u64::MAX;
    /// The place of each in `struct pt_regs`, in words: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip.
    pub(super) const SAVED: [usize; REGISTERS] = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16];
}

#[cfg(target_arch = "aarch64")]
mod here {
    /// x0 to x30, the stack pointer, and the address of the code (DWARF for the Arm 64-bit Architecture, table 4.1).
    pub(crate) const REGISTERS: usize = 33;
    pub(super) const STACK: usize = 31;
    pub(super) const FRAME: usize = 29;
    pub(super) const RETURN: usize = 30;
    /// The bits of an address of code; those above may hold its signature.
    pub(super) const CODE: u64 = (1 << 48) - 1;
    /// `struct user_pt_regs` has them in this order.
    pub(super) const SAVED: [usize; REGISTERS] = {
        let mut saved = [0; REGISTERS];
        let mut place = 0;
        while place < REGISTERS {
            saved[place] = place;
            place += 1;
        }
        saved
    };
}

pub(crate) use here::REGISTERS;
use here::{CODE, FRAME, RETURN, SAVED, STACK};

impl CallSample {
    /// The registers of `struct pt_regs`.
    pub(crate) fn saved(words: &[u8]) -> [u64; REGISTERS] {
        SAVED.map(|place| word_at(words, place * 8).unwrap_or(0))
    }

    /// The address of the code that made the call.
    pub(crate) fn address(&self) -> u64 {
        self.registers[REGISTERS - 1]
    }

    /// The word at an address of the stack.
    fn word(&self, address: u64) -> Option<u64> {
        word_at(&self.stack, usize::try_from(address.checked_sub(self.registers[STACK])?).ok()?)
    }
}

fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_ne_bytes(*word))
}

/// The places of a call and of its callers, the innermost first, as far as they can be found.
pub(super) fn places(
    sample: &CallSample,
    mappings: &[Mapping],
    mut module: impl FnMut(&Mapping) -> Option<Rc<Module>>,
) -> Vec<Place> {
    let mut places = Vec::new();
    let mut registers = sample.registers;
    let mut context = UnwindContext::new();
    let mut knows_stack = true;
    while places.len() < DEEPEST {
        let code = registers[REGISTERS - 1];
        // A return address is that of the instruction after the call, which may be of another line.
        let code = if places.is_empty() { code } else { code.saturating_sub(1) };
        let Some(mapping) = Mapping::of(mappings, code) else { break };
        let file = module(mapping);
        let offset = mapping.in_file(code);
        let address = file.as_ref().and_then(|file| file.address(offset)).unwrap_or(offset);
        places.push(Place { file: mapping.file.clone(), address, own: mapping.own });
        let by_tables = file.and_then(|file| caller(sample, (&registers, knows_stack), &file, address, &mut context));
        // The stack of a function's caller begins behind its saved registers on x86-64, anywhere on aarch64.
        knows_stack = by_tables.is_some() || RETURN == REGISTERS - 1;
        // The stack grows down, so that of a caller is above; but the innermost function may have nothing there.
        let is_above = |next: &[u64; REGISTERS]| {
            let may_be_equal = places.len() == 1 && is_leaf(&registers);
            next[STACK] > registers[STACK] || may_be_equal && next[STACK] == registers[STACK]
        };
        let Some(next) = by_tables.or_else(|| by_frame(sample, &registers)).filter(is_above) else { break };
        registers = next;
    }
    places
}

/// The registers of the caller by the tables of the file. Whether the stack's register is known is said with the registers.
fn caller(
    sample: &CallSample,
    (registers, knows_stack): (&[u64; REGISTERS], bool),
    file: &Module,
    address: u64,
    context: &mut UnwindContext<usize>,
) -> Option<[u64; REGISTERS]> {
    let table = file.index.table()?;
    let get = gimli::EhFrame::cie_from_offset;
    let row = table.unwind_info_for_address(&file.frames, &file.bases, context, address, get).ok()?;
    let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
    if usize::from(register.0) == STACK && !knows_stack {
        return None;
    }
    let frame = registers.get(usize::from(register.0))?.checked_add_signed(offset)?;
    let mut next = *registers;
    for (number, value) in next.iter_mut().enumerate().take(RETURN + 1) {
        *value = match row.register(Register(number as u16)) {
            RegisterRule::Offset(offset) => sample.word(frame.checked_add_signed(offset)?)?,
            RegisterRule::ValOffset(offset) => frame.checked_add_signed(offset)?,
            RegisterRule::Register(of) => *registers.get(usize::from(of.0))?,
            // The outermost function has no caller, and says so.
            RegisterRule::Undefined if number == RETURN && !is_leaf(registers) => return None,
            _ => *value,
        };
    }
    next[STACK] = frame;
    next[RETURN] &= CODE;
    next[REGISTERS - 1] = next[RETURN];
    Some(next)
}

/// Where the return address is in a register, a function that calls none leaves it there, and the tables need not say so.
fn is_leaf(registers: &[u64; REGISTERS]) -> bool {
    RETURN != REGISTERS - 1 && registers[RETURN] != registers[REGISTERS - 1]
}

/// The registers of the caller by the frame pointer, for code without tables.
fn by_frame(sample: &CallSample, registers: &[u64; REGISTERS]) -> Option<[u64; REGISTERS]> {
    let frame = registers[FRAME];
    let mut next = *registers;
    (next[FRAME], next[RETURN]) = (sample.word(frame)?, sample.word(frame.checked_add(8)?)? & CODE);
    (next[STACK], next[REGISTERS - 1]) = (frame.checked_add(16)?, next[RETURN]);
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(registers: [u64; REGISTERS], stack: Vec<u8>) -> CallSample {
        CallSample { process: 0, call: 0, weight: 0, weighted_ns: 0, registers, stack }
    }

    #[test]
    fn without_tables_frame_pointers_lead_to_callers() {
        let stack: Vec<u8> =
            [7, 0x1020, 0x5000, 0, 0x1040, 0x6000].iter().flat_map(|word: &u64| word.to_ne_bytes()).collect();
        let mut registers = [0; REGISTERS];
        (registers[STACK], registers[FRAME], registers[REGISTERS - 1]) = (0x1000, 0x1008, 0x4000);
        let sample = sample(registers, stack);
        let next = by_frame(&sample, &registers).expect("a caller");
        assert_eq!((next[STACK], next[FRAME], next[REGISTERS - 1]), (0x1018, 0x1020, 0x5000));
        let after = by_frame(&sample, &next).expect("its caller");
        assert_eq!(after[REGISTERS - 1], 0x6000);
        assert!(by_frame(&sample, &after).is_none(), "beyond what was copied");
        assert!(places(&sample, &[], |_| None).is_empty());
    }

    #[test]
    fn hostile_registers_end_the_search() {
        let registers = [u64::MAX; REGISTERS];
        let sample = sample(registers, vec![0xff; 64]);
        assert!(by_frame(&sample, &registers).is_none());
        assert_eq!(CallSample::saved(&[1, 2, 3]), [0; REGISTERS], "what is missing is nothing");
    }
}
