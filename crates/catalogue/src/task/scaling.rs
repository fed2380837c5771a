//! The same work on more and more CPUs: computing, and system calls that share nothing or share a file. Memory-bound work
//! by CPUs is with memory (`memory.read.cpus`), the address space with contention.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use operation::{Axis, Failure, Operation, cpus, numbers};

use crate::kit::{BASE, Computing, Seats, Work, call, exactly, owned, together};

const CPUS: Axis = cpus("cpus", numbers![1, 2, 4, 8]);

/// Dependent steps of a unit of computing: some microseconds.
const STEPS: u64 = 1 << 12;

pub(crate) const OPERATIONS: &[Operation] = &[
    SCALING
        .named("scaling.compute", "compute 4096 dependent steps within the core, on several CPUs at once")
        .per("4096 steps on every CPU")
        .prepare(|setting| {
            let seats = Seats::apart(setting, setting.number("cpus")?)?;
            together(setting, &seats, |seat| Ok(Computing::new(STEPS, seat.seed)))
        }),
    SCALING
        .id("scaling.call")
        .summary("get the parent's process id, which shares no data with other CPUs, on several CPUs at once")
        .per("call on every CPU")
        .prepare(|setting| {
            let seats = Seats::apart(setting, setting.number("cpus")?)?;
            together(setting, &seats, |_| {
                let parent = call::getppid()?;
                Ok(CallsOf { call: move || exactly(parent, call::getppid()?), done: Ok(()) })
            })
        }),
    SCALING
        .id("scaling.open")
        .summary("open and close one file, whose counts of users all CPUs change, on several CPUs at once")
        .per("open and close on every CPU")
        .prepare(|setting| {
            let path = setting.scratch().join("opened");
            std::fs::write(&path, b"")?;
            let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| Failure::wrong("a path with a zero"))?;
            let seats = Seats::apart(setting, setting.number("cpus")?)?;
            together(setting, &seats, move |_| {
                let path = path.clone();
                let open = move || {
                    let file = call::openat(libc::AT_FDCWD, &path, libc::O_RDONLY | libc::O_CLOEXEC, 0)?;
                    exactly(0, call::close(owned(file))?)
                };
                Ok(CallsOf { call: open, done: Ok(()) })
            })
        }),
];

const SCALING: Operation = BASE.axes(&[CPUS]).monotonic_in(&["cpus"]);

/// A call that is repeated, and how the last repetitions ended.
struct CallsOf<F> {
    call: F,
    done: Result<(), Failure>,
}

impl<F: Fn() -> Result<(), Failure> + 'static> Work for CallsOf<F> {
    fn work(&mut self, times: u64) {
        self.done = (0..times).try_for_each(|_| (self.call)());
    }

    fn check(&mut self, _: u64) -> Result<(), Failure> {
        std::mem::replace(&mut self.done, Ok(()))
    }
}
