//! Programs at events that the kernel counts for each CPU, by perf_event_open(2).

use std::io;
use std::os::fd::AsFd;

use system::perf::{PerfEvent, Request, request};

use super::sys::{Attachment, Program};

/// Events that the kernel's software counts (`PERF_TYPE_SOFTWARE`).
#[derive(Clone, Copy, Debug)]
pub(super) struct SoftwareEvent {
    config: u64,
    /// How many of them make the program run once.
    period: u64,
    flags: u64,
}

/// `PERF_COUNT_SW_PAGE_FAULTS_MIN` and `PERF_COUNT_SW_PAGE_FAULTS_MAJ` in user mode: a page fault was handled, without and with a device.
pub(super) const FAULTS: [SoftwareEvent; 2] = [
    SoftwareEvent { config: 5, period: 1, flags: PerfEvent::EXCLUDE_KERNEL },
    SoftwareEvent { config: 6, period: 1, flags: PerfEvent::EXCLUDE_KERNEL },
];

impl SoftwareEvent {
    /// `PERF_COUNT_SW_CPU_CLOCK`: so many ns of a CPU went by in which it was not idle.
    pub(super) fn clock(ns: u64) -> SoftwareEvent {
        SoftwareEvent { config: 0, period: ns, flags: PerfEvent::EXCLUDE_IDLE }
    }
}

/// Runs the program at these events on all CPUs, until the result is dropped.
///
/// # Errors
/// If this process may not.
pub(super) fn attach(program: &Program, event: SoftwareEvent) -> io::Result<Vec<Attachment>> {
    let SoftwareEvent { config, period, flags } = event;
    let flags = PerfEvent::DISABLED | flags;
    let event = PerfEvent { kind: PerfEvent::SOFTWARE, config, sample_period: period, flags, ..PerfEvent::default() };
    let mut attached = Vec::new();
    for cpu in 0..possible_cpus() {
        match attach_one(program, event, cpu as i32) {
            // The CPU is switched off.
            Err(error) if error.raw_os_error() == Some(libc::ENODEV) => {}
            event => attached.push(event?),
        }
    }
    Ok(attached)
}

fn attach_one(program: &Program, event: PerfEvent, cpu: i32) -> io::Result<Attachment> {
    let event = event.open(-1, cpu)?;
    request(event.as_fd(), Request::SetProgram, program.descriptor())?;
    request(event.as_fd(), Request::Enable, 0)?;
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
