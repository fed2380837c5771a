//! The processor by itself: the loop that everything is timed in, single instructions, clocks, and the walls between
//! procedures.

pub(crate) mod clock;
pub(crate) mod crossing;
pub(crate) mod empty;
pub(crate) mod flag;
pub(crate) mod instruction;
