//! What tasks have used so far, according to the kernel's accounts.

/// Processor time in ns, and counts, since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// Time in user mode, in ns.
    pub user: f64,
    /// Time in the kernel, in ns.
    pub system: f64,
    /// Page faults without a read from a device.
    pub minor_faults: f64,
    /// Page faults with a read from a device.
    pub major_faults: f64,
    /// Context switches because a task waited.
    pub voluntary: f64,
    /// Context switches because the CPU was taken away from a task.
    pub involuntary: f64,
}

impl Usage {
    /// What this process alone has used since it began.
    pub fn of_this_process() -> Usage {
        resources(libc::RUSAGE_SELF)
    }

    /// What the calling thread alone has used since it began.
    pub fn of_this_thread() -> Usage {
        resources(libc::RUSAGE_THREAD)
    }

    /// The usage of all children that this process has waited for.
    pub fn of_reaped_children() -> Usage {
        resources(libc::RUSAGE_CHILDREN)
    }

    /// What was used between `earlier` and now.
    pub fn since(self, earlier: Usage) -> Usage {
        self.with(earlier, |now, then| now - then)
    }

    /// The sum of both.
    pub fn plus(self, other: Usage) -> Usage {
        self.with(other, |one, other| one + other)
    }

    #[inline(always)]
    fn with(self, other: Usage, each: impl Fn(f64, f64) -> f64) -> Usage {
        Usage {
            user: each(self.user, other.user),
            system: each(self.system, other.system),
            minor_faults: each(self.minor_faults, other.minor_faults),
            major_faults: each(self.major_faults, other.major_faults),
            voluntary: each(self.voluntary, other.voluntary),
            involuntary: each(self.involuntary, other.involuntary),
        }
    }
}

fn resources(who: libc::c_int) -> Usage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage.
    let status = unsafe { libc::getrusage(who, usage.as_mut_ptr()) };
    if status != 0 {
        return Usage::default();
    }
    // SAFETY: all bits zero is a valid rusage, and the call only writes valid ones.
    let usage = unsafe { usage.assume_init() };
    let time = |t: libc::timeval| t.tv_sec as f64 * 1e9 + t.tv_usec as f64 * 1e3;
    Usage {
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        minor_faults: usage.ru_minflt as f64,
        major_faults: usage.ru_majflt as f64,
        voluntary: usage.ru_nvcsw as f64,
        involuntary: usage.ru_nivcsw as f64,
    }
}
