//! How the measured task is treated by the scheduler, and that it is so for its batches alone.

use operation::{Failure, Setting};

use crate::kit::attributes::{Attributes, slice, turn};

/// How a point has its task treated.
pub(super) fn treated(word: &str) -> Result<Attributes, Failure> {
    let usual = Attributes { runtime: 0, ..Attributes::own()? };
    let of = |policy: i32| Attributes { policy: policy as u32, ..usual };
    Ok(match word {
        "usual" => usual,
        "nice-minus-10" => Attributes { nice: -10, ..usual },
        "nice-plus-10" => Attributes { nice: 10, ..usual },
        "batch" => of(libc::SCHED_BATCH),
        "idle" => of(libc::SCHED_IDLE),
        "fifo" => Attributes { priority: 1, ..of(libc::SCHED_FIFO) },
        "round-robin" => Attributes { priority: 1, ..of(libc::SCHED_RR) },
        other => Attributes { runtime: slice(other.trim_start_matches("slice-"))?, ..usual },
    })
}

/// A treatment that is taken on for a batch alone, since the clock's checks run between batches.
pub(super) struct Treatment {
    wanted: Attributes,
    usual: Attributes,
}

impl Treatment {
    /// Tries it once.
    ///
    /// # Errors
    /// A skip if it is refused, or the time slice is not taken.
    pub(super) fn of(setting: &Setting, word: &str) -> Result<Treatment, Failure> {
        let usual = Attributes { runtime: 0, ..Attributes::own()? };
        let treatment = Treatment { wanted: treated(word)?, usual };
        let tried = if treatment.wanted.runtime > 0 { treatment.wanted.set_slice() } else { treatment.wanted.set() };
        tried.map_err(Failure::into_skip)?;
        let slice = match treatment.wanted.policy as i32 {
            libc::SCHED_FIFO => 0,
            libc::SCHED_RR => turn()?,
            _ => Attributes::own()?.runtime,
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
