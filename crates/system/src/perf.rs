//! The kernel's performance events, perf_event_open(2): a counter or a tracepoint, and the ring in which the kernel leaves samples.
//! Knows nothing of what is counted.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

/// `struct perf_event_attr` (include/uapi/linux/perf_event.h) up to the clock. A kernel that knows less of it takes it if the rest is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PerfEvent {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup_events: u32,
    pub breakpoint_kind: u32,
    pub breakpoint: [u64; 2],
    pub branch_sample_type: u64,
    pub user_registers: u64,
    pub user_stack: u32,
    pub clock: i32,
}

impl PerfEvent {
    /// The flag: it is not counted until it is enabled.
    pub const DISABLED: u64 = 1;
    /// The flag: only user mode counts, which is all that a process without rights may count.
    pub const EXCLUDE_KERNEL: u64 = 1 << 5;
    /// The flag: the CPU's idle task does not count.
    pub const EXCLUDE_IDLE: u64 = 1 << 7;
    /// The kind: events that the kernel's software counts, `PERF_TYPE_SOFTWARE`.
    pub const SOFTWARE: u32 = 1;
    /// The flag: the hypervisor does not count.
    pub const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    /// The flag: samples have the time of `clock`.
    pub const USE_CLOCK: u64 = 1 << 25;

    /// `PERF_COUNT_SW_CPU_CLOCK`: a sample whenever so many ns of a CPU went by.
    pub fn cpu_clock(period_ns: u64) -> PerfEvent {
        PerfEvent { kind: PerfEvent::SOFTWARE, sample_period: period_ns, ..PerfEvent::default() }
    }

    /// Opens the event for this task (0 is the caller, -1 all) on this CPU (-1 is any). Fails with the kernel's
    /// refusal.
    pub fn open(mut self, task: i32, cpu: i32) -> io::Result<OwnedFd> {
        const NO_GROUP: i64 = -1;
        const CLOSE_ON_EXEC: u64 = 8;
        self.size = size_of::<PerfEvent>() as u32;
        let call = libc::SYS_perf_event_open;
        // SAFETY: the attributes live through the call, their size is in them, and the kernel only reads them.
        let event =
            unsafe { libc::syscall(call, &raw const self, i64::from(task), i64::from(cpu), NO_GROUP, CLOSE_ON_EXEC) };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel just gave us this descriptor, and nobody else knows it.
        Ok(unsafe { OwnedFd::from_raw_fd(event as i32) })
    }
}

/// A request to an event that is open, with a number. Fails with the kernel's refusal.
pub fn request(event: BorrowedFd<'_>, request: Request, argument: i32) -> io::Result<()> {
    // SAFETY: these requests take a number.
    match unsafe { libc::ioctl(event.as_raw_fd(), request as libc::Ioctl, argument) } {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `PERF_EVENT_IOC_*`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Request {
    Enable = 0x2400,
    Disable = 0x2401,
    SetProgram = 0x4004_2408,
}

/// What the kernel left in a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `PERF_RECORD_*`.
    pub kind: u32,
    /// `PERF_RECORD_MISC_*`.
    pub flags: u16,
    /// All behind the header.
    pub bytes: Vec<u8>,
}

impl Record {
    /// The kind of a sample, `PERF_RECORD_SAMPLE`.
    pub const SAMPLE: u32 = 9;
}

/// An event with the ring of its samples, `struct perf_event_mmap_page` and the pages behind it.
#[derive(Debug)]
pub struct SampledEvent {
    event: OwnedFd,
    ring: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the ring belongs to this value alone; the kernel does not mind which thread reads it.
unsafe impl Send for SampledEvent {}

/// Where the kernel has written to, and where we have read to, in the first page.
const HEAD: usize = 1024;
const TAIL: usize = 1032;
/// Bytes of a record's header: kind, flags, length of the whole record.
const HEADER: u64 = 8;

impl SampledEvent {
    /// The event with a ring of this many bytes, a power of two of at least a page. Fails if there is no memory for it,
    /// or a user may not lock as much.
    pub fn new(event: OwnedFd, bytes: usize) -> io::Result<SampledEvent> {
        let (all, access) = (page_size() + bytes, ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: the kernel chooses an address that nothing else has.
        let start = unsafe { mmap(std::ptr::null_mut(), all, access, MapFlags::SHARED, &event, 0) }?;
        Ok(SampledEvent { event, ring: NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?, bytes })
    }

    /// Lets it count, or not. Fails with the kernel's refusal.
    pub fn enable(&mut self, on: bool) -> io::Result<()> {
        request(self.event.as_fd(), if on { Request::Enable } else { Request::Disable }, 0)
    }

    /// Takes the oldest record that is left.
    pub fn next_record(&mut self) -> Option<Record> {
        let tail = self.position(TAIL).load(Ordering::Relaxed);
        if tail == self.position(HEAD).load(Ordering::Acquire) {
            return None;
        }
        let header = self.copied(tail, HEADER);
        let kind = u32::from_ne_bytes(header[..4].try_into().expect("four bytes"));
        let flags = u16::from_ne_bytes(header[4..6].try_into().expect("two bytes"));
        let length = u64::from(u16::from_ne_bytes(header[6..].try_into().expect("two bytes"))).max(HEADER);
        let bytes = self.copied(tail + HEADER, length - HEADER);
        self.position(TAIL).store(tail + length, Ordering::Release);
        Some(Record { kind, flags, bytes })
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the offset is inside of the first page.
        let place = unsafe { self.ring.as_ptr().add(offset) };
        // SAFETY: the number there is aligned, is only used as an atomic, and stays until this value is dropped.
        unsafe { AtomicU64::from_ptr(place.cast()) }
    }

    /// Bytes of the ring from a position that counts on through all its turns.
    fn copied(&self, from: u64, length: u64) -> Vec<u8> {
        let place = |at: u64| page_size() + (at as usize & (self.bytes - 1));
        let byte = |at: u64| {
            // SAFETY: the place is inside of the ring, whatever the kernel wrote into a header.
            let place = unsafe { self.ring.as_ptr().add(place(at)) };
            // SAFETY: bytes before the head stay as they are until the tail has passed them.
            unsafe { place.read() }
        };
        (from..from + length).map(byte).collect()
    }
}

impl Drop for SampledEvent {
    fn drop(&mut self) {
        // SAFETY: this is the whole of our mapping, which nothing uses any more. If it stays, only memory is lost.
        let _ = unsafe { munmap(self.ring.as_ptr().cast(), page_size() + self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_have_a_size_that_the_kernel_published() {
        assert_eq!(size_of::<PerfEvent>(), 96);
    }

    /// Faults of this thread, each with its time: more of them than the ring holds at once.
    #[test]
    fn samples_come_out_of_the_ring_turn_after_turn() {
        // `PERF_COUNT_SW_PAGE_FAULTS` and `PERF_SAMPLE_TIME`.
        let faults = PerfEvent {
            kind: PerfEvent::SOFTWARE,
            config: 2,
            sample_period: 1,
            sample_type: 1 << 2,
            flags: PerfEvent::DISABLED | PerfEvent::EXCLUDE_KERNEL | PerfEvent::EXCLUDE_HYPERVISOR,
            ..PerfEvent::default()
        };
        let event = match faults.open(0, -1) {
            Ok(event) => event,
            Err(error) => {
                return testing::not_tested!("events are refused: {error}; set kernel.perf_event_paranoid to 2");
            }
        };
        let pages = 100;
        let mut event = SampledEvent::new(event, page_size()).expect("a ring of one page");
        event.enable(true).expect("it counts");
        // Memory that is kept is not given out again, so all of it is touched for the first time.
        let (mut times, mut kept) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            let mut memory = vec![0_u8; pages * page_size()];
            memory.iter_mut().step_by(page_size()).for_each(|byte| *byte = 1);
            kept.push(memory);
            while let Some(record) = event.next_record() {
                assert_eq!((record.kind, record.bytes.len()), (Record::SAMPLE, 8), "a sample of one number");
                times.push(u64::from_ne_bytes(record.bytes.try_into().expect("eight bytes")));
            }
        }
        event.enable(false).expect("it stops");
        assert!(times.len() >= 20 * pages && times.is_sorted(), "{} samples", times.len());
    }
}
