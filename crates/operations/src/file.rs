//! Files: calls on one file, whole files read and written by every method, sparse and keyed ones.

pub(crate) mod access;
pub(crate) mod keyed;
pub(crate) mod moving;
pub mod reading;
pub mod residence;
pub(crate) mod sparse;
pub(crate) mod stream;
pub(crate) mod writing;
