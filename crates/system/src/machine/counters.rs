//! Whether hardware counters are available. It tries to count cycles.

use std::os::fd::{FromRawFd, OwnedFd};

use record::Counters;

/// The first published size of the kernel's `perf_event_attr`; every kernel since 2.6.31 takes it.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_kind: u32,
    breakpoint_address: u64,
}

/// Count only user mode: an unprivileged process may count nothing else by default.
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;

/// Whether this process can count its cycles.
pub fn available() -> Counters {
    // PERF_TYPE_HARDWARE and PERF_COUNT_HW_CPU_CYCLES are both 0.
    let attributes = Attributes {
        kind: 0,
        size: size_of::<Attributes>() as u32,
        config: 0,
        sample_period: 0,
        sample_type: 0,
        read_format: 0,
        flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        wakeup_events: 0,
        breakpoint_kind: 0,
        breakpoint_address: 0,
    };
    // SAFETY: the attributes live through the call, their size is in them, and the kernel only reads them. The other
    // arguments: this thread, any CPU, no group, close on exec.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0_i64, -1_i64, -1_i64, 8_u64) };
    let Ok(descriptor @ 0..) = i32::try_from(descriptor) else {
        return match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => Counters::Refused,
            _ => Counters::Absent,
        };
    };
    // SAFETY: the kernel just gave us this descriptor, and nobody else knows it.
    let counter = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let mut count = [0; 8];
    // Some hypervisors open a counter that never counts.
    match rustix::io::read(&counter, &mut count) {
        Ok(8) if u64::from_ne_bytes(count) > 0 => Counters::Available,
        _ => Counters::Absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_have_their_published_size() {
        assert_eq!(size_of::<Attributes>(), 64);
    }
}
