//! The doubts that rounds raise in addition to their samples, and the clock of a run's quiet batches.

use analysis::statistics::{median, quantile, sorted};
use operation::Clock;
use record::{Doubt, Ends, Nanoseconds};
use system::machine::Topology;

use crate::batch::{RoundSamples, Sample};
use crate::entry::ItemProgress;
use crate::speed::CLOCK_TOLERANCE;

/// The core clock that prevailed in a run's quiet batches.
pub(crate) struct RunClock {
    /// One cycle in ns: the mean of the batches about the median over rounds.
    pub cycle: f64,
    /// The range that contains 90 in 100 of the batches.
    pub range: Option<Ends>,
    /// For each round, by its place in the run's order: the cycle of its batches.
    rounds: Vec<(u32, f64)>,
}

impl RunClock {
    /// Takes the clock from all batches of work that follows the clock; from the quiet ones if there are any.
    pub fn of(entries: &[ItemProgress], usual_cycle: f64) -> RunClock {
        let clocks = |all: bool| {
            let (mut rounds, mut batches) = (Vec::new(), Vec::new());
            for entry in entries.iter().filter(|entry| entry.follows_clock()) {
                for (round, harvest) in entry.harvests() {
                    let counts = |sample: &&Sample| all || sample.quiet;
                    let cycles: Vec<f64> = harvest.samples.iter().filter(counts).map(|sample| sample.cycle).collect();
                    rounds.extend(median(cycles.iter().copied()).map(|cycle| (round.order, cycle)));
                    batches.extend(cycles);
                }
            }
            (rounds, batches)
        };
        let (mut rounds, mut batches) = clocks(false);
        if rounds.is_empty() {
            (rounds, batches) = clocks(true);
        }
        rounds.sort_by_key(|(order, _)| *order);
        let batches = sorted(batches);
        let range = quantile(&batches, 0.05).zip(quantile(&batches, 0.95)).map(|(low, high)| Ends { low, high });
        let cycle = median(rounds.iter().map(|(_, cycle)| *cycle)).map(|middle| mean_near(middle, &batches));
        let cycle = cycle.unwrap_or(usual_cycle);
        RunClock { cycle, range, rounds }
    }

    /// The doubt that an entry's batches ran at their own clock, different from that of other entries' rounds just
    /// before and after them. A clock of the whole core that moved in the meantime is no doubt, because cycles do not
    /// depend on it.
    pub fn own_clock(&self, entry: &ItemProgress) -> Option<Doubt> {
        /// Number of rounds on either side.
        const BESIDE: usize = 8;
        /// A step of any core's clock is larger than this.
        const STEP: f64 = 1.015;
        const ENOUGH: usize = 5;
        let own = |order: u32| entry.rounds.iter().any(|round| round.start.order == order);
        let ratios = entry.harvests().filter_map(|(round, harvest)| {
            let here = median(harvest.samples.iter().map(|sample| sample.cycle))?;
            let place = self.rounds.partition_point(|(order, _)| *order < round.order);
            let nearby = &self.rounds[place.saturating_sub(BESIDE)..(place + BESIDE).min(self.rounds.len())];
            let others = nearby.iter().filter(|(order, _)| !own(*order)).map(|(_, cycle)| *cycle);
            Some(here / median(others)?)
        });
        let ratios = sorted(ratios);
        let (low, middle) = (quantile(&ratios, 0.25)?, quantile(&ratios, 0.5)?);
        (ratios.len() >= ENOUGH && low > STEP)
            .then(|| Doubt::OwnClock { ghz: 1.0 / (self.cycle * middle), run_ghz: 1.0 / self.cycle })
    }
}

/// The mean of the values that are no step of a core's clock away from the middle one: each is rounded to steps of the clock
/// that read it, so that their median would be, too.
fn mean_near(middle: f64, values: &[f64]) -> f64 {
    let near = || values.iter().filter(|value| (*value / middle - 1.0).abs() <= CLOCK_TOLERANCE);
    if near().next().is_none() { middle } else { near().sum::<f64>() / near().count() as f64 }
}

/// The doubts that rounds raise in addition to their samples.
pub(crate) fn round_doubts(entry: &ItemProgress, clock: Clock, run: &RunClock) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let mut lost: Vec<&String> = entry.rounds.iter().filter_map(|round| round.end.as_ref().err()).collect();
    lost.sort();
    lost.dedup();
    doubts.extend(lost.into_iter().map(|reason| Doubt::RoundLost { reason: reason.clone() }));
    let harvests: Vec<&RoundSamples> = entry.harvests().map(|(_, harvest)| harvest).collect();
    doubts.extend(not_cold(&harvests));
    doubts.extend(interrupted(entry, &harvests));
    doubts.extend(queued(&harvests));
    doubts.extend(if entry.follows_clock() { run.own_clock(entry) } else { clock_moved(entry) });
    doubts.extend(drift(entry));
    doubts.extend(non_linear(&harvests));
    let batch = median(harvests.iter().map(|harvest| harvest.batch)).unwrap_or(0.0);
    if batch > 0.0 && clock.step.max(clock.cost) / batch >= 0.01 {
        doubts.push(Doubt::CoarseClock { share: clock.step.max(clock.cost) / batch });
    }
    doubts
}

/// The reports of the rounds on cold passes, as one doubt.
fn not_cold(harvests: &[&RoundSamples]) -> Option<Doubt> {
    harvests.iter().flat_map(|harvest| &harvest.doubts).fold(None, |worst, doubt| match (worst, doubt) {
        (Some(Doubt::NotCold { passes, resident }), Doubt::NotCold { passes: more, resident: share }) => {
            Some(Doubt::NotCold { passes: passes + more, resident: share.max(resident) })
        }
        (None, Doubt::NotCold { .. }) => Some(doubt.clone()),
        (worst, _) => worst,
    })
}

/// The doubt that an iteration has another cost in batches of half the length.
fn non_linear(harvests: &[&RoundSamples]) -> Option<Doubt> {
    const ENOUGH: usize = 4;
    let halves = sorted(harvests.iter().flat_map(|harvest| harvest.halves.iter().copied()));
    let wholes = sorted(
        harvests
            .iter()
            .filter(|harvest| !harvest.halves.is_empty())
            .flat_map(|harvest| harvest.samples.iter().map(|sample| sample.ns)),
    );
    let (half, whole) = (quantile(&halves, 0.5)?, quantile(&wholes, 0.5)?);
    // Neighbours make both scatter: the middle of the halves must lie a tenth beyond nine in ten of the wholes.
    let beyond = half > quantile(&wholes, 0.9)? * 1.1 || half < quantile(&wholes, 0.1)? * 0.9;
    (halves.len() >= ENOUGH && beyond).then(|| Doubt::NonLinear { ratio: half / whole })
}

/// The doubt that other tasks took the CPU in most batches; or that there were others, where no batch shows them: on a
/// partner's CPU, or while the operation sleeps.
fn interrupted(entry: &ItemProgress, harvests: &[&RoundSamples]) -> Option<Doubt> {
    /// Other tasks for each CPU that is not ours. Half of them run on a partner's CPU.
    const CROWDED: f64 = 0.5;
    // What runs beside it was requested, and the run says so.
    if entry.has_load {
        return None;
    }
    let guard = entry.guard();
    let samples = || harvests.iter().flat_map(|harvest| &harvest.samples);
    let cut = samples().filter(|sample| guard.interrupted(sample)).count() as f64 / samples().count().max(1) as f64;
    if cut > 0.5 {
        return Some(Doubt::Interrupted { share: cut });
    }
    // Those that want a CPU are counted in the whole system, so all of its CPUs count.
    let more_cpus = Topology::here().count().saturating_sub(1).max(1);
    let others = harvests.iter().map(|harvest| harvest.others).sum::<f64>() / harvests.len().max(1) as f64;
    let met = (others / f64::from(more_cpus)).min(1.0);
    let raised = harvests.iter().flat_map(|harvest| &harvest.doubts);
    let mut raised = raised.filter(|doubt| matches!(doubt, Doubt::Interrupted { .. }));
    match entry.is_delayed_unseen() && met >= CROWDED {
        true => Some(Doubt::Interrupted { share: met }),
        // An operation sees those on its partners' CPUs, round by round: what holds in half of them is the cost's.
        false => raised.nth((harvests.len().max(1) - 1) / 2).cloned(),
    }
}

/// The note that waits for a busy CPU are left out, if they were a considerable part.
fn queued(harvests: &[&RoundSamples]) -> Option<Doubt> {
    const CONSIDERABLE: f64 = 0.1;
    let sum = |each: fn(&RoundSamples) -> f64| harvests.iter().map(|harvest| each(harvest)).sum::<f64>();
    let (queued, elapsed) = (sum(|harvest| harvest.queued), sum(|harvest| harvest.elapsed));
    let wait = Nanoseconds(queued / sum(|harvest| harvest.operations));
    (queued > CONSIDERABLE * elapsed).then_some(Doubt::Queued { wait })
}

/// The doubt that the clock moved by more than its usual steps during a measurement that is quoted as read.
fn clock_moved(entry: &ItemProgress) -> Option<Doubt> {
    const MOVED: f64 = 1.15;
    let samples = entry.harvests().flat_map(|(_, harvest)| &harvest.samples);
    let cycles = sorted(samples.filter(|sample| sample.quiet).map(|sample| sample.cycle));
    let (fast, slow) = (quantile(&cycles, 0.05)?, quantile(&cycles, 0.95)?);
    (slow > MOVED * fast).then(|| Doubt::FrequencyMoved { ratio: slow / fast })
}

/// The doubt that the figure moved steadily with the order of the rounds: the test of Mann and Kendall, at one in a
/// thousand, and by more than the smallest drift that counts.
fn drift(entry: &ItemProgress) -> Option<Doubt> {
    /// One in a thousand lies beyond this number of standard deviations.
    const BEYOND_CHANCE: f64 = 3.29;
    const LEAST: f64 = 0.02;
    const ENOUGH: usize = 9;
    let rounds = entry.harvests().filter_map(|(_, harvest)| entry.round_figure(harvest));
    let figures: Vec<f64> = rounds.map(|round| round.figure).collect();
    let count = figures.len();
    if count < ENOUGH {
        return None;
    }
    let (first, last) =
        (median(figures[..count / 3].iter().copied())?, median(figures[count - count / 3..].iter().copied())?);
    let drifts = trend(&figures).abs() > BEYOND_CHANCE && (last / first - 1.0).abs() > LEAST;
    drifts.then_some(Doubt::Drift { ratio: last / first })
}

/// The distance between the number of rising pairs and the number expected by chance, in standard deviations (Mann,
/// Econometrica 13:245, 1945).
fn trend(figures: &[f64]) -> f64 {
    let count = figures.len() as f64;
    let mut rising = 0.0;
    for (place, earlier) in figures.iter().enumerate() {
        for later in &figures[place + 1..] {
            rising += if later == earlier { 0.0 } else { (later - earlier).signum() };
        }
    }
    rising / (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Purpose, RoundStart, RoundTaken};
    use crate::speed::Speed;

    #[test]
    fn what_rises_with_the_order_of_the_rounds_is_a_trend_and_what_scatters_is_none() {
        let rising: Vec<f64> = (0..12).map(|round| 100.0 + f64::from(round)).collect();
        assert!(trend(&rising) > 4.0);
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert!(trend(&falling) < -4.0);
        let mut random = fastrand::Rng::with_seed(1);
        let found = (0..2000).filter(|_| {
            let scattered: Vec<f64> = (0..12).map(|_| random.f64()).collect();
            trend(&scattered).abs() > 3.29
        });
        assert!(found.count() <= 6);
        assert_eq!(trend(&[1.0; 12]), 0.0);
    }

    /// Rounds of one operation, whose batches ran at a cycle of so many ns.
    fn entry(orders: impl Iterator<Item = u32>, cycle: f64) -> ItemProgress {
        static WORK: operation::Operation = operation::Operation { id: "test.work", ..operation::Operation::DEFAULT };
        let speed = Speed { chain: cycle, width: cycle / 4.0 };
        let sample = Sample {
            ns: 100.0 * cycle,
            around: (speed, speed),
            cycle,
            switched_out: 0.0,
            away: 0.0,
            elapsed: 1e5,
            quiet: true,
        };
        let mut entry = ItemProgress::new(&WORK, record::Point::default(), Purpose::Requested);
        entry.rounds.extend(orders.map(|order| RoundTaken {
            start: RoundStart { order, cpu: 0, launcher: order, survey: false },
            end: Ok(RoundSamples { samples: vec![sample; 5], ..RoundSamples::empty(1) }),
        }));
        entry
    }

    #[test]
    fn what_an_operation_saw_in_one_round_of_many_is_no_doubt_of_its_cost() {
        let doubt = Doubt::Interrupted { share: 0.75 };
        let raised_in = |count: usize| {
            let mut entry = entry(0..10, 1.0);
            let harvests = entry.rounds.iter_mut().filter_map(|round| round.end.as_mut().ok());
            harvests.take(count).for_each(|harvest| harvest.doubts.push(doubt.clone()));
            round_doubts(&entry, Clock::recorded(20.0, 1.0), &RunClock::of(&[], 1.0)).contains(&doubt)
        };
        assert_eq!([1, 4, 5, 10].map(raised_in), [false, false, true, true]);
    }

    #[test]
    fn one_loss_is_reported_once() {
        let mut entry = entry(0..3, 1.0);
        for (round, why) in entry.rounds.iter_mut().zip(["it hung", "it left", "it hung"]) {
            round.end = Err(why.into());
        }
        let doubts = round_doubts(&entry, Clock::recorded(20.0, 1.0), &RunClock::of(&[], 1.0));
        assert_eq!(doubts.iter().filter(|doubt| matches!(doubt, Doubt::RoundLost { .. })).count(), 2, "{doubts:?}");
    }

    #[test]
    fn work_that_lowers_the_clock_is_reported_with_its_clock_and_costs_what_it_did() {
        // Every third round is of work that runs at 3.7 GHz where all else runs at 4.1.
        let others = || entry((0..60).filter(|order| order % 3 != 0), 1.0 / 4.1);
        let wide = |ghz: f64| entry((0..60).filter(|order| order % 3 == 0), 1.0 / ghz);
        let clock = |ghz: f64| RunClock::of(&[others(), wide(ghz)], 0.0);
        let run = clock(3.7);
        assert!((1.0 / run.cycle - 4.1).abs() < 1e-9, "the clock that prevailed is that of the others");
        let Some(Doubt::OwnClock { ghz, run_ghz }) = run.own_clock(&wide(3.7)) else { panic!("no doubt") };
        assert!((ghz - 3.7).abs() < 0.01 && (run_ghz - 4.1).abs() < 0.01, "{ghz} beside {run_ghz}");
        assert_eq!(run.own_clock(&others()), None, "the others run at the run's clock");
        assert_eq!(clock(4.09).own_clock(&wide(4.09)), None, "less than a step of a clock");
        // A clock that moved for all meanwhile is nobody's own.
        let moved = |offset: u32| {
            let slow = entry((0..30).filter(|order| order % 3 == offset), 1.0 / 4.1);
            let fast = entry((30..60).filter(|order| order % 3 == offset), 1.0 / 3.7);
            let mut both = slow;
            both.rounds.extend(fast.rounds);
            both
        };
        let all = [moved(0), moved(1), moved(2)];
        assert_eq!(RunClock::of(&all, 0.0).own_clock(&all[0]), None);
    }
}
