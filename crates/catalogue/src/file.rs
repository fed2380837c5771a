//! Files: calls on one file, reading and writing whole files by every method, sparse files and keyed files.

pub(crate) mod access;
pub(crate) mod direct;
pub(crate) mod keyed;
pub(crate) mod moving;
pub mod reading;
pub mod residence;
pub(crate) mod sparse;
pub(crate) mod stream;
pub(crate) mod writing;
