//! What /proc shows of one process or thread in its files `stat` and `schedstat` (proc(5)).

use std::fs;

/// The time that the first thread of a process has had a CPU, and that it has waited for one, in ns; `None` if unknown.
pub fn scheduled_ns(process: u32) -> Option<[f64; 2]> {
    let text = fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??])
}

/// The file `stat` of a process or thread, as it was when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskStat {
    /// A letter: `R` runs, `S` sleeps, `T` is stopped, `t` is stopped by its tracer, `Z` has ended and was not waited for.
    pub state: char,
    /// The process that created it, or that inherited it.
    pub parent: u32,
    pub group: u32,
    /// Page faults without a device.
    pub minor_faults: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
    /// Ticks in user mode.
    pub user_ticks: u64,
    /// Ticks in the kernel.
    pub system_ticks: u64,
    /// When it began, in ticks since the boot. No other task has both its id and this.
    pub began: u64,
}

impl TaskStat {
    /// The process with this id; `None` if it is gone.
    pub fn of_process(process: u32) -> Option<TaskStat> {
        TaskStat::read(&format!("/proc/{process}/stat"))
    }

    /// This thread of this process; `None` if it is gone.
    pub fn of_thread(process: u32, thread: u32) -> Option<TaskStat> {
        TaskStat::read(&format!("/proc/{process}/task/{thread}/stat"))
    }

    fn read(path: &str) -> Option<TaskStat> {
        // A name need not be valid UTF-8.
        TaskStat::parse(&String::from_utf8_lossy(&fs::read(path).ok()?))
    }

    pub fn parse(text: &str) -> Option<TaskStat> {
        // The second field is the name in parentheses, which may contain anything, parentheses and line ends too.
        let fields: Vec<&str> = text.rsplit_once(") ")?.1.split_whitespace().collect();
        // The first field after the name is number 3.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(TaskStat {
            state: fields.first()?.chars().next()?,
            parent: u32::try_from(field(4)?).ok()?,
            group: u32::try_from(field(5)?).ok()?,
            minor_faults: field(10)?,
            major_faults: field(12)?,
            user_ticks: field(14)?,
            system_ticks: field(15)?,
            began: field(22)?,
        })
    }

    /// True if it has ended and is kept only for its creator to see.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// Processor time of a process in ns; `None` if it has ended. Exact also while it runs.
pub fn processor_time(pid: libc::pid_t) -> Option<f64> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: the pointer is to a clockid.
    if unsafe { libc::clock_getcpuclockid(pid, &mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec.
    let status = unsafe { libc::clock_gettime(clock, &mut time) };
    (status == 0).then_some(time.tv_sec as f64 * 1e9 + time.tv_nsec as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_contain_anything() {
        let text = "7 (a) b (c\n) S 1 7 7 0 -1 4194560 11 22 33 44 3 1 0 0 20 0 1 0 9876 10 20";
        let expected = TaskStat {
            state: 'S',
            parent: 1,
            group: 7,
            minor_faults: 11,
            major_faults: 33,
            user_ticks: 3,
            system_ticks: 1,
            began: 9876,
        };
        assert_eq!(TaskStat::parse(text), Some(expected));
        assert_eq!(TaskStat::parse("7 (a) S 1"), None);
        assert_eq!(TaskStat::parse(""), None);
    }

    #[test]
    fn this_process_runs_and_an_impossible_one_does_not() {
        let own = std::process::id();
        let stat = TaskStat::of_process(own).expect("this process");
        assert!(!stat.has_ended() && stat.began > 0 && stat.minor_faults > 0, "{stat:?}");
        assert_eq!(TaskStat::of_thread(own, own).map(|stat| stat.began), Some(stat.began));
        assert!(TaskStat::of_process(1).is_none_or(|first| first.began <= stat.began));
        assert_eq!(TaskStat::of_process(u32::MAX >> 2), None);
    }
}
