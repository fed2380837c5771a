//! Programs at events that the kernel counts for each CPU, by perf_event_open(2).

use std::io;
use std::os::fd::AsRawFd;

use super::sys::{Attachment, Program, owned};

/// `PERF_COUNT_SW_PAGE_FAULTS_MIN` and `PERF_COUNT_SW_PAGE_FAULTS_MAJ`: a page fault was handled, without and with a device.
pub(super) const FAULTS: [u64; 2] = [5, 6];

/// `struct perf_event_attr` of its first version (include/uapi/linux/perf_event.h).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample: u64,
    read: u64,
    flags: u64,
    rest: [u64; 2],
}

/// Runs the program at each of these events in user mode on all CPUs, until the result is dropped.
///
/// # Errors
/// If this process may not.
pub(super) fn attach(program: &Program, events: &[u64]) -> io::Result<Vec<Attachment>> {
    /// `PERF_TYPE_SOFTWARE`.
    const SOFTWARE: u32 = 1;
    /// `disabled` and `exclude_kernel`.
    const FLAGS: u64 = 1 | 1 << 5;
    let mut attached = Vec::new();
    for cpu in 0..possible_cpus() {
        for config in events {
            let size = size_of::<Attributes>() as u32;
            let attributes =
                Attributes { kind: SOFTWARE, size, config: *config, period: 1, flags: FLAGS, ..Attributes::default() };
            match attach_one(program, &attributes, cpu) {
                // The CPU is switched off.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
                event => attached.push(event?),
            }
        }
    }
    Ok(attached)
}

fn attach_one(program: &Program, attributes: &Attributes, cpu: usize) -> io::Result<Attachment> {
    /// `PERF_EVENT_IOC_SET_BPF` and `PERF_EVENT_IOC_ENABLE`, and closing on execution.
    const SET_PROGRAM: libc::Ioctl = 0x4004_2408;
    const ENABLE: libc::Ioctl = 0x2400;
    const CLOSE_ON_EXEC: u64 = 8;
    let (any_task, no_group) = (-1_i64, -1_i64);
    // SAFETY: the attributes live through the call, their size is in them, and the kernel only reads them.
    let event = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            any_task,
            cpu as i64,
            no_group,
            CLOSE_ON_EXEC,
        )
    };
    let event = if event < 0 { return Err(io::Error::last_os_error()) } else { owned(event as i32) };
    for (request, argument) in [(SET_PROGRAM, program.descriptor()), (ENABLE, 0)] {
        // SAFETY: both requests take a number.
        if unsafe { libc::ioctl(event.as_raw_fd(), request, argument) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(Attachment { _descriptor: event })
}

/// CPUs of a machine that does not tell them.
const UNTOLD_CPUS: usize = 256;

/// The number of CPUs that may ever come up: the highest number of a CPU, plus 1.
pub(super) fn possible_cpus() -> usize {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<usize>().ok());
    last.map_or(UNTOLD_CPUS, |last| last + 1)
}
