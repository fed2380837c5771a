//! Turns entries into costs, skips and the run's noise.

use std::collections::BTreeMap;

use analysis::estimate::{Clocking, Reading, gross};
use analysis::net::{rounded, subtract_all};
use analysis::plausible;
use analysis::prior::Prior;
use analysis::statistics::{Interval, half_of_mean, median, quantile, ratio, sorted};
use operation::{Clock, device};
use record::{
    Band, Cost, Cpu, Doubt, Ends, Estimate, Faults, Hidden, Nanoseconds, Neighbours, Noise, Reads, Round, Skip,
    Switches, smallest_first,
};

use crate::doubts::{RunClock, round_doubts};
use crate::entry::{ItemProgress, Purpose, RoundStart, RoundTaken};
use crate::hidden::HiddenSample;
use crate::quiet::Quietness;
use crate::tails;

/// Assembles the result. `precision` is what the user requested.
pub(crate) fn assemble(
    mut entries: Vec<ItemProgress>,
    quietness: &Quietness,
    clock: Clock,
    precision: f64,
) -> (Vec<Cost>, Vec<Skip>, Noise) {
    let correction = quietness.correction();
    entries.iter_mut().for_each(|entry| entry.correct_cycles(correction));
    let run = RunClock::of(&entries, quietness.usual_cycle());
    let mut costs: Vec<Option<Cost>> = entries.iter().map(|entry| cost(entry, quietness, clock, &run)).collect();
    // Twins stand after what they repeat, so a term is found first.
    subtract_all(&mut costs, precision);
    let surveyed = entries.iter().flat_map(ItemProgress::harvests).filter(|(round, _)| round.survey);
    let surveyed = surveyed.map(|(round, harvest)| (round.cpu, harvest));
    let noise = Noise {
        cycle_ns: rounded(run.cycle),
        cycle_range_ns: run.range,
        band: band(&entries, &costs),
        ..quietness.noise(surveyed)
    };
    let of_entry = entries.iter().zip(&costs).filter(|(entry, _)| entry.role == Purpose::Requested);
    let skipped = of_entry
        .filter_map(|(entry, cost)| entry.skipped().or_else(|| cost.is_none().then(|| entry.without_a_clock())))
        .collect();
    let rules = rules(&entries);
    let requested = entries.iter().zip(costs).filter(|(entry, _)| !matches!(entry.role, Purpose::Twin(_)));
    let mut costs: Vec<Cost> = requested.filter_map(|(_, cost)| cost).collect();
    plausible::check(&mut costs, &rules.0, &rules.1);
    (costs, skipped, noise)
}

/// The registry's rules of plausibility that apply to these entries.
fn rules(entries: &[ItemProgress]) -> (Vec<plausible::Rule<'static>>, Vec<(&'static str, &'static str)>) {
    let operations = entries.iter().map(|entry| entry.item.operation);
    let contained = operations.clone().flat_map(|operation| {
        operation.at_least.iter().map(|cheaper| plausible::Rule { dearer: operation.id, cheaper })
    });
    let rising = operations.flat_map(|operation| operation.monotonic_in.iter().map(|axis| (operation.id, *axis)));
    (contained.collect(), rising.collect())
}

fn cost(entry: &ItemProgress, quietness: &Quietness, clock: Clock, run: &RunClock) -> Option<Cost> {
    let (operation, quoted) = (entry.item.operation, entry.quoted());
    let rounds: Vec<Round> = entry.rounds.iter().map(|round| recorded(round, quietness)).collect();
    let follows_clock = entry.follows_clock();
    let clocking = if follows_clock { Clocking::At(run.cycle) } else { Clocking::AsRead };
    // What earlier runs showed is known to those who keep them.
    let prior = Prior::usual(operation.id, follows_clock);
    // A team has no more CPUs than this process may use. A replay uses none.
    let may = quietness.usable().len() as u32;
    let cpus = operation.cpus(&entry.item.point).min(if may == 0 { u32::MAX } else { may });
    let reading = Reading { headline: quoted, cpus, clocking };
    let estimated = gross(&rounds, reading, &prior)?;
    let totals = Totals::of(entry);
    let mut doubts = estimated.doubts;
    doubts.extend(round_doubts(entry, clock, run));
    let figures = estimated.figures;
    let cycle = estimated.cycle.filter(|_| quoted == Estimate::Quiet).unwrap_or_else(|| own_cycle(entry, run));
    let wait = totals.elapsed - totals.cpu.user.0 - totals.cpu.system.0;
    Some(Cost {
        operation: operation.id.into(),
        summary: operation.summary.into(),
        group: String::new(),
        version: operation.version,
        at: entry.item.point.clone(),
        per: operation.per.into(),
        like: operation.aliases.iter().map(|name| (*name).into()).collect(),
        cpus: reading.cpus,
        follows_clock,
        basis: Some(prior.basis(estimated.rounds as u32)),
        levels: estimated.levels,
        net_ns: figures,
        headline: quoted,
        gross_ns: figures,
        cpu_ns: totals.cpu,
        wait_ns: Nanoseconds(wait),
        cpu_interval_ns: ends(totals.cpu.user.0 + totals.cpu.system.0, rounds.iter().filter_map(|round| round.cpu_ns)),
        wait_interval_ns: ends(wait, rounds.iter().filter_map(|round| round.wait_ns)),
        neighbours: estimated.neighbours.map(|figure| Neighbours {
            ratio: rounded(figure.ratio),
            low: rounded(figure.low),
            high: rounded(figure.high),
        }),
        cycles: Some(figures.get(quoted).0 / cycle).filter(|cycles| cycles.is_finite()).unwrap_or(0.0),
        bytes: operation.payload(&entry.item.point),
        faults: totals.faults,
        switches: totals.switches,
        reads: totals.reads,
        hidden: hidden(&entry.accounted),
        tallies: tallies(entry).into_iter().chain(mode_tallies(&rounds, quoted, follows_clock)).collect(),
        tails: tails::together(entry.harvests().filter_map(|(_, harvest)| harvest.tails.as_deref()), clock.cost),
        rounds,
        terms: operation.terms.iter().map(|term| term.resolve(&entry.item.point)).collect(),
        explained_by: operation.explained_by.iter().map(|term| term.resolve(&entry.item.point)).collect(),
        doubts,
    })
}

/// The interval of a mean over all batches, from each round's value. A difference has an error of its own, which is not
/// proportional to it.
fn ends(value: f64, rounds: impl Iterator<Item = Nanoseconds>) -> Option<Ends> {
    ends_of_mean(value, &rounds.map(|round| round.0).collect::<Vec<_>>())
}

fn ends_of_mean(value: f64, parts: &[f64]) -> Option<Ends> {
    let half = half_of_mean(parts);
    half.is_finite().then(|| Ends { low: rounded(value - half), high: rounded(value + half) })
}

/// The hidden processor time; `None` if nothing accounted for it. Where the kernel moves its work from one CPU to another,
/// what is charged and what is hidden change together, and medians of both would not add up to the busy time. Therefore both
/// are means over the same pairs of windows: the middle half by their sum.
fn hidden(samples: &[HiddenSample]) -> Option<Hidden> {
    let mut samples: Vec<&HiddenSample> = samples.iter().collect();
    smallest_first(&mut samples, |one| one.busy());
    let quarter = samples.len() / 4;
    let middle = samples.get(quarter..samples.len() - quarter).filter(|middle| !middle.is_empty())?;
    let mean = |part: &dyn Fn(&HiddenSample) -> f64| {
        middle.iter().map(|sample| part(sample)).sum::<f64>() / middle.len() as f64
    };
    let value = mean(&|sample| sample.hidden);
    let seen = samples.iter().all(|sample| sample.kernel_threads.is_some());
    Some(Hidden {
        ns: Nanoseconds(rounded(value)),
        interval_ns: ends_of_mean(value, &samples.iter().map(|sample| sample.hidden).collect::<Vec<_>>()),
        charged_ns: Nanoseconds(rounded(mean(&|sample| sample.charged))),
        kernel_threads_ns: seen
            .then(|| Nanoseconds(rounded(mean(&|sample| sample.kernel_threads.unwrap_or_default())))),
    })
}

/// The cycle of an entry's own batches. It converts the headline figure if the figure is quoted as read.
fn own_cycle(entry: &ItemProgress, run: &RunClock) -> f64 {
    let samples = entry.harvests().flat_map(|(_, harvest)| harvest.samples.iter().map(|sample| sample.cycle));
    median(samples).unwrap_or(run.cycle)
}

fn recorded(round: &RoundTaken, quietness: &Quietness) -> Round {
    let (times, samples) = match &round.end {
        Ok(harvest) => (harvest.times, harvest.samples.as_slice()),
        Err(_) => (0, [].as_slice()),
    };
    let used = round.end.as_ref().ok().filter(|harvest| harvest.operations > 0.0);
    let processor = used.map(|harvest| harvest.usage.user + harvest.usage.system);
    let each = |total: Option<f64>| Some(Nanoseconds(rounded(total? / used?.operations)));
    let RoundStart { order, cpu, launcher, survey } = round.start;
    Round {
        order,
        cpu,
        times,
        ns: samples.iter().map(|sample| rounded(sample.ns)).collect(),
        cycle_ns: samples.iter().map(|sample| (sample.cycle * 1e6).round() / 1e6).collect(),
        // JSON has no number that is not finite.
        width: samples.iter().map(|sample| finite((quietness.width(sample) * 1e3).round() as f32 / 1e3)).collect(),
        quiet: samples.iter().map(|sample| sample.quiet).collect(),
        survey: Some(survey),
        launcher,
        cpu_ns: each(processor),
        wait_ns: each(used.zip(processor).map(|(harvest, processor)| harvest.elapsed - processor)),
        queued_ns: each(used.map(|harvest| harvest.queued)).filter(|queued| queued.0 > 0.0),
        lost: round.end.as_ref().err().cloned(),
    }
}

fn finite(width: f32) -> f32 {
    if width.is_finite() { width } else { 0.0 }
}

/// The usage of all batches of an entry, per operation.
#[derive(Default)]
struct Totals {
    elapsed: f64,
    cpu: Cpu,
    faults: Faults,
    switches: Switches,
    reads: Option<Reads>,
}

impl Totals {
    fn of(entry: &ItemProgress) -> Totals {
        let (mut usage, mut reads, mut operations, mut elapsed) =
            (operation::Usage::default(), Some(device::NOTHING), 0.0, 0.0);
        for (_, harvest) in entry.harvests() {
            usage = usage.plus(harvest.usage);
            reads = device::together(reads, harvest.reads);
            operations += harvest.operations;
            elapsed += harvest.elapsed;
        }
        if operations == 0.0 {
            return Totals::default();
        }
        let each = |total: f64| rounded(total / operations);
        Totals {
            elapsed: each(elapsed),
            cpu: Cpu { user: Nanoseconds(each(usage.user)), system: Nanoseconds(each(usage.system)) },
            faults: Faults { minor: each(usage.minor_faults), major: each(usage.major_faults) },
            switches: Switches { voluntary: each(usage.voluntary), involuntary: each(usage.involuntary) },
            reads: reads.map(|reads| Reads {
                count: each(reads.count),
                bytes: each(reads.bytes),
                own_bytes: reads.own_bytes.map(each),
            }),
        }
    }
}

/// The operation's own counts: the median over rounds.
fn tallies(entry: &ItemProgress) -> BTreeMap<String, f64> {
    let mut rounds: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (name, count) in entry.harvests().flat_map(|(_, harvest)| &harvest.tallies) {
        rounds.entry(name).or_default().push(*count);
    }
    rounds.into_iter().filter_map(|(name, counts)| Some((name.clone(), rounded(median(counts)?)))).collect()
}

/// The modes of a cost and their shares, as tallies. The cheapest is `mode 1 ns`, with the share `mode 1 share` of the
/// rounds.
fn mode_tallies(rounds: &[Round], headline: Estimate, follows_clock: bool) -> impl Iterator<Item = (String, f64)> {
    let modes = analysis::modes::modes(rounds, headline, follows_clock).into_iter().zip(1..);
    modes.flat_map(|(mode, number)| {
        [(format!("mode {number} ns"), rounded(mode.ns)), (format!("mode {number} share"), rounded(mode.share))]
    })
}

/// The A/A band: how far twins lie apart.
fn band(entries: &[ItemProgress], costs: &[Option<Cost>]) -> Option<Band> {
    /// Nine in ten. The maximum of a few pairs depends more on their number than on the machine.
    const MOST_OF_THEM: f64 = 0.9;
    let pairs = entries.iter().zip(costs).filter_map(|(entry, twin)| {
        let Purpose::Twin(of) = entry.role else { return None };
        let (twin, first) = (twin.as_ref()?, costs[of].as_ref()?);
        let apart = apart(twin, first)?;
        let sound = [twin, first].iter().all(|cost| !cost.doubts.iter().any(Doubt::is_serious));
        Some(Twins { name: first.name(), apart, beyond: rounded(beyond(twin, first)), sound })
    });
    let pairs: Vec<Twins> = pairs.collect();
    // A twin with a doubt shows that doubt, not of the machine; where all have one, they are all there is.
    let any_sound = pairs.iter().any(|twins| twins.sound);
    let most = |part: fn(&Twins) -> f64| {
        let counted = pairs.iter().filter(|twins| twins.sound || !any_sound);
        rounded(quantile(&sorted(counted.map(part)), MOST_OF_THEM).unwrap_or(0.0))
    };
    let (difference, beyond) = (most(|twins| twins.apart), Some(most(|twins| twins.beyond)));
    let operations: Vec<(String, f64)> = pairs.iter().map(|twins| (twins.name.clone(), twins.apart)).collect();
    (!operations.is_empty()).then_some(Band { difference, beyond, operations })
}

/// A cost that was measured twice.
struct Twins {
    name: String,
    /// By what share they differ.
    apart: f64,
    /// By how much of that beyond their own intervals.
    beyond: f64,
    /// Whether neither has a serious doubt.
    sound: bool,
}

/// By what share two costs differ; `None` where one is nothing beyond its baseline.
fn apart(one: &Cost, other: &Cost) -> Option<f64> {
    (one.cycles > 0.0 && other.cycles > 0.0).then(|| rounded((one.cycles / other.cycles - 1.0).abs()))
}

/// How far 1 lies from the interval of the ratio of two costs, as a share: what they differ by though their intervals mean
/// that they should not. Nothing where either has no interval.
fn beyond(one: &Cost, other: &Cost) -> f64 {
    let figure = |cost: &Cost| {
        let scale = cost.cycles / cost.quoted().0;
        Interval { value: cost.cycles, low: cost.net_ns.low.0 * scale, high: cost.net_ns.high.0 * scale }
    };
    let finite = |figure: &Interval| figure.low.is_finite() && figure.high.is_finite();
    let ratio = ratio(figure(one), figure(other)).filter(finite);
    ratio.map_or(0.0, |figure| figure.low.ln().max(-figure.high.ln()).max(0.0).exp_m1())
}

#[cfg(test)]
mod tests {
    use record::{Figures, Nanoseconds};

    use super::*;

    fn cost(value: f64, reach: f64) -> Cost {
        let [value_ns, low, high] = [value, value * (1.0 - reach), value * (1.0 + reach)].map(Nanoseconds);
        let figures = Figures { best: low, quiet: value_ns, typical: high, low, high };
        let run: record::Run =
            record::run_from_bytes(include_bytes!("../../record/tests/data/example-run.json")).expect("a run");
        Cost { net_ns: figures, headline: Estimate::Quiet, cycles: 3.0 * value, ..run.costs[0].clone() }
    }

    #[test]
    fn a_cost_of_nothing_is_at_no_share_from_its_twin() {
        assert_eq!(apart(&cost(3.0, 0.1), &cost(2.0, 0.1)), Some(0.5));
        assert_eq!(apart(&cost(3.0, 0.1), &cost(0.0, 0.1)), None);
        assert_eq!(apart(&cost(0.0, 0.1), &cost(3.0, 0.1)), None);
        assert_eq!(apart(&cost(0.0, 0.1), &cost(0.0, 0.1)), None);
    }

    #[test]
    fn what_a_coarse_clock_gives_no_figure_of_is_skipped_with_the_reason() {
        static WORK: operation::Operation = operation::Operation { id: "test.work", ..operation::Operation::DEFAULT };
        let clock = Clock::recorded(20.0, 1e6);
        let still = crate::speed::Speed { chain: 0.0, width: 0.0 };
        let timed = crate::batch::Timed { elapsed: 1e6, usage: operation::Usage::default(), reads: None, queued: 0.0 };
        let mut harvest = crate::batch::RoundSamples::empty(1);
        harvest.add(1.0, timed, (still, still));
        let mut entry = ItemProgress::new(&WORK, record::Point::default(), Purpose::Requested);
        let begun = RoundStart { order: 0, cpu: 0, launcher: 0, survey: true };
        entry.take_in(begun, crate::round::RoundEnd::Measured(harvest));
        let quietness = Quietness::recorded(crate::speed::Checker::recorded(clock), 0.25, 0.01);
        assert!(recorded(&entry.rounds[0], &quietness).width[0].is_finite());
        let (costs, skipped, _) = assemble(vec![entry], &quietness, clock, 0.01);
        assert!(costs.is_empty() && skipped.len() == 1 && skipped[0].reason.contains("clock"), "{costs:?} {skipped:?}");
    }

    #[test]
    fn charged_and_hidden_are_of_the_same_windows_and_add_up() {
        let sample =
            |(charged, hidden): (f64, f64)| HiddenSample { charged, hidden, kernel_threads: Some(hidden / 2.0) };
        // The kernel's thread is now on the task's CPU and now on another one; one window was disturbed.
        let samples =
            [(10.0, 0.5), (6.0, 4.5), (9.9, 0.6), (50.0, 30.0), (6.1, 4.4), (6.0, 4.4), (5.0, 0.0)].map(sample);
        let figure = hidden(&samples).expect("an account");
        assert!((figure.charged_ns.0 + figure.ns.0 - 10.5).abs() < 0.05, "{figure:?}");
        let threads = figure.kernel_threads_ns.expect("they were seen").0;
        assert!((threads - figure.ns.0 / 2.0).abs() < 0.01, "{figure:?}");
        assert_eq!(hidden(&[]), None);
    }

    #[test]
    fn twins_differ_only_by_what_their_intervals_leave_unexplained() {
        assert_eq!(beyond(&cost(124.0, 0.3), &cost(100.0, 0.3)), 0.0, "wide intervals say nothing of another cost");
        let figure = beyond(&cost(105.0, 0.005), &cost(100.0, 0.005));
        assert!((0.04..0.045).contains(&figure), "{figure}");
        let other_way = beyond(&cost(100.0, 0.005), &cost(105.0, 0.005));
        assert!((figure - other_way).abs() < 1e-3, "{figure} {other_way}");
        let one_round = Cost {
            net_ns: Figures { low: Nanoseconds(f64::NEG_INFINITY), ..cost(105.0, 0.0).net_ns },
            ..cost(105.0, 0.0)
        };
        assert_eq!(beyond(&one_round, &cost(100.0, 0.005)), 0.0);
    }
}
