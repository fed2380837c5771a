//! What counting costs a system call: calls of howslow's own, which are alternately counted and not.

pub(crate) mod added;
mod counted;
mod followed;
mod sampled;
mod switched;
mod touched;

pub(crate) use added::Added;
pub(crate) use counted::counted_calls;
pub(crate) use followed::{can_follow, followed_calls};
