//! Programs at events that the kernel counts for each CPU, by perf_event_open(2).

use std::io;
use std::os::fd::AsFd;

use system::perf::{PerfEvent, Request, request};

use super::sys::{Attachment, Program};

/// `PERF_COUNT_SW_PAGE_FAULTS_MIN` and `PERF_COUNT_SW_PAGE_FAULTS_MAJ` in user mode: a page fault was handled, without and with a device.
pub(super) fn faults() -> [PerfEvent; 2] {
    let event = PerfEvent { kind: PerfEvent::SOFTWARE, sample_period: 1, ..PerfEvent::default() };
    [5, 6].map(|config| PerfEvent { config, flags: PerfEvent::EXCLUDE_KERNEL, ..event })
}

/// So many ns of a CPU went by in which it was not idle.
pub(super) fn clock(ns: u64) -> PerfEvent {
    PerfEvent { flags: PerfEvent::EXCLUDE_IDLE, ..PerfEvent::cpu_clock(ns) }
}

/// Runs the program at these events on all CPUs, until the result is dropped.
pub(super) fn attach(program: &Program, event: PerfEvent) -> io::Result<Vec<Attachment>> {
    let event = PerfEvent { flags: event.flags | PerfEvent::DISABLED, ..event };
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

/// CPUs of a machine that does not report them.
const ASSUMED_CPUS: usize = 256;

/// The number of CPUs that may ever come up: the highest number of a CPU, plus 1.
pub(super) fn possible_cpus() -> usize {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<usize>().ok());
    last.map_or(ASSUMED_CPUS, |last| last + 1)
}
