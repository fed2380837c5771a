//! What was counted in the time measured, from the accounts at its beginning and its end.

use analysis::load::{CpuTime, Finished, Measured, Paging, Pressure};

use super::counts::{Counts, Setting};
use super::tally::Tally;
use crate::plan::Arrivals;

/// What was counted between two moments.
pub(super) fn measured(setting: &Setting, tally: Tally, before: &Counts, after: &Counts) -> Measured {
    let elapsed_s = (after.at - before.at) / 1e9;
    let busy = after.used.cpu_s - before.used.cpu_s;
    let idle = after.idle_s - before.idle_s;
    let sum = |of: fn(&Finished) -> f64| tally.finished.iter().map(of).sum::<f64>();
    let (user, system) = (sum(|rusage| rusage.user_s), sum(|rusage| rusage.system_s));
    // The group counts all processor time exactly; how it divides is known of the interactions that ended.
    let share = if user + system > 0.0 { user / (user + system) } else { 1.0 };
    Measured {
        configuration: setting.configuration.clone(),
        elapsed_s,
        cpu: CpuTime {
            user_s: busy * share,
            system_s: busy * (1.0 - share),
            other_s: elapsed_s * setting.cpus.len() as f64 - idle - busy,
            driver_s: after.driver_s - before.driver_s,
        },
        paging: Paging {
            pages_in: after.pages_in - before.pages_in,
            pages_out: after.pages_out - before.pages_out,
            file_refaults: after.refaults.0 - before.refaults.0,
            anonymous_refaults: after.refaults.1 - before.refaults.1,
            device_s: after.device_s.zip(before.device_s).map(|(after, before)| after - before),
        },
        pressure: after.pressure.zip(before.pressure).map(|(after, before)| Pressure {
            some_s: after.some_s - before.some_s,
            full_s: after.full_s - before.full_s,
        }),
        killed_for_memory: after.killed_for_memory.saturating_sub(before.killed_for_memory),
        fault: setting.fault,
        sums: tally.sums,
        finished: tally.finished,
        unfinished: tally.unfinished,
        unfinished_before: tally.unfinished_before,
        is_open: setting.plan.arrivals != Arrivals::Closed,
        depths: tally.depths,
        parts: tally.parts,
    }
}
