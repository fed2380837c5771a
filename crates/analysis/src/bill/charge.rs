//! The charge that a bill is held against: the processor time in the kernel, as far as the kernel's samples show it.

use record::{Observation, Usage};

use crate::statistics::NORMAL_95;

/// Fewer samples than this do not show the kernel's part.
const FEW: f64 = 10.0;
/// The samples a second of a kernel that does not report them.
const USUAL_HZ: u32 = 250;

/// User and kernel time, in ns; `None` where fewer than 30 of the kernel's samples, which come at best a thousand times a second,
/// distinguish them.
pub fn known_split(usage: &Usage) -> Option<[f64; 2]> {
    const LEAST_NS: f64 = 3e7;
    let (user, kernel) = usage.user_ns.zip(usage.system_ns)?;
    (user + kernel >= LEAST_NS).then_some([user, kernel])
}

/// The charged time against which a bill closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Charged {
    /// The time in ns.
    pub ns: f64,
    /// True if it is the time in the kernel alone; false if the kernel's samples did not show it, so that it is all
    /// processor time.
    pub kernel_alone: bool,
    /// What the samples leave open, 95 times in 100, in ns; `None` if all is charged or the samples are not known.
    pub range_ns: Option<[f64; 2]>,
}

impl Charged {
    /// What the kernel charged for its own work: the part that its samples found there, and the way back from each call and page
    /// fault, which they find in user mode.
    pub fn of(seen: &Observation) -> Option<Charged> {
        let usage = &seen.usage;
        let whole = Charged { ns: usage.cpu_ns?, kernel_alone: false, range_ns: None };
        let returns = returns_ns(seen);
        let own = |share: f64| (share * whole.ns + returns).min(whole.ns);
        // Where no sample fell into the kernel, nobody knows what it took.
        let in_kernel = |[user, system]: [f64; 2]| {
            let sampled = user + system;
            let count = sampled / sample_ns(seen);
            let range = wilson(system / sampled, count).map(own);
            let ns = own(system / sampled);
            (system > 0.0 && count >= FEW).then_some(Charged { ns, kernel_alone: true, range_ns: Some(range) })
        };
        let charged = match usage.sampled_ns {
            Some(sampled) => in_kernel(sampled),
            // The samples of processes that ended show shares of their time, and not how much it was.
            None => {
                let shows = |ns: &f64| *ns > 0.0 && whole.ns >= FEW * tick_ns(seen) && !is_short_lived(seen);
                usage.system_ns.filter(shows).map(|system| {
                    let sampled = system + usage.user_ns.unwrap_or(0.0);
                    Charged { ns: own(system / sampled), kernel_alone: true, range_ns: None }
                })
            }
        };
        Some(charged.unwrap_or(whole))
    }
}

/// What the kernel's samples found in user mode although the kernel was on its way back there, in ns.
fn returns_ns(seen: &Observation) -> f64 {
    let calls: u64 = seen.together.calls.iter().map(|call| call.count).sum();
    let faults = [seen.usage.minor_faults, seen.usage.major_faults].into_iter().flatten().sum::<u64>();
    let each = |ns: Option<f64>, count: u64| ns.unwrap_or(0.0) * count as f64;
    each(seen.accounting.call_return_ns, calls) + each(seen.accounting.fault_return_ns, faults)
}

/// The time between two samples, in ns.
fn sample_ns(seen: &Observation) -> f64 {
    seen.accounting.sample_ns.unwrap_or_else(|| tick_ns(seen))
}

fn tick_ns(seen: &Observation) -> f64 {
    1e9 / f64::from(seen.accounting.tick_hz.unwrap_or(USUAL_HZ).max(1))
}

/// The interval of a share that was found in so many samples (Wilson 1927, Probable inference, the law of succession, and statistical
/// inference): unlike the usual one it is right for few samples, and for shares near 0 and 1.
fn wilson(share: f64, count: f64) -> [f64; 2] {
    let square = NORMAL_95 * NORMAL_95 / count;
    let middle = (share + square / 2.0) / (1.0 + square);
    let half = NORMAL_95 / (1.0 + square) * (share * (1.0 - share) / count + square / (4.0 * count)).sqrt();
    [middle - half, middle + half]
}

/// True if the processes lived too short on the mean to be sampled: the kernel takes all time of a process for user time that
/// no sample found in the kernel (`cputime_adjust` in kernel/sched/cputime.c).
fn is_short_lived(seen: &Observation) -> bool {
    /// Fewer samples than this show nothing.
    const SAMPLES: f64 = 2.5;
    let processes: u64 = seen.processes.iter().map(|process| process.processes).sum();
    processes > 1 && seen.usage.cpu_ns.is_some_and(|cpu| cpu < SAMPLES * tick_ns(seen) * processes as f64)
}

#[cfg(test)]
mod tests {
    use record::CallCount;

    use super::*;

    fn seen(cpu_ns: f64, sampled_ns: [f64; 2]) -> Observation {
        let usage = Usage { cpu_ns: Some(cpu_ns), sampled_ns: Some(sampled_ns), ..Usage::default() };
        Observation { usage, ..Observation::default() }
    }

    fn charged(cpu_ns: f64, sampled_ns: [f64; 2]) -> Charged {
        Charged::of(&seen(cpu_ns, sampled_ns)).expect("a charge")
    }

    #[test]
    fn the_kernels_part_is_that_of_its_samples_with_what_they_leave_open() {
        // 25 samples of 4 ms in the kernel among 100; what was run is 10 % more than was sampled.
        let found = charged(440e6, [300e6, 100e6]);
        assert!(found.kernel_alone && (found.ns - 110e6).abs() < 1.0, "{found:?}");
        // The interval of 25 in 100 is 17.55 to 34.30 % (R: prop.test(25, 100, correct = FALSE)).
        let [low, high] = found.range_ns.expect("samples");
        assert!((low / 440e6 - 0.1755).abs() < 1e-4 && (high / 440e6 - 0.3430).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn the_way_back_from_calls_and_faults_is_the_kernels() {
        let mut seen = seen(440e6, [300e6, 100e6]);
        seen.usage.minor_faults = Some(50_000);
        seen.together.calls = vec![CallCount { call: "read".into(), count: 1_000_000, ..CallCount::default() }];
        (seen.accounting.call_return_ns, seen.accounting.fault_return_ns) = (Some(33.0), Some(100.0));
        let found = Charged::of(&seen).expect("a charge");
        assert!((found.ns - (110e6 + 33e6 + 5e6)).abs() < 1.0, "{found:?}");
        // More than all is no charge.
        seen.accounting.call_return_ns = Some(1000.0);
        assert_eq!(Charged::of(&seen).map(|charged| charged.ns), Some(440e6));
    }

    #[test]
    fn own_samples_are_as_many_as_their_distance_says() {
        let width = |sample_ns| {
            let mut seen = seen(440e6, [300e6, 100e6]);
            seen.accounting.sample_ns = sample_ns;
            Charged::of(&seen).and_then(|charged| charged.range_ns).map(|[low, high]| high - low).expect("samples")
        };
        // Four times as many samples halve what they leave open.
        let ratio = width(None) / width(Some(1e6));
        assert!((ratio - 2.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn few_samples_and_none_in_the_kernel_show_nothing() {
        assert_eq!(charged(30e6, [20e6, 8e6]), Charged { ns: 30e6, kernel_alone: false, range_ns: None });
        assert!(!charged(800e6, [800e6, 0.0]).kernel_alone);
        // Nor do they where only their shares are known: half a sample of 4 ms, and ten of them.
        let of_accounts = |cpu_ns: f64| {
            let usage = Usage { cpu_ns: Some(cpu_ns), user_ns: Some(0.0), system_ns: Some(cpu_ns), ..Usage::default() };
            Charged::of(&Observation { usage, ..Observation::default() }).expect("a charge").kernel_alone
        };
        assert_eq!([2e6, 40e6].map(of_accounts), [false, true]);
    }
}
