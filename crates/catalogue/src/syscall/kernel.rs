//! Calls on the kernel itself: programs loaded into it, its counters and log, and calls that would replace it.

use std::os::fd::AsRawFd;

use operation::Operation;

use super::CALL;
use crate::kit::{Null, call, invoke, owned, producing, refusing, steadily, steady, tried};

/// Commands and types of linux/bpf.h.
const MAP_CREATE: i32 = 0;
const MAP_LOOKUP: i32 = 1;
const PROGRAM_LOAD: i32 = 5;
const ARRAY: u64 = 2;
const SOCKET_FILTER: u64 = 1;

/// Programs loaded in one batch: each takes at least a page of kernel memory, which is freed later.
const PROGRAMS: u64 = 32;

/// `PERF_FLAG_FD_CLOEXEC` of linux/perf_event.h.
const CLOSE_ON_EXEC: i32 = 8;

/// Flags that no version of the call has.
const UNKNOWN: usize = 0xff00;

const REFUSED: Operation = CALL.refused();

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.bpf", "look up a value in a BPF map").prepare(|_| {
        let (key, value) = (Box::new(0_u32), Box::new(0_u64));
        // SAFETY: the attributes of a new map contain no addresses.
        let map = owned(unsafe { invoke!(bpf, MAP_CREATE, &[ARRAY | 4 << 32, 8 | 1 << 32, 0, 0], 32) }?);
        let place = |word: *const u64| word as u64;
        let lookup = [map.as_raw_fd() as u64, place((&raw const *key).cast()), place(&raw const *value), 0];
        steady(move || {
            let _kept = (&map, &key, &value);
            // SAFETY: the attributes contain the addresses of a key and of a value of this map's sizes, which are kept.
            unsafe { invoke!(bpf, MAP_LOOKUP, &lookup, 32) }
        })
    }),
    CALL.named("call.bpf.load", "let the kernel verify and compile a BPF program of two instructions")
        .calls(&["bpf"])
        .prepare(|_| {
            // r0 = 0; exit
            let program = Box::new([0xb7_u64, 0x95]);
            let license = c"GPL";
            let load = [SOCKET_FILTER | 2 << 32, program.as_ptr() as u64, license.as_ptr() as u64, 0, 0, 0];
            let loaded = producing(move || {
                let _kept = &program;
                // SAFETY: the attributes contain the addresses of the program and of a constant text. The program is kept.
                Ok(owned(unsafe { invoke!(bpf, PROGRAM_LOAD, &load, 48) }?))
            });
            let mut loaded = tried(loaded.at_most(PROGRAMS))?;
            // Before Linux 5.11, programs count as locked memory.
            let reason = "too little memory may be locked for so many programs";
            let whole = loaded.perform(PROGRAMS);
            whole.map_err(|failure| failure.skip_on(&[libc::EPERM], reason, "ulimit -l unlimited, or Linux 5.11"))?;
            Ok(loaded)
        }),
    CALL.named("call.perf_event_open", "open a performance counter of this process's time, while another one is open")
        .version(2)
        .prepare(|_| {
            // The structure perf_event_attr: a software event, 64 bytes, the clock of the task; disabled, user code only.
            let counter = [1_u64 | 64 << 32, 1, 0, 0, 0, 1 | 1 << 5 | 1 << 6, 0, 0];
            // SAFETY: the attributes are as large as they say.
            let open = move || Ok(owned(unsafe { invoke!(perf_event_open, &counter, 0, -1, -1, CLOSE_ON_EXEC) }?));
            // The first such event on the machine patches the kernel's code and waits for all CPUs.
            let first = open()?;
            tried(producing(move || {
                let _kept = &first;
                open()
            }))
        }),
    CALL.named("call.syslog", "ask for the size of the kernel's log").prepare(|_| {
        const SIZE: i32 = 10;
        steadily(call::syslog(SIZE, Null)?, || call::syslog(SIZE, Null))
    }),
    REFUSED
        .named("call.restart_syscall", "restart an interrupted call, although none was interrupted")
        .prepare(|_| refusing(&[libc::EINTR], call::restart_syscall)),
    REFUSED
        .named("call.reboot", "fail to restart the machine (wrong magic number)")
        .prepare(|_| refusing(&[libc::EINVAL, libc::EPERM], || call::reboot(0, 0, 0, Null))),
    REFUSED
        .named("call.init_module", "fail to load an empty module")
        .prepare(|_| refusing(&[libc::ENOEXEC, libc::EPERM], || call::init_module(Null, c""))),
    REFUSED
        .named("call.finit_module", "fail to load a module without a file")
        .prepare(|_| refusing(&[libc::EBADF, libc::EPERM], || call::finit_module(-1, c"", 0))),
    REFUSED
        .named("call.delete_module", "fail to remove a module that is not loaded")
        .prepare(|_| refusing(&[libc::ENOENT, libc::EPERM], || call::delete_module(c"howslow-none", libc::O_NONBLOCK))),
    REFUSED
        .named("call.kexec_load", "fail to load a kernel (unknown flags)")
        .prepare(|_| refusing(&[libc::EINVAL, libc::EPERM], || call::kexec_load(0, 0, Null, UNKNOWN))),
    REFUSED
        .named("call.kexec_file_load", "fail to load a kernel (unknown flags)")
        .prepare(|_| refusing(&[libc::EINVAL, libc::EPERM], || call::kexec_file_load(-1, -1, 0, Null, UNKNOWN))),
];
