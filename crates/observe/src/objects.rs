//! What a descriptor stands for, and which calls are distinguished by it.

use std::sync::OnceLock;

use crate::naming::by_number;

/// Kinds, of which 0 is not known.
pub(crate) const KINDS: &[&str] = &[
    "", "file", "tmpfs", "proc", "sys", "pipe", "tcp", "udp", "unix", "socket", "eventfd", "timerfd", "epoll", "tty",
    "null", "random", "folder", "device", "other",
];

/// The place of a kind.
pub(crate) fn kind(word: &str) -> i32 {
    KINDS.iter().position(|known| *known == word).unwrap_or(0) as i32
}

/// Calls that are counted by the object of the descriptor that is their first argument, those that return one, and the one that closes many.
/// The first place stands for all other calls.
pub(crate) const CALLS: &[&str] = &[
    "", "read", "write", "pread64", "pwrite64", "readv", "writev", "recvfrom", "sendto", "recvmsg", "sendmsg",
    "connect", "close", "open", "openat", "close_range",
];
/// The place of `close`, of the first call that returns a descriptor, and of `close_range`.
pub(crate) const CLOSE: i32 = 12;
pub(crate) const OPENS: i32 = 13;
pub(crate) const CLOSES_MANY: i32 = 15;

/// The place of each call, by its number.
pub(crate) fn places() -> &'static [u8] {
    static PLACES: OnceLock<Vec<u8>> = OnceLock::new();
    PLACES.get_or_init(|| by_number(|call| CALLS.iter().position(|name| *name == call).unwrap_or(0) as u8))
}

/// The number of the call with this place, if this architecture has it.
pub(crate) fn number(place: usize) -> Option<u16> {
    places().iter().position(|known| usize::from(*known) == place).map(|number| number as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_kinds_have_the_places_that_programs_use() {
        let name = |place: i32| CALLS[place as usize];
        assert_eq!([CLOSE, OPENS, CLOSES_MANY].map(name), ["close", "open", "close_range"]);
        assert_eq!(places()[libc::SYS_read as usize], 1);
        assert_eq!(places()[libc::SYS_getpid as usize], 0);
        assert_eq!(KINDS[kind("epoll") as usize], "epoll");
    }
}
