//! A program that a mode runs, and its input.

use operation::Failure;
use rustix::fd::OwnedFd;

/// A program ready to run. Given a count, it does this number of steps and returns the sum of their results.
pub type GuestProgram = Box<dyn FnMut(u64) -> Result<u64, Failure>>;

/// The input of a program, whatever the mode, and its code as a guest.
pub struct Guest {
    pub name: &'static str,
    /// The WebAssembly binary, translated from the text beside it.
    pub code: &'static [u8],
    /// The words of its memory: one that says how large or how many, and the table that it iterates over.
    pub memory: Vec<u64>,
    pub files: Vec<OwnedFd>,
}
