//! How the scheduler treats a task: class, nice value and time slice, set and read back (sched_setattr, sched_getattr).

use crate::failure::Failure;

/// How the kernel schedules a task: the structure `sched_attr` of its first version.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scheduling {
    /// Bytes of this structure; [`Scheduling::set`] fills it in.
    pub size: u32,
    /// The class: `SCHED_OTHER`, `SCHED_IDLE` and so on.
    pub policy: u32,
    /// `SCHED_FLAG_*`.
    pub flags: u64,
    /// The nice value of classes that share the CPU.
    pub nice: i32,
    /// The priority of real-time classes.
    pub priority: u32,
    /// The time slice in ns, of classes that share the CPU (Linux 6.12 and later). 0 requests the usual one.
    pub runtime: u64,
    /// The deadline in ns, of `SCHED_DEADLINE`.
    pub deadline: u64,
    /// The period in ns, of `SCHED_DEADLINE`.
    pub period: u64,
}

impl Scheduling {
    /// Of the calling task. Fails if the kernel lacks the call.
    pub fn own() -> Result<Scheduling, Failure> {
        let mut own = Scheduling::default();
        let size = size_of::<Scheduling>();
        // SAFETY: concerns the calling task; the pointer is to a structure of this size, which may hold any numbers.
        match unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut own, size, 0) } {
            0 => Ok(own),
            _ => Err(Failure::last_os_error()),
        }
    }

    /// Has the calling task treated like this. Fails if the class or the nice value is refused.
    pub fn set(self) -> Result<(), Failure> {
        self.set_for(0)
    }

    /// The same for this task; 0 is the calling one.
    pub fn set_for(self, task: libc::pid_t) -> Result<(), Failure> {
        let reported = Scheduling { size: size_of::<Scheduling>() as u32, ..self };
        // SAFETY: concerns this task alone; the pointer is to a structure of the size that it says.
        match unsafe { libc::syscall(libc::SYS_sched_setattr, task, &raw const reported, 0) } {
            0 => Ok(()),
            _ => Err(Failure::last_os_error()),
        }
    }

    /// The same, and reads back that the kernel took the time slice. Skips if it takes none.
    pub fn set_slice(self) -> Result<(), Failure> {
        self.set()?;
        if Scheduling::own()?.runtime == self.runtime {
            return Ok(());
        }
        Err(Failure::skip("this kernel does not take a time slice that a task asks for", "Linux 6.12 or later"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_set_and_read_back_and_taken_back() {
        let thread = std::thread::spawn(|| {
            let usual = Scheduling::own().expect("the kernel tells");
            match (Scheduling { runtime: 7_000_000, ..usual }).set_slice() {
                Err(Failure::Skip { reason, remedy }) => return testing::not_tested!("{reason}; {remedy}"),
                set => set.expect("a slice"),
            }
            assert_eq!(Scheduling::own().expect("again").runtime, 7_000_000);
            Scheduling { runtime: 0, ..usual }.set().expect("the usual one");
            assert_eq!(Scheduling::own().expect("again").runtime, usual.runtime);
            // More than the kernel gives is not taken as asked.
            let long = Scheduling { runtime: 3_000_000_000, ..usual };
            assert!(matches!(long.set_slice(), Err(Failure::Skip { .. })));
        });
        thread.join().expect("see above");
    }
}
