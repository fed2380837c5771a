//! The names of calls, and what is known of each by its name or number.

use std::collections::BTreeMap;

use catalogue::every_call;

use crate::counts::Call;
use crate::target::Detail;

/// Calls whose result is a number of bytes that were moved.
const MOVES: &[&str] = &[
    "read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2", "recvfrom",
    "sendto", "recvmsg", "sendmsg", "sendfile", "splice", "tee", "vmsplice", "copy_file_range", "getdents",
    "getdents64", "getrandom", "readlink", "readlinkat", "getcwd", "process_vm_readv", "process_vm_writev",
    "mq_timedreceive", "getxattr", "listxattr", "msgrcv",
];

/// Calls of 32-bit programs that never return: `exit` and `exit_group`.
#[cfg(target_arch = "x86_64")]
pub(crate) const NARROW_EXITS: [u16; 2] = [1, 252];
#[cfg(target_arch = "aarch64")]
pub(crate) const NARROW_EXITS: [u16; 2] = [1, 248];

/// The results of calls that a signal interrupted, with their sign turned: some are not seen by programs, because the kernel makes the
/// call again or turns them into `EINTR` (include/linux/errno.h, `ERESTARTSYS` to `ERESTART_RESTARTBLOCK`).
pub(crate) const RESTARTS: std::ops::RangeInclusive<u16> = 512..=516;

/// True if a call with this error was interrupted by a signal.
pub(crate) fn is_interruption(error: u16) -> bool {
    error == libc::EINTR as u16 || RESTARTS.contains(&error)
}

/// The names of calls, looked up once.
#[derive(Clone, Debug)]
pub struct CallNames {
    names: BTreeMap<u16, &'static str>,
    /// How much is counted of each call.
    pub(crate) detail: Detail,
    /// What a call takes outside of the two tracepoints between which samples are timed, in ns: one without a name, and one with a name.
    /// `None` if that was not determined.
    pub(crate) entry_ns: Option<(f64, f64)>,
    /// The same of a page fault.
    pub(crate) fault_entry_ns: Option<f64>,
}

impl Default for CallNames {
    fn default() -> CallNames {
        CallNames::new(Detail::All)
    }
}

impl CallNames {
    /// The names of calls of which this much is counted.
    pub fn new(detail: Detail) -> CallNames {
        let calls = every_call().into_iter();
        let names = calls.filter_map(|call| Some((u16::try_from(call.number).ok()?, call.name))).collect();
        CallNames { names, detail, entry_ns: None, fault_entry_ns: None }
    }

    /// What this call takes outside of its samples, in ns.
    pub(crate) fn entry_of(&self, call: Call) -> Option<f64> {
        self.entry_ns.map(|(plain, named)| if call.takes_name() { named } else { plain })
    }

    /// The kernel's name of a call. Those of other tables are named by their number.
    pub fn of(&self, call: Call) -> String {
        match call {
            Call::Native(number) => {
                self.names.get(&number).map_or_else(|| format!("number {number}"), |name| (*name).into())
            }
            Call::Narrow(number) => format!("32-bit number {number}"),
            Call::Short(number) => format!("x32 number {number}"),
            Call::Unknown(u16::MAX) => "number -1".into(),
            Call::Unknown(number) => format!("number {number}"),
        }
    }

    /// True if the sum of its results is known, and is the number of bytes that it moved.
    pub fn moves_bytes(&self, call: Call) -> bool {
        self.detail == Detail::All
            && matches!(call, Call::Native(number) if self.names.get(&number).is_some_and(|name| MOVES.contains(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_move_bytes_exist() {
        let names = CallNames::default();
        let known: Vec<&str> = every_call().iter().map(|call| call.name).collect();
        // Some calls are old: newer architectures lack them.
        let absent: Vec<&&str> = MOVES.iter().filter(|name| !known.contains(name)).collect();
        assert!(absent.len() <= 3, "{absent:?}");
        let call = |number: i64| Call::Native(number as u16);
        assert!(names.moves_bytes(call(libc::SYS_read)));
        assert!(!names.moves_bytes(call(libc::SYS_mmap)));
        assert_eq!(names.of(call(libc::SYS_read)), "read");
    }
}
