//! The clock: the cheapest monotonic one, with its cost and its step measured.

/// A monotonic clock of the system, calibrated.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Clock {
    id: libc::clockid_t,
    /// The second that readings count from, so that they keep their nanoseconds after months without a restart.
    base: libc::time_t,
    /// Cost of one reading, in ns.
    pub cost: f64,
    /// Smallest step seen between two readings that differ, in ns.
    pub step: f64,
}

/// Many short trains of readings: at least one of them is undisturbed even if another hardware thread shares the core.
const TRAINS: usize = 2000;

impl Clock {
    /// The clock of a recorded run.
    pub fn recorded(cost: f64, step: f64) -> Clock {
        Clock { id: libc::CLOCK_MONOTONIC, base: 0, cost, step }
    }

    /// Measures the available clocks and takes the cheapest.
    pub fn calibrate() -> Clock {
        let raw = Clock::measured(libc::CLOCK_MONOTONIC_RAW, TRAINS);
        let adjusted = Clock::measured(libc::CLOCK_MONOTONIC, TRAINS);
        // The raw clock is not slewed by time synchronisation, so it is the better one at the same cost.
        if raw.cost <= adjusted.cost * 1.2 { raw } else { adjusted }
    }

    /// The clock that every system has. It is calibrated for batches that take thousands of readings. This is quick,
    /// even if a reading takes a microsecond.
    pub fn plain() -> Clock {
        Clock::measured(libc::CLOCK_MONOTONIC, TRAINS / 100)
    }

    fn measured(id: libc::clockid_t, trains: usize) -> Clock {
        const READINGS: usize = 50;
        let base = seconds_and_nanoseconds(id).tv_sec;
        let clock = Clock { id, base, cost: 0.0, step: 0.0 };
        let mut cost = f64::INFINITY;
        let mut step = f64::INFINITY;
        for _ in 0..trains {
            let start = clock.now();
            let mut last = start;
            for _ in 0..READINGS {
                let now = clock.now();
                if now > last {
                    step = step.min(now - last);
                }
                last = now;
            }
            cost = cost.min((last - start) / READINGS as f64);
        }
        // If the step is coarser than the cost, it shows only where readings fall on both sides of it.
        Clock { id, base, cost, step }
    }

    /// The kernel's number of the clock.
    pub fn id(&self) -> i32 {
        self.id
    }

    /// True if it moves in steps that are larger than what a reading costs, as in some sandboxes.
    pub fn is_coarse(&self) -> bool {
        self.step > 4.0 * self.cost
    }

    /// Nanoseconds since a fixed moment, which another calibration does not share.
    #[inline(always)]
    pub fn now(&self) -> f64 {
        self.since_base(seconds_and_nanoseconds(self.id))
    }

    /// The kernel's reading of this clock, in ns, as `now` gives it.
    pub fn moment(&self, ns: u64) -> f64 {
        (ns as i64 - self.base * 1_000_000_000) as f64
    }

    #[inline(always)]
    fn since_base(&self, time: libc::timespec) -> f64 {
        (time.tv_sec - self.base) as f64 * 1e9 + time.tv_nsec as f64
    }
}

#[inline(always)]
fn seconds_and_nanoseconds(id: libc::clockid_t) -> libc::timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec; the clock is one that every Linux has.
    unsafe { libc::clock_gettime(id, &mut time) };
    time
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_forward_and_costs_something() {
        let clock = Clock::calibrate();
        assert!(clock.cost > 0.0 && clock.step > 0.0, "{clock:?}");
        let readings: Vec<f64> = (0..1000).map(|_| clock.now()).collect();
        assert!(readings.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn readings_keep_their_nanoseconds_however_long_the_system_runs() {
        let years = Clock { base: 200_000_000, ..Clock::recorded(20.0, 1.0) };
        let at = |tv_nsec| years.since_base(libc::timespec { tv_sec: 200_000_100, tv_nsec });
        assert_eq!(at(2) - at(1), 1.0);
        assert_eq!(years.moment(200_000_100_000_000_002), at(2));
    }
}
