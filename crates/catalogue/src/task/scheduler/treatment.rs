//! How the measured task is treated by the scheduler, and that it is so for its batches alone.

use operation::{Failure, Scheduling, Setting};

use crate::kit::{call, exactly};

/// How a point has its task treated.
pub(super) fn treated(word: &str) -> Result<Scheduling, Failure> {
    let usual = Scheduling { runtime: 0, ..Scheduling::own()? };
    let with_policy = |policy: i32| Scheduling { policy: policy as u32, ..usual };
    Ok(match word {
        "usual" => usual,
        "nice-minus-10" => Scheduling { nice: -10, ..usual },
        "nice-plus-10" => Scheduling { nice: 10, ..usual },
        "batch" => with_policy(libc::SCHED_BATCH),
        "idle" => with_policy(libc::SCHED_IDLE),
        "fifo" => Scheduling { priority: 1, ..with_policy(libc::SCHED_FIFO) },
        "round-robin" => Scheduling { priority: 1, ..with_policy(libc::SCHED_RR) },
        other => Scheduling { runtime: slice(other.trim_start_matches("slice-"))?, ..usual },
    })
}

/// A treatment that is taken on for a batch alone, since the clock's checks run between batches.
pub(super) struct Treatment {
    wanted: Scheduling,
    usual: Scheduling,
}

impl Treatment {
    /// Tries it once. Skips if it is refused, or the time slice is not taken.
    pub(super) fn of(setting: &Setting, word: &str) -> Result<Treatment, Failure> {
        let usual = Scheduling { runtime: 0, ..Scheduling::own()? };
        let treatment = Treatment { wanted: treated(word)?, usual };
        let tried = if treatment.wanted.runtime > 0 { treatment.wanted.set_slice() } else { treatment.wanted.set() };
        tried.map_err(Failure::into_skip)?;
        let slice = match treatment.wanted.policy as i32 {
            libc::SCHED_FIFO => 0,
            libc::SCHED_RR => turn()?,
            _ => Scheduling::own()?.runtime,
        };
        treatment.end()?;
        if slice > 0 {
            setting.tally("ns of its time slice").pass(slice);
        }
        setting.tally("autogroups on").pass(u64::from(autogroups()));
        Ok(treatment)
    }

    pub(super) fn begin(&self) -> Result<(), Failure> {
        self.wanted.set()
    }

    pub(super) fn end(&self) -> Result<(), Failure> {
        self.usual.set()
    }
}

/// Whether the kernel makes a group of each session.
pub(super) fn autogroups() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled").is_ok_and(|text| text.trim() == "1")
}

/// The time slice of the calling task in ns, if it is of the class that takes turns (SCHED_RR). Fails if the kernel
/// lacks the call.
fn turn() -> Result<u64, Failure> {
    let mut time = [0_u64; 2];
    exactly(0, call::sched_rr_get_interval(0, &mut time)?)?;
    Ok(time[0] * 1_000_000_000 + time[1])
}

/// A time slice by its name on an axis, in ns. Fails if it names none.
fn slice(word: &str) -> Result<u64, Failure> {
    let unknown = || Failure::wrong(format!("{word} names no time slice"));
    let (number, unit) = match (word.strip_suffix("us"), word.strip_suffix("ms")) {
        (Some(number), _) => (number, 1_000),
        (_, Some(number)) => (number, 1_000_000),
        _ => return Err(unknown()),
    };
    number.parse::<u64>().map(|number| number * unit).map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_named_in_two_units() {
        assert_eq!((slice("100us"), slice("10ms")), (Ok(100_000), Ok(10_000_000)));
        for nonsense in ["", "ms", "10", "10s", "-1ms"] {
            assert!(slice(nonsense).is_err(), "{nonsense}");
        }
    }
}
