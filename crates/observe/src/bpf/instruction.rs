//! Assembles eBPF (RFC 9669): instructions with labels. Knows no program.

/// One instruction as the kernel takes it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    code: u8,
    /// The destination in the low half, the source in the high half (little endian).
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// A register. 0 holds results, 1 to 5 arguments, which calls destroy; 6 to 9 survive calls; 10 is the frame.
pub(crate) type Register = u8;

/// The frame pointer: 512 bytes of stack below it.
pub(crate) const FRAME: Register = 10;

/// The width of a load or store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Width {
    /// 8 bits.
    Byte = 0x10,
    /// 32 bits.
    Word = 0x00,
    /// 64 bits.
    Double = 0x18,
}

/// Arithmetic (RFC 9669, section 4.1).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Compute {
    Add = 0x00,
    Subtract = 0x10,
    Multiply = 0x20,
    Or = 0x40,
    And = 0x50,
    ShiftLeft = 0x60,
    ShiftRight = 0x70,
    Xor = 0xa0,
    Move = 0xb0,
}

/// Comparisons (section 4.3).
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    Equal = 0x10,
    Above = 0x20,
    NotEqual = 0x50,
    /// Signed less.
    Less = 0xc0,
}

/// A register or a constant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Register(Register),
    Constant(i32),
}

/// A place in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// The classes, sources and modes of instruction codes.
mod code {
    pub(super) const LOAD_WIDE: u8 = 0x18;
    pub(super) const LOAD: u8 = 0x61;
    pub(super) const STORE: u8 = 0x63;
    pub(super) const ATOMIC: u8 = 0xc3;
    pub(super) const COMPUTE: u8 = 0x07;
    pub(super) const COMPUTE_32: u8 = 0x04;
    pub(super) const JUMP: u8 = 0x05;
    pub(super) const FROM_REGISTER: u8 = 0x08;
    pub(super) const CALL: u8 = 0x85;
    pub(super) const EXIT: u8 = 0x95;
}

/// `BPF_PSEUDO_MAP_FD` and `BPF_PSEUDO_MAP_VALUE`: the constant is a map, or the first value of an array.
const MAP: Register = 1;
const MAP_VALUE: Register = 2;

/// Builds a program.
#[derive(Default)]
pub(crate) struct Assembler {
    instructions: Vec<Instruction>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    fn put(&mut self, code: u8, to: Register, from: Register, offset: i16, immediate: i32) {
        self.instructions.push(Instruction { code, registers: from << 4 | to, offset, immediate });
    }

    /// A label to be placed later.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Labels to be placed later.
    pub(crate) fn labels<const COUNT: usize>(&mut self) -> [Label; COUNT] {
        std::array::from_fn(|_| self.label())
    }

    /// Places a label here.
    pub(crate) fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.instructions.len());
    }

    /// `to` computed with the operand, 64 bits wide.
    pub(crate) fn compute(&mut self, what: Compute, to: Register, with: Operand) {
        self.put_with(code::COMPUTE | what as u8, to, with);
    }

    /// The same on the low 32 bits; the high ones become 0.
    pub(crate) fn compute32(&mut self, what: Compute, to: Register, with: Operand) {
        self.put_with(code::COMPUTE_32 | what as u8, to, with);
    }

    fn put_with(&mut self, code: u8, to: Register, with: Operand) {
        match with {
            Operand::Register(from) => self.put(code | code::FROM_REGISTER, to, from, 0, 0),
            Operand::Constant(value) => self.put(code, to, 0, 0, value),
        }
    }

    /// Copies a register.
    pub(crate) fn copy(&mut self, to: Register, from: Register) {
        self.compute(Compute::Move, to, Operand::Register(from));
    }

    /// Loads a constant.
    pub(crate) fn constant(&mut self, to: Register, value: i32) {
        self.compute(Compute::Move, to, Operand::Constant(value));
    }

    /// Adds a constant.
    pub(crate) fn add(&mut self, to: Register, value: i32) {
        self.compute(Compute::Add, to, Operand::Constant(value));
    }

    /// Loads a constant of 64 bits.
    pub(crate) fn wide(&mut self, to: Register, value: u64) {
        self.load_wide(to, 0, value as u32 as i32, (value >> 32) as u32 as i32);
    }

    /// Loads the address of a map, for a helper.
    pub(crate) fn map(&mut self, to: Register, descriptor: i32) {
        self.load_wide(to, MAP, descriptor, 0);
    }

    /// Loads the address of the first value of an array.
    pub(crate) fn map_value(&mut self, to: Register, descriptor: i32) {
        self.load_wide(to, MAP_VALUE, descriptor, 0);
    }

    fn load_wide(&mut self, to: Register, kind: Register, low: i32, high: i32) {
        self.put(code::LOAD_WIDE, to, kind, 0, low);
        self.put(0, 0, 0, 0, high);
    }

    /// Loads from memory at `base + offset`.
    pub(crate) fn load(&mut self, width: Width, to: Register, base: Register, offset: i16) {
        self.put(code::LOAD | width as u8, to, base, offset, 0);
    }

    /// Stores to memory at `base + offset`.
    pub(crate) fn store(&mut self, width: Width, base: Register, offset: i16, from: Register) {
        self.put(code::STORE | width as u8, base, from, offset, 0);
    }

    /// Stores a constant to memory at `base + offset`. It is in register 1 afterwards.
    pub(crate) fn set(&mut self, width: Width, base: Register, offset: i16, value: i32) {
        self.constant(1, value);
        self.store(width, base, offset, 1);
    }

    /// Adds a register to memory in one step, for memory that other CPUs add to.
    pub(crate) fn add_at_once(&mut self, base: Register, offset: i16, from: Register) {
        self.put(code::ATOMIC | Width::Double as u8, base, from, offset, 0);
    }

    /// Jumps if the condition holds.
    pub(crate) fn jump_if(&mut self, one: Register, when: When, other: Operand, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.put_with(code::JUMP | when as u8, one, other);
    }

    /// Leaves of a register what is in this mask, and jumps if that is nothing.
    pub(crate) fn jump_if_none(&mut self, of: Register, mask: i32, to: Label) {
        self.compute(Compute::And, of, Operand::Constant(mask));
        self.jump_if(of, When::Equal, Operand::Constant(0), to);
    }

    /// The same, and jumps if that is something.
    pub(crate) fn jump_if_any(&mut self, of: Register, mask: i32, to: Label) {
        self.compute(Compute::And, of, Operand::Constant(mask));
        self.jump_if(of, When::NotEqual, Operand::Constant(0), to);
    }

    /// Jumps if the register is one of these.
    pub(crate) fn jump_if_one_of(&mut self, register: Register, values: &[i32], to: Label) {
        for value in values {
            self.jump_if(register, When::Equal, Operand::Constant(*value), to);
        }
    }

    /// Ends one branch, which goes on at `done`, and begins the other here.
    pub(crate) fn otherwise(&mut self, done: Label, other: Label) {
        self.jump(done);
        self.place(other);
    }

    /// Jumps.
    pub(crate) fn jump(&mut self, to: Label) {
        self.jumps.push((self.instructions.len(), to));
        self.put(code::JUMP, 0, 0, 0, 0);
    }

    /// Calls a helper of the kernel.
    pub(crate) fn call(&mut self, helper: i32) {
        self.put(code::CALL, 0, 0, 0, helper);
    }

    /// Ends the program with the result 0.
    pub(crate) fn exit(&mut self) {
        self.constant(0, 0);
        self.put(code::EXIT, 0, 0, 0, 0);
    }

    /// The finished program.
    pub(crate) fn finish(mut self) -> Vec<Instruction> {
        for (at, label) in &self.jumps {
            let target = self.labels[label.0].unwrap_or(self.instructions.len());
            // A program of this crate has a few hundred instructions.
            self.instructions[*at].offset = (target as i64 - *at as i64 - 1) as i16;
        }
        self.instructions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(build: impl FnOnce(&mut Assembler)) -> Vec<(u8, u8, i16, i32)> {
        let mut assembler = Assembler::default();
        build(&mut assembler);
        assembler.finish().iter().map(|made| (made.code, made.registers, made.offset, made.immediate)).collect()
    }

    /// The codes are those of the kernel's own table in include/uapi/linux/bpf_common.h and bpf.h.
    #[test]
    fn instructions_have_the_codes_of_the_standard() {
        assert_eq!(made(|a| a.load(Width::Double, 6, 1, 8)), [(0x79, 0x16, 8, 0)]);
        assert_eq!(made(|a| a.load(Width::Word, 0, 7, 4)), [(0x61, 0x70, 4, 0)]);
        assert_eq!(made(|a| a.load(Width::Byte, 0, 7, 4)), [(0x71, 0x70, 4, 0)]);
        assert_eq!(made(|a| a.store(Width::Byte, 7, 4, 0)), [(0x73, 0x07, 4, 0)]);
        assert_eq!(made(|a| a.store(Width::Word, FRAME, -4, 0)), [(0x63, 0x0a, -4, 0)]);
        assert_eq!(made(|a| a.store(Width::Double, FRAME, -8, 1)), [(0x7b, 0x1a, -8, 0)]);
        assert_eq!(made(|a| a.add_at_once(0, 0, 1)), [(0xdb, 0x10, 0, 0)]);
        assert_eq!(made(|a| a.constant(1, -5)), [(0xb7, 1, 0, -5)]);
        assert_eq!(made(|a| a.copy(2, FRAME)), [(0xbf, 0xa2, 0, 0)]);
        assert_eq!(made(|a| a.compute32(Compute::ShiftRight, 3, Operand::Constant(20))), [(0x74, 3, 0, 20)]);
        assert_eq!(made(|a| a.map(1, 9)), [(0x18, 0x11, 0, 9), (0, 0, 0, 0)]);
        assert_eq!(made(|a| a.wide(2, 0x1_0000_0002)), [(0x18, 2, 0, 2), (0, 0, 0, 1)]);
        assert_eq!(made(|a| a.call(14)), [(0x85, 0, 0, 14)]);
        assert_eq!(made(Assembler::exit), [(0xb7, 0, 0, 0), (0x95, 0, 0, 0)]);
    }

    #[test]
    fn jumps_count_from_the_instruction_after_them() {
        let program = made(|a| {
            let (back, end) = (a.label(), a.label());
            a.place(back);
            a.jump_if(1, When::Equal, Operand::Constant(3), end);
            a.jump_if(1, When::Less, Operand::Register(2), back);
            a.jump(end);
            a.place(end);
        });
        assert_eq!(program, [(0x15, 1, 2, 3), (0xcd, 0x21, -2, 0), (0x05, 0, 0, 0)]);
    }
}
