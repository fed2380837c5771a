//! Which round comes next, how long it may take, and when to stop.

use std::time::{Duration, Instant};

use analysis::estimate::ENOUGH_ROUNDS;
use analysis::statistics::{median, median_ranks, quantile, sorted};
use record::Settings;

use crate::batch::{Harvest, RoundPlan};
use crate::entry::Entry;
use crate::launcher::Launcher;
use crate::quiet::Quietness;
use crate::round::RoundOrder;
use crate::take::{Ended, Progress, Signals};

/// Part of the budget for the survey: rounds that take batches whatever the cores are doing. The rest seeks quiet.
const SURVEY_SHARE: f64 = 0.35;
/// Rounds of the survey per item.
const SURVEY_ROUNDS: usize = 3;
/// Bounds of the time for the batches of one round, in seconds.
const SHORTEST_ROUND: f64 = 0.002;
const LONGEST_ROUND: f64 = 0.06;
/// Batches of one round: more would make run files large and medians no better.
const MOST_BATCHES: u32 = 200;
/// An operation may take so many times its equal share of the budget, once it has had enough rounds.
const MOST_SHARES: f64 = 4.0;
/// Numbers of rounds at which the interval is looked at: a rule that looks after every round stops too early on luck.
const LOOKS: [usize; 7] = [6, 10, 15, 20, 30, 50, 100];

/// The work of one run.
pub(crate) struct Schedule<'a> {
    pub entries: Vec<Entry>,
    pub launcher: Launcher,
    pub quietness: Quietness,
    pub settings: &'a Settings,
    pub started: Instant,
    pub on_progress: &'a mut dyn FnMut(Progress),
    pub signals: &'a Signals,
}

/// One round to come.
#[derive(Clone, Copy)]
struct Next {
    entry: usize,
    survey: bool,
    /// Seconds for its batches.
    time: f64,
}

impl Schedule<'_> {
    /// Does the survey, then passes over what is not precise yet, until all is or the budget is spent.
    pub fn work(&mut self) -> Result<(), Ended> {
        let mut random = fastrand::Rng::with_seed(self.settings.seed);
        let mut order = 0;
        self.survey(&mut random, &mut order)?;
        loop {
            self.quietness.update();
            let mut wanting = self.wanting();
            if wanting.is_empty() || self.left() <= 0.0 {
                return Ok(());
            }
            random.shuffle(&mut wanting);
            let time = self.share(&wanting);
            let mut ran = false;
            for entry in wanting {
                let survey = !self.entries[entry].wants_quiet();
                ran |= self.round(Next { entry, survey, time }, &mut random, &mut order)?;
            }
            if !ran {
                return Ok(());
            }
        }
    }

    fn survey(&mut self, random: &mut fastrand::Rng, order: &mut u32) -> Result<(), Ended> {
        let count = self.entries.len() * SURVEY_ROUNDS;
        let mut rounds: Vec<usize> = (0..count).map(|index| index % self.entries.len()).collect();
        random.shuffle(&mut rounds);
        let budget = self.settings.budget_s * SURVEY_SHARE;
        for (done, entry) in rounds.into_iter().enumerate() {
            let overhead: f64 = self.entries.iter().map(|entry| entry.overhead.as_secs_f64()).sum();
            let left = budget - self.started.elapsed().as_secs_f64();
            let mean = left / (count - done) as f64 - overhead / self.entries.len() as f64;
            let time = mean.clamp(SHORTEST_ROUND, LONGEST_ROUND);
            self.round(Next { entry, survey: true, time }, random, order)?;
        }
        Ok(())
    }

    /// The entries that more rounds would help.
    fn wanting(&self) -> Vec<usize> {
        let share = self.settings.budget_s / self.entries.len() as f64;
        // What takes long to set up must not take the time of all others; with few entries a share is long enough.
        let within_share =
            |entry: &Entry| entry.rounds.len() < ENOUGH_ROUNDS || entry.spent.as_secs_f64() < MOST_SHARES * share;
        let wants = |entry: &Entry| entry.alive() && within_share(entry) && !self.is_precise(entry);
        (0..self.entries.len()).filter(|&index| wants(&self.entries[index])).collect()
    }

    /// Whether the interval of the headline figure is as narrow as asked, at the latest look.
    fn is_precise(&self, entry: &Entry) -> bool {
        let usual = entry.usual_switches();
        let figures: Vec<f64> =
            entry.harvests().filter_map(|(_, harvest)| self.figure(entry, usual, harvest)).collect();
        let least = (self.settings.rounds as usize).max(ENOUGH_ROUNDS);
        let Some(look) = LOOKS.iter().rev().find(|&&look| look <= figures.len()) else { return false };
        if figures.len() < least {
            return false;
        }
        // Judged on the rounds there were at the look, not on later ones that happened to come.
        let figures = sorted(figures.into_iter().take((*look).max(least)));
        let (low, high) = median_ranks(figures.len());
        quantile(&figures, 0.5)
            .is_some_and(|middle| figures[high] - figures[low] <= 2.0 * self.settings.precision * middle)
    }

    /// What one round says of the headline figure, in ns or in cycles: only the relative width of the interval is asked for.
    fn figure(&self, entry: &Entry, usual: f64, harvest: &Harvest) -> Option<f64> {
        let counts = |sample: &&crate::batch::Sample| !entry.wants_quiet() || self.quietness.is_quiet(sample, usual);
        let in_cycles = entry.wants_quiet() && entry.follows_clock();
        let of = |sample: &crate::batch::Sample| if in_cycles { sample.ns / sample.cycle } else { sample.ns };
        median(harvest.samples.iter().filter(counts).map(of))
    }

    /// Seconds for the batches of one round of a pass over `wanting`, such that six passes fit into what is left.
    fn share(&self, wanting: &[usize]) -> f64 {
        const PASSES: f64 = 6.0;
        let overhead: f64 = wanting.iter().map(|&index| self.entries[index].overhead.as_secs_f64()).sum();
        let per_round = (self.left() / PASSES - overhead) / wanting.len() as f64;
        per_round.clamp(SHORTEST_ROUND, LONGEST_ROUND)
    }

    /// Seconds left of the budget.
    fn left(&self) -> f64 {
        self.settings.budget_s - self.started.elapsed().as_secs_f64()
    }

    /// Has one round done, if it fits; tells whether it did.
    fn round(&mut self, next: Next, random: &mut fastrand::Rng, order: &mut u32) -> Result<bool, Ended> {
        if let Some(signal) = self.signals.come() {
            return Err(Ended::Signal(signal));
        }
        let entry = &self.entries[next.entry];
        let first = entry.rounds.is_empty();
        let expected = entry.overhead.as_secs_f64() + next.time;
        if !entry.alive() || (!first && self.left() < expected.min(self.settings.budget_s / 10.0)) {
            return Ok(false);
        }
        let cpu = match (next.survey, self.quietness.cpus.len()) {
            (_, 1) => self.quietness.cpus[0],
            (true, count) => self.quietness.cpus[entry.rounds.len() % count],
            (false, _) => self.quietness.quietest_now(random),
        };
        self.tell(next.entry, *order);
        let plan = RoundPlan {
            batch: self.settings.batch_us * 1e3,
            count: self.settings.count,
            hint: self.entries[next.entry].hint,
            time: next.time * 1e9,
            most: MOST_BATCHES,
            quiet_below: (!next.survey).then(|| self.quietness.limit()),
        };
        let distance = self.entries[next.entry].item.point.word("distance").unwrap_or_default().to_owned();
        let other_cpu = self.quietness.other_than(cpu, &distance, random);
        let busy = self.entries[next.entry].cpus();
        let more_cpus = self.quietness.beside(cpu, other_cpu, busy.saturating_sub(2) as usize, random);
        let round = RoundOrder { item: next.entry, cpu, other_cpu, more_cpus, seed: random.u64(..), plan };
        let start = Instant::now();
        let end = self.launcher.round(&round, self.signals)?;
        let took = start.elapsed();
        if let crate::round::RoundEnd::Measured(harvest) = &end {
            self.quietness.take_in(harvest);
        }
        let entry = &mut self.entries[next.entry];
        entry.take_in(*order, cpu, next.survey, end);
        entry.spent += took;
        entry.overhead = took.saturating_sub(Duration::from_secs_f64(next.time));
        *order += 1;
        Ok(true)
    }

    fn tell(&mut self, entry: usize, done: u32) {
        let spent = self.started.elapsed().as_secs_f64();
        let left = self.left().max(0.0);
        // So many rounds as the time left holds at the pace so far; before there is a pace, the least there will be.
        let to_come = match done {
            0 => (self.entries.len() * SURVEY_ROUNDS) as f64,
            _ => left * f64::from(done) / spent,
        };
        let total = done + to_come.ceil() as u32;
        (self.on_progress)(Progress {
            item: self.entries[entry].name(),
            done,
            total,
            left: Duration::from_secs_f64(left),
        });
    }
}
