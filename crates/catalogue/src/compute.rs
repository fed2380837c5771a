//! Computations: numbers to text and back, and sorting.

pub(crate) mod convert;
pub(crate) mod sort;
