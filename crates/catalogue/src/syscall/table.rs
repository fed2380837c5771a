//! The table of all system calls of this architecture, and why some of them cannot be timed. Knows no operation.

use syscalls::Sysno;

use crate::kit::library;

/// Numbers of calls that only 32-bit architectures have (include/uapi/asm-generic/unistd.h). The crate `syscalls` also
/// lists them for aarch64.
const ONLY_32_BIT: std::ops::RangeInclusive<i32> = 403..=423;

/// Calls newer than the table of the crate `syscalls`, with the first Linux that has them
/// (arch/x86/entry/syscalls/syscall_64.tbl and scripts/syscall.tbl; the numbers are those of every architecture).
const NEWER: &[(i32, &str, (u32, u32))] = &[(470, "listns", (6, 19)), (471, "rseq_slice_yield", (7, 0))];

/// Why a call cannot be timed. On x86-64, the calls listed as gone answer ENOSYS on Linux 6.18, and `uretprobe` kills the
/// process.
const REASONS: &[(&str, &str)] = &[
    ("_sysctl", "gone since Linux 5.5"),
    ("afs_syscall", "a reserved name: Linux never had it"),
    ("create_module", "gone since Linux 2.6"),
    ("epoll_ctl_old", "a reserved name: no released Linux had it"),
    ("epoll_wait_old", "a reserved name: no released Linux had it"),
    ("get_kernel_syms", "gone since Linux 2.6"),
    ("get_thread_area", "only 32-bit programs have it"),
    ("getpmsg", "a reserved name: Linux never had it"),
    ("listns", "newer than this howslow"),
    ("lookup_dcookie", "gone since Linux 6.7"),
    ("nfsservctl", "gone since Linux 3.1"),
    ("putpmsg", "a reserved name: Linux never had it"),
    ("query_module", "gone since Linux 2.6"),
    ("rseq_slice_yield", "newer than this howslow"),
    ("security", "a reserved name: Linux never had it"),
    ("set_thread_area", "only 32-bit programs have it"),
    ("tuxcall", "a reserved name: Linux never had it"),
    ("uprobe", "only the kernel's trampoline may make it; elsewhere it is refused"),
    ("uretprobe", "only the kernel's trampoline may make it; elsewhere it kills the program"),
    ("uselib", "gone with the a.out libraries it loaded"),
    ("vserver", "a reserved name: Linux never had it"),
];

/// Number and name of every call of this architecture's table, by number, followed by calls that only the running kernel
/// has.
pub(crate) fn known() -> Vec<(i32, &'static str)> {
    // By number, because the crate's own iterator omits the last call.
    let numbers = (0..=Sysno::last().id()).filter(|number| !ONLY_32_BIT.contains(number));
    let known = numbers.filter_map(|number| match Sysno::new(number as usize)?.name() {
        // The crate uses the C library's name for the one call that has another name in the kernel's aarch64 table.
        "fstatat" => Some((number, "newfstatat")),
        name => Some((number, name)),
    });
    let running = running();
    let newer = NEWER.iter().filter(|(number, _, since)| *number > Sysno::last().id() && *since <= running);
    let mut calls: Vec<_> = known.chain(newer.map(|&(number, name, _)| (number, name))).collect();
    calls.sort_unstable();
    calls
}

/// Why the call with this name cannot be timed.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    REASONS.iter().find(|(call, _)| *call == name).map(|(_, reason)| *reason)
}

/// The running kernel's version, as far as its release string shows.
fn running() -> (u32, u32) {
    let name = library::uname();
    let release = name.release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_are_in_order_and_each_newer_call_is_timed_or_has_one() {
        assert!(REASONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let timed =
            |name: &str| crate::registry::all().any(|operation| operation.system_calls().any(|call| call == name));
        assert!(NEWER.iter().all(|(_, name, _)| timed(name) || reason(name).is_some()));
    }

    #[test]
    fn the_running_kernel_has_a_version() {
        assert!(running() > (2, 0));
    }
}
