//! What machine this is, and the processes that work on it: [`machine`] describes, [`guard`] runs work in a child process that
//! may crash, hang, multiply or vanish. [`perf`] opens events that the kernel counts, [`mapped`] is memory of its own, [`ignored`] are signals.

pub mod guard;
pub mod ignored;
pub mod machine;
pub mod mapped;
pub mod perf;
