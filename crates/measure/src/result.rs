//! From entries to costs, skips and the run's noise.

use std::collections::BTreeMap;

use analysis::estimate::{Clocking, gross, subtract};
use analysis::plausible;
use analysis::statistics::{median, quantile, sorted};
use record::{Band, Cost, Cpu, Doubt, Estimate, Faults, Nanoseconds, Noise, Reads, Round, Switches, Term};

use crate::batch::Harvest;
use crate::clock::Clock;
use crate::device;
use crate::entry::{Entry, Role, RoundTaken};
use crate::quiet::Quietness;
use crate::take::Taken;

/// Puts the result together.
pub(crate) fn assemble(
    entries: Vec<Entry>,
    quietness: &Quietness,
    clock: Clock,
    accounts: Accounts,
    interrupted: Option<i32>,
) -> Taken {
    let mut costs: Vec<Option<Cost>> = entries.iter().map(|entry| cost(entry, quietness, clock)).collect();
    subtract_terms(&entries, &mut costs);
    let surveyed = entries.iter().flat_map(|entry| {
        let usual = entry.usual_switches();
        let survey = entry.harvests().filter(|(round, _)| round.survey);
        survey.map(move |(round, harvest)| (round.cpu, harvest, usual))
    });
    let mut noise = quietness.noise(surveyed);
    noise.band = band(&entries, &costs);
    accounts.close(&mut noise);
    let skipped = entries.iter().filter(|entry| entry.role == Role::Asked).filter_map(Entry::skipped).collect();
    let rules = rules(&entries);
    let asked = entries.iter().zip(costs).filter(|(entry, _)| !matches!(entry.role, Role::Twin(_)));
    let mut costs: Vec<Cost> = asked.filter_map(|(_, cost)| cost).collect();
    plausible::check(&mut costs, &rules.0, &rules.1);
    Taken { costs, skipped, noise, interrupted }
}

/// The registry's rules of plausibility, as far as they concern these entries.
fn rules(entries: &[Entry]) -> (Vec<plausible::Rule<'static>>, Vec<(&'static str, &'static str)>) {
    let operations = entries.iter().map(|entry| entry.item.operation);
    let contained = operations.clone().flat_map(|operation| {
        operation.exceeds.iter().map(|cheaper| plausible::Rule { dearer: operation.id, cheaper })
    });
    let rising = operations.flat_map(|operation| operation.rises_with.iter().map(|axis| (operation.id, *axis)));
    (contained.collect(), rising.collect())
}

fn cost(entry: &Entry, quietness: &Quietness, clock: Clock) -> Option<Cost> {
    let operation = entry.item.operation;
    let usual = entry.usual_switches();
    let rounds: Vec<Round> = entry.rounds.iter().map(|round| recorded(round, quietness, usual)).collect();
    let surveyed: Vec<bool> = entry.rounds.iter().map(|round| round.survey).collect();
    let follows_clock = entry.follows_clock();
    let clocking = if follows_clock { Clocking::At(quietness.best().cycle) } else { Clocking::AsRead };
    let estimated = gross(&rounds, &surveyed, operation.quoted, clocking)?;
    let totals = Totals::of(entry);
    let mut doubts = estimated.doubts;
    doubts.extend(round_doubts(entry, quietness, clock));
    let figures = estimated.figures;
    Some(Cost {
        operation: operation.id.into(),
        summary: operation.summary.into(),
        group: String::new(),
        version: operation.version,
        at: entry.item.point.clone(),
        per: operation.per.into(),
        like: operation.like.iter().map(|name| (*name).into()).collect(),
        cpus: operation.cpus(&entry.item.point),
        follows_clock,
        net_ns: figures,
        headline: operation.quoted,
        gross_ns: figures,
        cpu_ns: totals.cpu,
        wait_ns: Nanoseconds(totals.elapsed - totals.cpu.user.0 - totals.cpu.system.0),
        cpu_interval_ns: None,
        wait_interval_ns: None,
        neighbours: None,
        cycles: figures.get(operation.quoted).0 / cycle(entry, quietness, follows_clock),
        bytes: operation.payload(&entry.item.point),
        faults: totals.faults,
        switches: totals.switches,
        reads: totals.reads,
        tallies: tallies(entry).into_iter().chain(told_modes(&rounds, operation.quoted, follows_clock)).collect(),
        rounds,
        terms: operation.terms.iter().map(|term| term.resolve(&entry.item.point)).collect(),
        explained_by: operation.explained_by.iter().map(|term| term.resolve(&entry.item.point)).collect(),
        doubts,
    })
}

/// The cycle that the headline figure is converted with: the best where it is quoted at that, else that of its batches.
fn cycle(entry: &Entry, quietness: &Quietness, follows_clock: bool) -> f64 {
    if follows_clock && entry.wants_quiet() {
        return quietness.best().cycle;
    }
    let samples = entry.harvests().flat_map(|(_, harvest)| harvest.samples.iter().map(|sample| sample.cycle));
    median(samples).unwrap_or_else(|| quietness.best().cycle)
}

fn recorded(round: &RoundTaken, quietness: &Quietness, usual: f64) -> Round {
    let (times, samples) = match &round.end {
        Ok(harvest) => (harvest.times, harvest.samples.as_slice()),
        Err(_) => (0, [].as_slice()),
    };
    Round {
        order: round.order,
        cpu: round.cpu,
        times,
        ns: samples.iter().map(|sample| rounded(sample.ns)).collect(),
        cycle_ns: samples.iter().map(|sample| (sample.cycle * 1e6).round() / 1e6).collect(),
        width: samples.iter().map(|sample| (quietness.width(sample) * 1e3).round() as f32 / 1e3).collect(),
        quiet: samples.iter().map(|sample| quietness.is_quiet(sample, usual)).collect(),
        survey: Some(round.survey),
        launcher: 0,
        cpu_ns: None,
        wait_ns: None,
        lost: round.end.as_ref().err().cloned(),
    }
}

/// Seven significant digits: a hundred times finer than any clock here resolves, and a third of the file.
fn rounded(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

/// What all batches of an entry together used, per operation.
#[derive(Default)]
struct Totals {
    elapsed: f64,
    cpu: Cpu,
    faults: Faults,
    switches: Switches,
    reads: Option<Reads>,
}

impl Totals {
    fn of(entry: &Entry) -> Totals {
        let (mut usage, mut reads, mut operations, mut elapsed) = (crate::watch::Usage::default(), None, 0.0, 0.0);
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

/// What the operation counted itself: the median over rounds.
fn tallies(entry: &Entry) -> BTreeMap<String, f64> {
    let mut rounds: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (name, count) in entry.harvests().flat_map(|(_, harvest)| &harvest.tallies) {
        rounds.entry(name).or_default().push(*count);
    }
    rounds.into_iter().filter_map(|(name, counts)| Some((name.clone(), rounded(median(counts)?)))).collect()
}

/// The modes of a cost with their shares, told as tallies: the cheapest is `mode 1 ns`, of `mode 1 share` of the rounds.
fn told_modes(rounds: &[Round], headline: Estimate, follows_clock: bool) -> impl Iterator<Item = (String, f64)> {
    let modes = analysis::modes::modes(rounds, headline, follows_clock).into_iter().zip(1..);
    modes.flat_map(|(mode, number)| {
        [(format!("mode {number} ns"), rounded(mode.ns)), (format!("mode {number} share"), rounded(mode.share))]
    })
}

/// A clock that moves by more than this is more than a step of turbo, which the conversion to the best clock removes.
const CLOCK_MOVED: f64 = 1.15;

/// The doubts that rounds raise beside their samples.
fn round_doubts(entry: &Entry, quietness: &Quietness, clock: Clock) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let mut lost: Vec<&String> = entry.rounds.iter().filter_map(|round| round.end.as_ref().err()).collect();
    lost.dedup();
    doubts.extend(lost.into_iter().map(|reason| Doubt::RoundLost { reason: reason.clone() }));
    let harvests: Vec<&Harvest> = entry.harvests().map(|(_, harvest)| harvest).collect();
    doubts.extend(not_cold(&harvests));
    let usual = entry.usual_switches();
    let samples = || harvests.iter().flat_map(|harvest| &harvest.samples);
    let cut = samples().filter(|sample| sample.switched_out > usual).count() as f64 / samples().count().max(1) as f64;
    if cut > 0.5 {
        doubts.push(Doubt::Interrupted { share: cut });
    }
    let cycles = sorted(samples().filter(|sample| quietness.is_quiet(sample, usual)).map(|sample| sample.cycle));
    if let (Some(fast), Some(slow)) = (quantile(&cycles, 0.05), quantile(&cycles, 0.95))
        && slow > CLOCK_MOVED * fast
    {
        doubts.push(Doubt::FrequencyMoved { ratio: slow / fast });
    }
    doubts.extend(non_linear(&harvests));
    let batch = median(harvests.iter().map(|harvest| harvest.batch)).unwrap_or(0.0);
    if batch > 0.0 && clock.step.max(clock.cost) / batch > 0.01 {
        doubts.push(Doubt::CoarseClock { share: clock.step.max(clock.cost) / batch });
    }
    doubts
}

/// What the rounds said of cold passes, as one doubt.
fn not_cold(harvests: &[&Harvest]) -> Option<Doubt> {
    harvests.iter().flat_map(|harvest| &harvest.doubts).fold(None, |worst, doubt| match (worst, doubt) {
        (Some(Doubt::NotCold { passes, resident }), Doubt::NotCold { passes: more, resident: share }) => {
            Some(Doubt::NotCold { passes: passes + more, resident: share.max(resident) })
        }
        (worst, doubt) => worst.or_else(|| Some(doubt.clone())),
    })
}

/// Whether an iteration costs something else in batches of half the length.
fn non_linear(harvests: &[&Harvest]) -> Option<Doubt> {
    const ENOUGH: usize = 4;
    let halves = sorted(harvests.iter().flat_map(|harvest| harvest.halves.iter().copied()));
    let wholes = sorted(
        harvests
            .iter()
            .filter(|harvest| !harvest.halves.is_empty())
            .flat_map(|harvest| harvest.samples.iter().map(|sample| sample.ns)),
    );
    let (half, whole) = (quantile(&halves, 0.5)?, quantile(&wholes, 0.5)?);
    // Neighbours make both scatter: beyond the quartiles of either they really differ.
    let beyond = half > quantile(&wholes, 0.9)? * 1.1 || half < quantile(&wholes, 0.1)? * 0.9;
    (halves.len() >= ENOUGH && beyond).then(|| Doubt::NonLinear { ratio: half / whole })
}

/// Subtracts terms, innermost first: a term's own net cost must be known before it is subtracted.
fn subtract_terms(entries: &[Entry], costs: &mut [Option<Cost>]) {
    let mut done: Vec<bool> = costs.iter().map(|cost| cost.as_ref().is_none_or(|cost| cost.terms.is_empty())).collect();
    let place = |term: &Term| entries.iter().position(|entry| entry.is(term));
    // The registry's terms form no cycle, so every turn of this loop finishes at least one cost.
    while let Some(index) = (0..costs.len()).find(|&index| {
        !done[index]
            && costs[index]
                .as_ref()
                .is_some_and(|cost| cost.terms.iter().all(|term| place(term).is_none_or(|of| done[of])))
    }) {
        done[index] = true;
        let Some(mut cost) = costs[index].take() else { continue };
        let gross = cost.gross_ns.get(cost.headline).0;
        if let Err(missing) = subtract(&mut cost, |term| costs[place(term)?].as_ref()) {
            cost.terms.clear();
            cost.doubts.push(Doubt::RoundLost {
                reason: format!("its baseline {missing} was not measured, so nothing is subtracted"),
            });
        }
        cost.cycles = rounded(cost.cycles * cost.quoted().0 / gross);
        costs[index] = Some(cost);
    }
}

/// How far twins lie apart.
fn band(entries: &[Entry], costs: &[Option<Cost>]) -> Option<Band> {
    let pairs = entries.iter().zip(costs).filter_map(|(entry, twin)| {
        let Role::Twin(of) = entry.role else { return None };
        let (twin, first) = (twin.as_ref()?, costs[of].as_ref()?);
        let ratio = twin.gross_ns.quiet.0 / first.gross_ns.quiet.0;
        let sound = twin.doubts.is_empty() && first.doubts.is_empty();
        Some((first.name(), rounded((ratio - 1.0).abs()), sound))
    });
    let pairs: Vec<(String, f64, bool)> = pairs.collect();
    // A twin with a doubt tells of that doubt, not of the machine; where all have one, they are all there is.
    let any_sound = pairs.iter().any(|(_, _, sound)| *sound);
    let counted = pairs.iter().filter(|(_, _, sound)| *sound || !any_sound);
    let difference = counted.map(|(_, apart, _)| *apart).fold(0.0, f64::max);
    let operations: Vec<(String, f64)> = pairs.iter().map(|(name, apart, _)| (name.clone(), *apart)).collect();
    (!operations.is_empty()).then_some(Band { difference, operations })
}

/// The machine's processor time while the run lasts, from the kernel's accounts.
pub(crate) struct Accounts {
    start: Option<Ticks>,
}

#[derive(Clone, Copy)]
struct Ticks {
    busy: f64,
    all: f64,
    steal: f64,
    own: f64,
}

impl Accounts {
    pub fn open() -> Accounts {
        Accounts { start: Ticks::now() }
    }

    /// Fills in what others used. Our own part counts once the launcher is reaped: close only then.
    fn close(self, noise: &mut Noise) {
        let (Some(start), Some(end)) = (self.start, Ticks::now()) else { return };
        let all = (end.all - start.all).max(1.0);
        noise.others = rounded((((end.busy - start.busy) - (end.own - start.own)) / all).max(0.0));
        noise.steal = rounded((end.steal - start.steal) / all);
    }
}

impl Ticks {
    fn now() -> Option<Ticks> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        let fields: Vec<f64> =
            text.lines().next()?.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
        let at = |index: usize| fields.get(index).copied().unwrap_or(0.0);
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        Some(Ticks {
            busy: at(0) + at(1) + at(2) + at(5) + at(6),
            all: fields.iter().take(8).sum(),
            steal: at(7),
            own: crate::watch::own_processor_time() / 1e9 * per_second,
        })
    }
}
