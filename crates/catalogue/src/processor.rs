//! The processor alone: the loop around all operations, single instructions, clocks, and the boundaries between procedures.

pub(crate) mod clock;
pub(crate) mod crossing;
pub(crate) mod empty;
pub(crate) mod flag;
pub(crate) mod instruction;
