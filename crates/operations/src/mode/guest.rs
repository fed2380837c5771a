//! A program that a mode runs, and what it works on.

use operation::Failure;
use rustix::fd::OwnedFd;

/// A program ready to run: given a count, it takes so many steps and returns what their results add up to.
pub(super) type Program = Box<dyn FnMut(u64) -> Result<u64, Failure>>;

/// What a program works on, whatever the mode, and its code as a guest.
pub(super) struct Guest {
    /// By which the native programs are found.
    pub(super) name: &'static str,
    /// WebAssembly, translated from the text beside it.
    #[cfg_attr(not(feature = "modes"), expect(dead_code, reason = "only an engine reads it"))]
    pub(super) code: &'static [u8],
    /// The words of its memory: one that says how large or how many, and the table it goes through.
    pub(super) memory: Vec<u64>,
    /// Open files.
    pub(super) files: Vec<OwnedFd>,
}
