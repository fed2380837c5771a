//! What several runs say of one cost: its figures, its intervals, and the rounds they rest on.

use std::collections::{BTreeMap, BTreeSet};

use analysis::statistics::median;
use howslow_lab::components::{Components, components};
use record::{Cost, Doubt, Estimate, Round, Run};

/// What a cost's scatter depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Clock,
    Beyond,
    Several,
    Waits,
}

pub(super) const KINDS: [Kind; 4] = [Kind::Clock, Kind::Beyond, Kind::Several, Kind::Waits];

impl Kind {
    fn of(cost: &Cost) -> Kind {
        match cost {
            _ if cost.headline == Estimate::Typical => Kind::Waits,
            _ if cost.cpus > 1 => Kind::Several,
            _ if cost.follows_clock => Kind::Clock,
            _ => Kind::Beyond,
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Kind::Clock => "one CPU, follows the clock",
            Kind::Beyond => "one CPU, does not follow the clock (memory beyond the core's caches and the like)",
            Kind::Several => "several CPUs",
            Kind::Waits => "waits for a device or a timer (quoted by typical)",
        }
    }
}

/// One run's figure and interval: in cycles for costs that follow the clock, else in ns.
struct Figure {
    value: f64,
    /// `None` where the run tells none.
    interval: Option<(f64, f64)>,
}

/// What the runs say of one cost.
pub(super) struct History {
    pub name: String,
    pub kind: Kind,
    pub cycles: Vec<f64>,
    pub ns: Vec<f64>,
    /// How many figures came without an interval.
    pub without_interval: usize,
    figures: Vec<Figure>,
    half_widths: Vec<f64>,
    /// By run, launcher and round: the round's own figure.
    rounds: Vec<Vec<Vec<f64>>>,
    /// In how many runs each doubt was told.
    doubts: BTreeMap<String, usize>,
}

/// The costs that at least two runs have. Another version, headline or relation to the clock is another cost.
pub(super) fn gather(runs: &[Run]) -> Vec<History> {
    let mut histories: BTreeMap<_, History> = BTreeMap::new();
    for cost in runs.iter().flat_map(|run| &run.costs) {
        let key = (cost.name(), cost.version, cost.follows_clock, format!("{:?}", cost.headline));
        histories.entry(key).or_insert_with(|| History::new(cost)).add(cost);
    }
    histories.into_values().filter(|history| history.figures.len() > 1).collect()
}

impl History {
    fn new(cost: &Cost) -> History {
        History {
            name: cost.name(),
            kind: Kind::of(cost),
            cycles: Vec::new(),
            ns: Vec::new(),
            without_interval: 0,
            figures: Vec::new(),
            half_widths: Vec::new(),
            rounds: Vec::new(),
            doubts: BTreeMap::new(),
        }
    }

    fn add(&mut self, cost: &Cost) {
        let quoted = cost.quoted().0;
        self.cycles.push(cost.cycles);
        self.ns.push(quoted);
        self.half_widths.extend(cost.half_width());
        // The interval is stored in ns at the clock of its run: the figure's own cycles take it back.
        // What waits is quoted as it was read.
        let in_cycles = cost.follows_clock && cost.headline != Estimate::Typical;
        let (value, scale) = if in_cycles { (cost.cycles, cost.cycles / quoted) } else { (quoted, 1.0) };
        let ends = (cost.net_ns.low.0 * scale, cost.net_ns.high.0 * scale);
        let interval = (cost.has_interval() && scale.is_finite()).then_some(ends);
        self.without_interval += usize::from(interval.is_none());
        self.figures.push(Figure { value, interval });
        self.rounds.push(by_launcher(cost));
        let kinds: BTreeSet<String> = cost.doubts.iter().map(kind_of).collect();
        for kind in kinds {
            *self.doubts.entry(kind).or_default() += 1;
        }
    }

    /// How many of the other runs' figures the intervals hold, of how many.
    pub(super) fn covered(&self) -> (u32, u32) {
        let (mut holds, mut pairs) = (0, 0);
        for (one, figure) in self.figures.iter().enumerate() {
            let Some((low, high)) = figure.interval else { continue };
            for (other, of) in self.figures.iter().enumerate() {
                if one != other {
                    pairs += 1;
                    holds += u32::from((low..=high).contains(&of.value));
                }
            }
        }
        (holds, pairs)
    }

    /// The same as a share; `None` where no run has an interval.
    pub(super) fn coverage(&self) -> Option<f64> {
        let (holds, pairs) = self.covered();
        (pairs > 0).then(|| f64::from(holds) / f64::from(pairs))
    }

    /// The median of the runs' half widths, over the figure.
    pub(super) fn half_width(&self) -> Option<f64> {
        median(self.half_widths.iter().copied())
    }

    pub(super) fn components(&self) -> Components {
        components(&self.rounds)
    }

    /// The doubts and in how many runs each was told.
    pub(super) fn doubted(&self) -> String {
        let one = |(doubt, times): (&String, &usize)| format!("{doubt} {times}/{}", self.figures.len());
        self.doubts.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// What a doubt is called, without its figures.
fn kind_of(doubt: &Doubt) -> String {
    let text = format!("{doubt:?}");
    text.split([' ', '(', '{']).next().unwrap_or_default().into()
}

/// Each round's figure, by the launcher that started it.
fn by_launcher(cost: &Cost) -> Vec<Vec<f64>> {
    let mut launchers: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for round in &cost.rounds {
        launchers.entry(round.launcher).or_default().extend(figure_of(cost, round));
    }
    launchers.into_values().collect()
}

/// The median over the batches that the headline figure rests on; `None` where the round has none.
fn figure_of(cost: &Cost, round: &Round) -> Option<f64> {
    if cost.headline == Estimate::Typical {
        return if round.survey == Some(false) { None } else { median(round.ns.iter().copied()) };
    }
    let batches = round.ns.iter().zip(&round.cycle_ns).zip(&round.quiet).filter(|(_, quiet)| **quiet);
    median(batches.map(|((ns, cycle), _)| if cost.follows_clock { ns / cycle } else { *ns }))
}
