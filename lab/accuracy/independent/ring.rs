//! An io_uring of one entry, made by hand after the kernel's manual.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use super::calls::made;
use super::entry::{Entry, Group, entry};
use super::harness::Work;
use super::kernel::done;

pub(super) const GROUP: Group = Group { title: "io_uring", entries: ENTRIES };

const ENTRIES: &[Entry] = &[
    entry("call.io_uring_enter", "", || {
        let ring = Ring::new([0; 8])?;
        Ok(Work::calls(move || ring.once(0)))
    }),
    entry("async.read.ring", "batch=1", || {
        const READ: u64 = 22;
        let file = File::open("/dev/zero").map_err(|error| error.to_string())?;
        let mut byte = Box::new(1_u8);
        let words = [READ | ((file.as_raw_fd() as u64) << 32), 0, &raw mut *byte as u64, 1, 0, 0, 0, 0];
        let ring = Ring::new(words)?;
        Ok(Work::calls(move || {
            let _keep = (&file, &byte);
            ring.once(1)
        }))
    }),
];

/// Where the kernel's answer to io_uring_setup says the parts of the rings are.
const TAIL_OF_REQUESTS: usize = 11;
const HEAD_OF_RESULTS: usize = 20;
const TAIL_OF_RESULTS: usize = 21;
const RESULTS: usize = 25;

/// Its memory is not unmapped: it goes with the process.
struct Ring {
    descriptor: File,
    requests: &'static AtomicU32,
    taken: &'static AtomicU32,
    results: &'static AtomicU32,
    /// Of each result the word that says what came of it.
    answers: [&'static AtomicU32; 2],
}

impl Ring {
    /// A ring whose only request is this one, again and again.
    fn new(request: [u64; 8]) -> Result<Ring, String> {
        const BYTES: usize = 4096;
        const REQUESTS: u64 = 0x1000_0000;
        let mut about = [0_u32; 30];
        let descriptor = made(call!(libc::SYS_io_uring_setup, 1, about.as_mut_ptr()))?;
        let map = |place: u64| {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
            done("mmap", call!(libc::SYS_mmap, 0_usize, BYTES, access, kind, descriptor.as_raw_fd(), place))
        };
        let (rings, requests) = (map(0)?, map(REQUESTS)?);
        let first = std::ptr::with_exposed_provenance_mut::<[u64; 8]>(requests);
        // SAFETY: the mapping is new and has room for one request.
        unsafe { first.write(request) };
        let word = |offset: usize| {
            let place = std::ptr::with_exposed_provenance::<AtomicU32>(rings + offset);
            // SAFETY: the mapping stays as long as the process; both sides use its words as atomics.
            unsafe { &*place }
        };
        let at = |part: usize| word(about[part] as usize);
        let answer = |number: usize| word(about[RESULTS] as usize + number * 16 + 8);
        Ok(Ring {
            requests: at(TAIL_OF_REQUESTS),
            taken: at(HEAD_OF_RESULTS),
            results: at(TAIL_OF_RESULTS),
            answers: [answer(0), answer(1)],
            descriptor,
        })
    }

    /// Hands the request over, waits for its result and takes it; whether that is this one.
    #[inline(always)]
    fn once(&self, wanted: u32) -> bool {
        const WAIT: u32 = 1;
        self.requests.store(self.requests.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
        let done = call!(libc::SYS_io_uring_enter, self.descriptor.as_raw_fd(), 1, 1, WAIT, 0, 0) == 1;
        let next = self.taken.load(Ordering::Relaxed);
        let there = self.results.load(Ordering::Acquire) != next;
        let right = self.answers[next as usize % 2].load(Ordering::Relaxed) == wanted;
        self.taken.store(next.wrapping_add(1), Ordering::Release);
        done && there && right
    }
}
