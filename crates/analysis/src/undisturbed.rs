//! The figure of a cost with its interval, from its rounds: what it takes on an undisturbed core, what an operation on two CPUs
//! takes, and what is typical.

use record::{Doubt, Nanoseconds, Round, smallest_first};

use crate::landing::RoundFigure;
use crate::posterior::{FLOOR, Observation, Quantiles, RoundScatter, posterior};
use crate::prior::{Prior, scattered};
use crate::reading::{Clocking, quiet_samples, samples};
use crate::statistics::{Interval, median, most_in_another, quantile, sorted};

/// Rounds whose trust adds up to less than this rest on a few lucky checks. On a busy host, nine in ten costs with less
/// than 1 were more than 3 % off, and one in five of those with 6 to 10.
pub(crate) const ENOUGH_TRUST: f64 = 6.0;

/// A figure with its interval, and the number of rounds behind it.
pub(crate) struct Estimated {
    pub interval: Interval,
    pub rounds: usize,
}

/// The cost on an undisturbed core, in ns or cycles. The figure is that by the default scatter, so that no earlier run moves it;
/// what earlier runs showed makes its interval. Without an undisturbed batch, both come from the disturbed rounds; if these waited for
/// other tasks, the cost is at most what they took.
pub(crate) fn undisturbed(
    rounds: &[Round],
    clocking: Clocking,
    prior: &Prior,
    doubts: &mut Vec<Doubt>,
) -> Option<Estimated> {
    const SEVERAL: usize = 3;
    let figures: Vec<QuietRound> = rounds.iter().filter_map(|round| QuietRound::of(round, clocking)).collect();
    let medians = disturbed_medians(rounds, clocking);
    if figures.is_empty() && medians.is_none() {
        return never_had_the_cpu(rounds, clocking);
    }
    let count = if figures.is_empty() { medians.as_ref().map_or(0, Vec::len) } else { figures.len() };
    let values = || figures.iter().map(|round| round.figure).chain(medians.iter().flatten().copied());
    if values().any(|figure| figure <= 0.0) {
        return Some(Estimated { interval: unresolved(values()), rounds: count });
    }
    let points = points(&figures, medians.as_deref(), prior)?;
    let lucky = figures.len() >= SEVERAL && figures.iter().all(QuietRound::is_luck);
    // Room below for what a neighbour adds.
    let low = if lucky { points.low - prior.slow_down.0 - prior.slow_down.1 } else { points.low };
    let points = Quantiles { low, ..points };
    if figures.is_empty() {
        doubts.push(Doubt::FromDisturbed { slow_down: prior.slow_down.0.exp_m1(), earlier_rounds: prior.rounds });
    } else if figures.len() < SEVERAL || figures.iter().map(QuietRound::trust).sum::<f64>() < ENOUGH_TRUST {
        let batches = figures.iter().map(|round| round.quiet as u32).sum();
        doubts.push(Doubt::FewQuiet { batches, rounds: figures.len() as u32 });
    }
    let points = stretched(points, prior.stretch(), between_runs(&figures, clocking, prior));
    let wider =
        with_layouts(points, &figures, |run| Some(self::points(run, medians.as_deref(), &prior.first())?.middle));
    let beyond = [(wider.low < points.low).then_some(wider.low), (wider.high > points.high).then_some(wider.high)];
    doubts
        .extend(beyond.into_iter().flatten().map(|log| Doubt::Layout { at: Nanoseconds(log.exp() * clocking.unit()) }));
    Some(Estimated { interval: ends(wider), rounds: count })
}

/// A round that shows a layout of its own lies this far beyond the interval.
const LAYOUT_APART: f64 = 0.02;

/// Extends an interval to layouts that some rounds show: by where code and data lie, a cost may have two levels on a quiet core. Below
/// the interval, a round with several quiet batches counts: no neighbour makes it faster. Above it, one that was mostly quiet. The
/// interval reaches to where another run `lands` that has as many of them as chance may bring it.
fn with_layouts(points: Quantiles, figures: &[QuietRound], lands: impl Fn(&[QuietRound]) -> Option<f64>) -> Quantiles {
    let mut figures = figures.to_vec();
    smallest_first(&mut figures, |round| round.figure);
    let other_run = |least: usize, is_apart: &dyn Fn(&QuietRound) -> bool| {
        let (apart, others): (Vec<QuietRound>, Vec<QuietRound>) = figures.iter().partition(|round| is_apart(round));
        if apart.len() < least {
            return None;
        }
        let most = most_in_another(apart.len(), figures.len());
        lands(&[evenly(&apart, most), evenly(&others, figures.len() - most)].concat())
    };
    let (low, high) = (points.low - LAYOUT_APART, points.high + LAYOUT_APART);
    let below = other_run(1, &|round| round.is_several() && round.figure.ln() < low).filter(|log| *log < low);
    let above = other_run(2, &|round| round.is_good() && round.figure.ln() > high).filter(|log| *log > high);
    Quantiles { low: below.unwrap_or(points.low), high: above.unwrap_or(points.high), ..points }
}

/// So many of these rounds, or some of them several times, spread over all. None of none.
fn evenly(rounds: &[QuietRound], count: usize) -> Vec<QuietRound> {
    let each = rounds.len() as f64 / count as f64;
    let places = (0..count).map(|place| ((place as f64 + 0.5) * each) as usize);
    places.filter_map(|place| rounds.get(place).copied()).collect()
}

/// The same from rounds that were undisturbed, without layouts.
pub(crate) fn of_rounds(figures: &[QuietRound], clocking: Clocking, prior: &Prior) -> Option<Interval> {
    Some(ends(stretched(points(figures, None, prior)?, prior.stretch(), between_runs(figures, clocking, prior))))
}

/// How far the figure of one run is off, however many rounds it has, by how these and what was known before scatter. Without it,
/// intervals of ten calm runs with 20 rounds of a cost held the figure of another run in 89 to 92 % instead of 95 %.
fn between_runs(figures: &[QuietRound], clocking: Clocking, prior: &Prior) -> f64 {
    /// By which share of the scatter of rounds runs differ, and the most that counts of it: what does not follow the clock keeps a
    /// level for a whole run. Where that scatters by more than a tenth, it lies in a cache that others use too, one minute more than the
    /// next: runs differ as much as rounds, so that 95 in 100 lie within twice the scatter.
    const CORE: (f64, f64) = (0.8, 0.1);
    const MEMORY: (f64, f64) = (1.2, 1.0);
    const SHARED_CACHE: (f64, f64) = (2.0, 1.0);
    const SHARED_FROM: f64 = 0.1;
    /// A round that weighs less was hardly undisturbed.
    const LEAST: f64 = 1.0;
    let rounds = figures.iter().map(|round| (round.figure.ln(), round.trust()));
    let rounds: Vec<(f64, f64)> = rounds.filter(|(_, weight)| *weight >= LEAST).collect();
    let own = scattered(&rounds).map(|(_, own)| own);
    let scatter = own.map_or(prior.scatter, |own| prior.joined(own, rounds.len()));
    let ((share, most), scatter) = match (clocking, own.unwrap_or(0.0)) {
        (Clocking::AsRead, own) if own > SHARED_FROM => (SHARED_CACHE, own),
        (Clocking::AsRead, own) => (MEMORY, scatter.max(own)),
        _ => (CORE, scatter),
    };
    FLOOR.hypot(share * scatter.min(most) / f64::from(prior.runs.max(1)).sqrt())
}

/// The points of the cost's logarithm by these rounds, and by the medians of disturbed ones.
fn points(figures: &[QuietRound], disturbed: Option<&[f64]>, prior: &Prior) -> Option<Quantiles> {
    const ABOVE: f64 = 0.20;
    let observed: Vec<Observation> = figures.iter().map(QuietRound::observed).collect();
    let by = |prior: &Prior| {
        let disturbed = disturbed.and_then(|medians| by_slow_down(medians, prior));
        let usual = prior.scatter.hypot(FLOOR / 4.0);
        posterior(&observed, RoundScatter { usual, spread: prior.spread(), above: ABOVE }, disturbed)
    };
    match by(prior)? {
        own if figures.is_empty() || prior.rounds == 0 => Some(own),
        own => Some(Quantiles { middle: by(&prior.first())?.middle, ..own }),
    }
}

/// What one round with quiet batches showed.
#[derive(Clone, Copy)]
pub(crate) struct QuietRound {
    /// The median of the quiet batches.
    pub figure: f64,
    /// How many they are.
    pub quiet: usize,
    /// Their share of the round's batches.
    pub share: f64,
}

impl QuietRound {
    pub(crate) fn of(round: &Round, clocking: Clocking) -> Option<QuietRound> {
        let samples: Vec<f64> = quiet_samples(round, clocking).collect();
        let (quiet, share) = (samples.len(), samples.len() as f64 / round.ns.len().max(1) as f64);
        Some(QuietRound { figure: median(samples)?, quiet, share })
    }

    fn observed(&self) -> Observation {
        /// The probability of being slowed: of a round that was quiet throughout, what is added if none of it was, what is added
        /// for very few batches, and the most.
        const WHOLE: f64 = 0.12;
        const SHARED: f64 = 0.50;
        const FEW: f64 = 0.20;
        const MOST: f64 = 0.9;
        let few = if self.quiet <= 2 { FEW } else { 0.0 };
        Observation { log: self.figure.ln(), slowed: (WHOLE + SHARED * (1.0 - self.share) + few).min(MOST) }
    }

    /// How many quiet batches it counts as.
    fn trust(&self) -> f64 {
        RoundFigure::trust(self.quiet, self.share)
    }

    pub(crate) fn weighted(self) -> RoundFigure {
        RoundFigure { figure: self.figure, weight: self.trust() }
    }

    /// True if so few of its batches were quiet that a neighbour who stays between two checks explains them.
    fn is_luck(&self) -> bool {
        const LEAST: f64 = 0.03;
        self.share < LEAST
    }

    /// True if more than a lucky check or two made its figure.
    fn is_several(&self) -> bool {
        self.quiet >= 3
    }

    /// True if no neighbour can have made its figure.
    fn is_good(&self) -> bool {
        self.is_several() && self.share >= 0.5
    }
}

/// Medians of the rounds without a quiet batch that had the CPU; of those with several batches if there are any. `None` without such
/// rounds.
pub(crate) fn disturbed_medians(rounds: &[Round], clocking: Clocking) -> Option<Vec<f64>> {
    const SEVERAL: usize = 5;
    let medians = |least: usize| -> Vec<f64> {
        let disturbed = rounds.iter().filter(|round| !round.quiet.contains(&true) && round.ns.len() >= least);
        disturbed.filter(|round| had_the_cpu(round)).filter_map(|round| median(samples(round, clocking))).collect()
    };
    [medians(SEVERAL), medians(1)].into_iter().find(|medians| !medians.is_empty())
}

/// False for a round that mostly waited for other tasks, as a yield does beside them: its time says nothing of the cost. A system that
/// counts processor time in ticks has none of most rounds.
fn had_the_cpu(round: &Round) -> bool {
    let waited = |(cpu, waited): (Nanoseconds, Nanoseconds)| cpu.0 > 0.0 && waited.0 > cpu.0;
    !round.cpu_ns.zip(round.wait_ns).is_some_and(waited)
}

/// A cost of which no round had the CPU: at most what they took. `None` if the clock gives no figure.
fn never_had_the_cpu(rounds: &[Round], clocking: Clocking) -> Option<Estimated> {
    let medians: Vec<f64> = rounds.iter().filter_map(|round| median(samples(round, clocking))).collect();
    let are_known = medians.iter().all(|median| median.is_finite());
    are_known.then(|| Estimated { interval: unresolved(medians.iter().copied()), rounds: medians.len() })
}

/// The logarithm of the cost by disturbed rounds, with its standard deviation.
fn by_slow_down(medians: &[f64], prior: &Prior) -> Option<(f64, f64)> {
    const LEAST: f64 = 0.02;
    let (slow_down, deviation) = prior.slow_down;
    let deviation = deviation * (1.0 + 1.0 / medians.len() as f64).sqrt();
    Some((median(medians.iter().copied())?.ln() - slow_down, deviation.hypot(LEAST)))
}

/// The share of a round's batches below what it shows of an operation on two CPUs.
pub(crate) const LOW: f64 = 0.1;

/// The cost of an operation on two CPUs: from the low batches of all rounds, since hardly any has both to itself, and a lucky batch
/// would outvote all others.
pub(crate) fn lowest(rounds: &[Round], clocking: Clocking) -> Option<Estimated> {
    const SLOWED: f64 = 0.45;
    const STRETCH: f64 = 1.1;
    const WIDE: RoundScatter = RoundScatter { usual: 0.15, spread: 0.5, above: 1.5 };
    /// By how much runs of one hour differ, however many rounds they have.
    const BETWEEN_RUNS: f64 = 0.09;
    let figures = |least: usize| -> Vec<f64> {
        let rounds = rounds.iter().filter(|round| round.ns.len() >= least);
        rounds.filter_map(|round| quantile(&sorted(samples(round, clocking)), LOW)).collect()
    };
    let figures = [figures(2), figures(1)].into_iter().find(|figures| !figures.is_empty())?;
    if figures.iter().any(|figure| *figure <= 0.0) {
        return Some(Estimated { interval: unresolved(figures.iter().copied()), rounds: figures.len() });
    }
    let observed: Vec<Observation> =
        figures.iter().map(|figure| Observation { log: figure.ln(), slowed: SLOWED }).collect();
    let points = stretched(posterior(&observed, WIDE, None)?, STRETCH, BETWEEN_RUNS);
    Some(Estimated { interval: ends(points), rounds: figures.len() })
}

/// A typical figure with the interval that the medians of its rounds give.
pub(crate) fn of_typical(figure: f64, medians: &[RoundFigure]) -> Interval {
    const SLOWED: f64 = 0.12;
    const WIDE: RoundScatter = RoundScatter { usual: 0.1, spread: 0.9, above: 0.20 };
    let values = || medians.iter().map(|round| round.figure);
    if figure <= 0.0 || values().any(|figure| figure <= 0.0) {
        return Interval { value: figure, ..unresolved(values()) };
    }
    let observed: Vec<Observation> = values().map(|value| Observation { log: value.ln(), slowed: SLOWED }).collect();
    let Some(points) = posterior(&observed, WIDE, None) else { return Interval::unbounded(figure) };
    ends(stretched(Quantiles { middle: figure.ln(), ..points }, 1.0, FLOOR))
}

/// A figure that the clock does not resolve: somewhere between the least and the greatest, and nothing.
fn unresolved(figures: impl Iterator<Item = f64>) -> Interval {
    let figures = sorted(figures);
    let (low, high) = (figures.first().copied().unwrap_or(0.0), figures.last().copied().unwrap_or(0.0));
    Interval { value: quantile(&figures, 0.5).unwrap_or(0.0), low: low.min(0.0), high: high.max(0.0) }
}

/// The points as far from the middle as is known, and no nearer than this.
fn stretched(points: Quantiles, by: f64, least: f64) -> Quantiles {
    let Quantiles { low, middle, high } = points;
    let reach = |end: f64| (by * end.max(0.0)).hypot(least);
    Quantiles { low: middle - reach(middle - low), middle, high: middle + reach(high - middle) }
}

fn ends(points: Quantiles) -> Interval {
    Interval { value: points.middle.exp(), low: points.low.exp(), high: points.high.exp() }
}
