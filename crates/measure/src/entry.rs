//! One item on its way to a cost: the results of its rounds so far.

use std::time::Duration;

use analysis::landing::RoundFigure;
use analysis::statistics::{median, quantile, sorted};
use operation::{Item, Operation, PartnerPlace};
use record::{Estimate, Point, Skip, Term};

use crate::batch::{RoundSamples, Sample};
use crate::hidden::HiddenSample;
use crate::quiet::{Guard, Quietness};
use crate::round::RoundEnd;

/// Why an item is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Requested,
    /// It is a term of an item that the user requested.
    Term,
    /// It is a second measurement of the item with this index.
    Twin(usize),
}

pub(crate) struct RoundTaken {
    pub start: RoundStart,
    pub end: Result<RoundSamples, String>,
}

/// Where and when a round began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundStart {
    pub order: u32,
    pub cpu: u32,
    /// The number of the launcher that started it.
    pub launcher: u32,
    /// True if it took batches whatever the core was doing.
    pub survey: bool,
}

/// One item on its way to a cost.
pub(crate) struct ItemProgress {
    pub item: Item,
    pub role: Purpose,
    pub rounds: Vec<RoundTaken>,
    pub skip: Option<(String, String)>,
    /// Iterations per batch, as found by the latest round.
    pub hint: Option<u64>,
    /// Time of a round outside its batches: start, set-up, warm-up.
    pub overhead: Duration,
    /// Time of all its rounds.
    pub spent: Duration,
    /// Rounds lost in a row since the last good one.
    pub failing: u32,
    /// True if its latest lost round hung.
    pub hung: bool,
    /// True if work runs beside it on purpose.
    pub has_load: bool,
    /// Pairs of windows that account for its processor time.
    pub accounted: Vec<HiddenSample>,
}

impl ItemProgress {
    pub fn new(operation: &'static Operation, point: Point, role: Purpose) -> ItemProgress {
        let item = Item { operation, point };
        let overhead = Duration::from_millis(2);
        ItemProgress {
            item,
            role,
            rounds: Vec::new(),
            skip: None,
            hint: None,
            overhead,
            spent: Duration::ZERO,
            failing: 0,
            hung: false,
            has_load: false,
            accounted: Vec::new(),
        }
    }

    /// True if the term names this entry (and it is no twin).
    pub fn is(&self, term: &Term) -> bool {
        !matches!(self.role, Purpose::Twin(_)) && self.item.operation.id == term.operation && self.item.point == term.at
    }

    /// Operation and point for people, with sizes as a page shows them.
    pub fn typed(&self) -> String {
        format!("{}{}", self.item.operation.id, self.item.point.typed())
    }

    /// The figure that it is quoted by: the operation's own, or the typical one if work runs beside it on purpose, because
    /// then the undisturbed batches are those that missed what is to be measured.
    pub fn quoted(&self) -> Estimate {
        if self.has_load { Estimate::Typical } else { self.item.operation.quoted }
    }

    /// True if its headline figure needs quiet batches.
    pub fn wants_quiet(&self) -> bool {
        self.quoted() == Estimate::Quiet
    }

    /// True if its time scales with the core clock. If a partner wakes up on another CPU, most of the time belongs to
    /// the hypervisor or the interrupt controller, so it does not.
    pub fn follows_clock(&self) -> bool {
        let Item { operation, point } = &self.item;
        (operation.follows_clock)(point) && !operation.uses_other_cpu(point)
    }

    /// Where its partner runs.
    pub fn partner_place(&self) -> PartnerPlace {
        PartnerPlace::at(self.item.operation.axes, &self.item.point)
    }

    /// How many CPUs it keeps busy.
    pub fn cpus(&self) -> u32 {
        self.item.operation.cpus(&self.item.point)
    }

    /// True if more rounds can bring results: it is not skipped, and has not failed three times in a row.
    pub fn alive(&self) -> bool {
        self.skip.is_none() && self.failing < 3
    }

    /// True if all of its tasks sleep at some moments by design.
    pub fn waits(&self) -> bool {
        self.is_delayed_unseen() || self.quoted() == Estimate::Typical
    }

    /// True if other tasks can delay it although no batch of its CPU shows that.
    pub fn is_delayed_unseen(&self) -> bool {
        self.item.operation.is_delayed_unseen(&self.item.point)
    }

    /// The criteria for interruptions of a batch.
    pub fn guard(&self) -> Guard {
        Guard { usual_switches: self.usual_switches(), waits: self.waits() }
    }

    /// True if its next round takes batches whatever the core is doing. Every other round does so, starting with the
    /// first, until there are `enough`.
    pub fn wants_survey(&self, enough: usize) -> bool {
        !self.wants_quiet() || (self.rounds.len().is_multiple_of(2) && self.surveyed() < enough)
    }

    /// The CPU of its next round that takes batches whatever the core is doing: the next one after that of its last such
    /// round, so that the typical figure is that of all CPUs. Items begin on different ones; this item is `number`.
    pub fn survey_cpu(&self, number: usize, cpus: &[u32]) -> u32 {
        let surveys = self.rounds.iter().filter(|round| round.start.survey).count();
        cpus[(number + surveys) % cpus.len()]
    }

    /// The number of rounds that took batches whatever the core was doing.
    pub fn surveyed(&self) -> usize {
        self.harvests().filter(|(round, harvest)| round.survey && !harvest.samples.is_empty()).count()
    }

    pub fn take_in(&mut self, start: RoundStart, end: RoundEnd) {
        let end = match end {
            RoundEnd::Measured(harvest) => {
                self.failing = 0;
                self.hint = Some(harvest.times);
                Ok(harvest)
            }
            RoundEnd::Accounted(samples) => {
                self.accounted.extend(samples);
                return;
            }
            // Those of several items are taken in one by one.
            RoundEnd::Alternated(_) | RoundEnd::EndedBy(..) => return,
            // What has been measured can be measured here.
            RoundEnd::Skipped(reason, _) if self.is_measured() => {
                (self.failing, self.hung) = (self.failing + 1, false);
                Err(reason)
            }
            RoundEnd::Skipped(reason, remedy) => {
                self.skip = Some((reason, remedy));
                return;
            }
            RoundEnd::Lost(reason) => {
                (self.failing, self.hung) = (self.failing + 1, false);
                Err(reason)
            }
            RoundEnd::Hung(reason) => {
                (self.failing, self.hung) = (self.failing + 1, true);
                Err(reason)
            }
        };
        self.rounds.push(RoundTaken { start, end });
    }

    /// Multiplies the cycles of all batches.
    pub fn correct_cycles(&mut self, factor: f64) {
        self.samples().for_each(|sample| sample.cycle *= factor);
    }

    /// Judges which batches were undisturbed, by all that the run has shown until now.
    pub fn judge(&mut self, quietness: &Quietness) {
        let guard = self.guard();
        self.samples().for_each(|sample| sample.quiet = quietness.is_quiet(sample, guard));
    }

    fn samples(&mut self) -> impl Iterator<Item = &mut Sample> {
        let harvests = self.rounds.iter_mut().filter_map(|round| round.end.as_mut().ok());
        harvests.flat_map(|harvest| &mut harvest.samples)
    }

    /// The rounds that have a result.
    pub fn harvests(&self) -> impl Iterator<Item = (&RoundStart, &RoundSamples)> {
        self.rounds.iter().filter_map(|round| Some((&round.start, round.end.as_ref().ok()?)))
    }

    /// True if a round has taken a batch.
    fn is_measured(&self) -> bool {
        self.harvests().any(|(_, harvest)| !harvest.samples.is_empty())
    }

    /// What the batches of a round say of the headline figure, in ns or in cycles: the median of the quiet ones, or of all
    /// where the figure is the typical one.
    pub fn round_figure(&self, harvest: &RoundSamples) -> Option<RoundFigure> {
        let quiet_only = self.wants_quiet();
        let in_cycles = quiet_only && self.follows_clock();
        let counts = |sample: &&Sample| !quiet_only || sample.quiet;
        let read = |sample: &Sample| if in_cycles { sample.ns / sample.cycle } else { sample.ns };
        let figures: Vec<f64> = harvest.samples.iter().filter(counts).map(read).collect();
        if quiet_only {
            return RoundFigure::of_quiet(&figures, harvest.samples.len());
        }
        Some(RoundFigure { figure: median(figures)?, weight: 1.0 })
    }

    /// How often a batch is switched out by the operation itself: partners on one CPU take it from each other. More than
    /// that is somebody else's doing. Where it cannot be known whose doing it was, the time that none of its tasks had the
    /// CPU decides.
    fn usual_switches(&self) -> f64 {
        // Tasks of its own that give the CPU to each other also take it from each other, in some batches and not in
        // others.
        if !self.waits() && self.harvests().any(|(_, harvest)| harvest.usage.voluntary > harvest.samples.len() as f64) {
            return f64::INFINITY;
        }
        let counts = self.harvests().flat_map(|(_, harvest)| harvest.samples.iter().map(|sample| sample.switched_out));
        // The kernel's own threads, which carry what it waits for, take the CPU in some batches and not in others. Other
        // programs show in the number of tasks that want a CPU.
        let often = if self.waits() { 0.5 } else { 0.1 };
        match quantile(&sorted(counts), often) {
            // If the operation itself causes a switch, it does so in every iteration, and the number says nothing about
            // other tasks.
            Some(usual) if usual > 0.0 => f64::INFINITY,
            _ => 0.0,
        }
    }

    /// The skip, if nothing was measured: it is impossible here, or every round was lost.
    pub fn skipped(&self) -> Option<Skip> {
        let (reason, remedy) = match &self.skip {
            Some((reason, remedy)) => (reason.clone(), remedy.clone()),
            None if self.is_measured() => return None,
            None => {
                let lost = self.rounds.iter().rev().find_map(|round| round.end.as_ref().err());
                match lost {
                    Some(reason) => {
                        let remedy = if self.hung { self.item.operation.hung_remedy } else { "" };
                        (format!("every round was lost: {reason}"), remedy.into())
                    }
                    None => ("the time ended before its first round".into(), "raise --budget".into()),
                }
            }
        };
        Some(self.skip_for(reason, remedy))
    }

    /// The skip of what was measured by a clock that shows no figure.
    pub fn without_a_clock(&self) -> Skip {
        self.skip_for("the clock is too coarse to tell the core's frequency".into(), "another clock source".into())
    }

    fn skip_for(&self, reason: String, remedy: String) -> Skip {
        Skip { operation: self.item.operation.id.into(), at: self.item.point.clone(), reason, remedy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_after_a_measured_round_loses_a_round_and_no_cost() {
        static WORK: Operation = Operation { id: "test.work", ..Operation::DEFAULT };
        let speed = crate::speed::Speed { chain: 1.0, width: 1.0 };
        let timed =
            || crate::batch::Timed { elapsed: 1.0, usage: operation::Usage::default(), reads: None, queued: 0.0 };
        let mut measured = RoundSamples::empty(1);
        measured.add(1.0, timed(), (speed, speed));
        let begun = RoundStart { order: 0, cpu: 0, launcher: 0, survey: true };
        let refusal = || RoundEnd::Skipped("there is none".into(), String::new());
        let mut entry = ItemProgress::new(&WORK, Point::default(), Purpose::Requested);
        entry.take_in(begun, RoundEnd::Measured(measured));
        entry.take_in(begun, refusal());
        assert!(entry.skipped().is_none() && entry.alive() && entry.rounds.len() == 2);
        (0..2).for_each(|_| entry.take_in(begun, refusal()));
        assert!(!entry.alive(), "three in a row");
        let mut refused = ItemProgress::new(&WORK, Point::default(), Purpose::Requested);
        refused.take_in(begun, refusal());
        assert!(refused.skipped().is_some());
    }

    #[test]
    fn surveys_take_the_cpus_in_turn() {
        static WORK: Operation = Operation { id: "test.work", ..Operation::DEFAULT };
        for (number, first) in [(0, 0), (1, 1)] {
            let mut entry = ItemProgress::new(&WORK, Point::default(), Purpose::Requested);
            let mut cpus = Vec::new();
            for order in 0..10 {
                let survey = entry.wants_survey(5);
                let cpu = if survey { entry.survey_cpu(number, &[0, 1]) } else { 0 };
                cpus.extend(survey.then_some(cpu));
                let begun = RoundStart { order, cpu, launcher: 0, survey };
                entry.take_in(begun, RoundEnd::Lost("a search or a survey".into()));
            }
            assert_eq!(cpus, [first, 1 - first, first, 1 - first, first]);
        }
    }
}
