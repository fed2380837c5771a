//! The same work on more and more CPUs: computing, and system calls that share nothing or share a file. Memory-bound work
//! by CPUs is with memory (`memory.read.cpus`), the address space with contention.

use operation::Operation;

use crate::kit::{BASE, CPUS, Computing, Repeated, Seats, c_path, call, exactly, owned, together};

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
                Ok(Repeated::new(move || exactly(parent, call::getppid()?)))
            })
        }),
    SCALING
        .id("scaling.open")
        .summary("open and close one file, whose counts of users all CPUs change, on several CPUs at once")
        .per("open and close on every CPU")
        .prepare(|setting| {
            let path = setting.scratch().join("opened");
            std::fs::write(&path, b"")?;
            let path = c_path(&path)?;
            let seats = Seats::apart(setting, setting.number("cpus")?)?;
            together(setting, &seats, move |_| {
                let path = path.clone();
                Ok(Repeated::new(move || {
                    let file = call::openat(libc::AT_FDCWD, &path, libc::O_RDONLY | libc::O_CLOEXEC, 0)?;
                    exactly(0, call::close(owned(file))?)
                }))
            })
        }),
];

const SCALING: Operation = BASE.axes(&[CPUS]).monotonic_in(&["cpus"]);
