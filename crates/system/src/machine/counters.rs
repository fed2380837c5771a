//! Whether hardware counters are available. It tries to count cycles.

use record::Counters;

use crate::perf::PerfEvent;

/// Whether this process can count its cycles.
pub fn available() -> Counters {
    // The kind PERF_TYPE_HARDWARE and its event PERF_COUNT_HW_CPU_CYCLES are both 0.
    let flags = PerfEvent::EXCLUDE_KERNEL | PerfEvent::EXCLUDE_HYPERVISOR;
    let counter = match (PerfEvent { flags, ..PerfEvent::default() }).open(0, -1) {
        Ok(counter) => counter,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Counters::Refused,
        Err(_) => return Counters::Absent,
    };
    let mut count = [0; 8];
    // Some hypervisors open a counter that never counts.
    match rustix::io::read(&counter, &mut count) {
        Ok(8) if u64::from_ne_bytes(count) > 0 => Counters::Available,
        _ => Counters::Absent,
    }
}
