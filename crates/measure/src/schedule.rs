//! Which round comes next, how long it may take, and when to stop.

mod accounting;
mod lockstep;
mod share;

use std::time::{Duration, Instant};

use analysis::estimate::{ENOUGH_ROUNDS, reach_of_quiet, without_light};
use analysis::landing::{RoundFigure, effective, reach, rounds_needed};
use operation::{Clock, Operation};
use record::{More, Settings};

use crate::batch::RoundPlan;
use crate::entry::{ItemProgress, Purpose, RoundStart};
use crate::error::MeasureError;
use crate::plan::Progress;
use crate::quiet::Quietness;
use crate::replay::Rounds;
use crate::round::{Companion, RoundRequest};
use crate::signals::{Ended, Signals};
use crate::tails::TailPlan;
use share::{Candidate, MOST_SHARES, in_company, next_pass};

/// Rounds of each item that take batches whatever the cores are doing. Every other round does so, starting with the
/// first, so that they are spread over the whole run. Only they give the typical figure, and this many give it an
/// interval.
const SURVEYED: usize = 5;
/// Passes over the items that share the time.
const PASSES: f64 = 12.0;
/// Bounds of the time for the batches of one round, in seconds.
const SHORTEST_ROUND: f64 = 0.002;
const LONGEST_ROUND: f64 = 0.06;
/// Batches of one round. Rounds differ by more than the error that remains after this many batches, so more rounds are
/// better than more batches.
const MOST_BATCHES: u32 = 40;
/// Batches of a round whatever the core is doing, of an item that also has rounds that search. They were 80 % of all batches
/// when they were 40 a round, and gave the same typical figure.
const SURVEY_BATCHES: u32 = 10;
/// Numbers of rounds at which the interval is checked. A rule that checks after every round stops too early by luck.
const LOOKS: [usize; 14] = [6, 8, 10, 12, 15, 20, 30, 50, 100, 150, 200, 300, 500, 1000];
/// From this check on, an item gets no more rounds if its interval would need this many times the rounds it has had.
const DECISIVE_LOOK: usize = 15;
const TOO_MANY_TIMES: f64 = 3.0;
/// A batch has at least this many steps of the clock, so that a step is no more than a third of a percent of it.
const STEPS_OF_A_BATCH: f64 = 300.0;

/// The work of one run.
pub(crate) struct Schedule<'a> {
    pub entries: Vec<ItemProgress>,
    pub rounds: Rounds,
    pub quietness: Quietness,
    pub clock: Clock,
    pub settings: &'a Settings,
    pub started: Instant,
    pub on_progress: &'a mut dyn FnMut(Progress),
    pub signals: &'a Signals,
    pub check: Option<&'a dyn Fn() -> Result<(), String>>,
    pub crosses: fn(&Operation) -> bool,
    /// Of this many entries, from the first, single iterations are timed.
    pub tailed: usize,
    /// The batches of this many entries, from the first, alternate.
    pub paired: usize,
}

#[derive(Clone, Copy)]
struct Next {
    entry: usize,
    survey: bool,
    cpu: u32,
    /// Seconds for its batches.
    time: f64,
}

/// The state of an item's headline figure.
struct Standing {
    /// Rounds that gave a figure, as the equivalent number of rounds of equal weight.
    rounds: f64,
    /// How far another run may lie from it, on the log scale.
    reach: f64,
}

impl Schedule<'_> {
    /// Makes passes over the items that are not yet precise, with a new launcher for each pass. Stops when all are
    /// precise, when nothing improves, or when the budget is spent.
    pub fn work(&mut self) -> Result<(), Ended> {
        let mut random = fastrand::Rng::with_seed(self.settings.seed);
        let mut order = 0;
        if self.paired > 1 && self.settings.tails.is_none() {
            self.work_in_lockstep(&mut random, &mut order)?;
            return self.account(&mut random, order);
        }
        for pass in 0_u32.. {
            self.judge();
            self.quietness.drop_lost_cpus();
            let mut wanting = self.wanting(pass);
            // Every item has one round, however short the time is.
            if wanting.is_empty() || (pass > 0 && self.left() <= 0.0) {
                break;
            }
            if pass > 0 {
                self.rounds.renew();
            }
            random.shuffle(&mut wanting);
            let time = self.share(&wanting, pass);
            let mut ran = false;
            for entry in wanting {
                let (survey, cpu) = self.place(entry, &mut random);
                ran |= self.round(Next { entry, survey, cpu, time }, &mut random, &mut order)?;
            }
            if !ran {
                break;
            }
        }
        self.account(&mut random, order)
    }

    /// Judges anew which batches were undisturbed.
    pub fn judge(&mut self) {
        self.quietness.update();
        self.entries.iter_mut().for_each(|entry| entry.judge(&self.quietness));
    }

    /// Whether the next round of an entry takes batches whatever the core is doing, and its CPU.
    fn place(&mut self, entry: usize, random: &mut fastrand::Rng) -> (bool, u32) {
        if let Some(round) = self.rounds.next(entry) {
            return (round.survey.unwrap_or_default(), round.cpu);
        }
        let progress = &self.entries[entry];
        match progress.wants_survey(SURVEYED) {
            true => (true, progress.survey_cpu(entry, &self.quietness.cpus)),
            false => (false, self.quietness.quietest_now(random)),
        }
    }

    /// The entries of the next pass: those that benefit from more rounds, as far as there is time for them.
    fn wanting(&self, pass: u32) -> Vec<usize> {
        let share = self.settings.budget_s / self.entries.len() as f64;
        // An item with a long set-up must not take the time of all others. With few entries a share is long enough.
        let within_share = |entry: &ItemProgress| {
            entry.rounds.len() < ENOUGH_ROUNDS || entry.spent.as_secs_f64() < MOST_SHARES * share
        };
        let may = |entry: &ItemProgress| entry.alive() && within_share(entry);
        let possible = (0..self.entries.len()).filter(|&at| self.rounds.has_more(at) && may(&self.entries[at]));
        let (wanting, others): (Vec<usize>, Vec<usize>) = possible.partition(|&at| self.helps(&self.entries[at]));
        if pass == 0 {
            return wanting;
        }
        let candidate = |&entry: &usize| {
            let progress = &self.entries[entry];
            Candidate { entry, rounds: progress.rounds.len(), spent: progress.spent.as_secs_f64() }
        };
        let candidates: Vec<Candidate> = wanting.iter().map(candidate).collect();
        let pass = next_pass(&candidates, (PASSES - f64::from(pass)).max(1.0), self.left(), share);
        in_company(pass, others.iter().map(candidate).collect())
    }

    /// True if more rounds would make an item's figure as precise as requested, or give the typical figure.
    fn helps(&self, entry: &ItemProgress) -> bool {
        let least = (self.settings.rounds as usize).max(ENOUGH_ROUNDS);
        if entry.wants_quiet() && entry.surveyed() < SURVEYED && entry.rounds.len() < 2 * least.max(SURVEYED) {
            return true;
        }
        let figures = self.figures(entry);
        let Some(look) = LOOKS.iter().rev().find(|&&look| look <= figures.len()) else { return true };
        if figures.len() < least {
            return true;
        }
        // Judged by the rounds up to this check, and not by later ones that were taken anyway.
        let count = (*look).max(least).min(figures.len());
        let standing = Standing::of(entry, &figures[..count]);
        let hopeless = standing.rounds >= DECISIVE_LOOK.max(least) as f64
            && standing.needed(self.settings.precision).is_none_or(|times| times > TOO_MANY_TIMES);
        standing.reach > self.settings.precision && !hopeless
    }

    /// What each round shows of the headline figure, in the order taken. Only rounds that took batches whatever the cores were
    /// doing give the typical one.
    fn figures(&self, entry: &ItemProgress) -> Vec<RoundFigure> {
        let rounds = entry.harvests().filter(|(round, _)| round.survey || entry.wants_quiet());
        rounds.filter_map(|(_, harvest)| entry.round_figure(harvest)).collect()
    }

    /// What more time would bring: the number of items that are wider than requested, and the seconds needed to narrow
    /// them.
    pub fn more(&self) -> Option<More> {
        let wanted = self.settings.precision;
        let mut more = More { costs: 0, seconds: 0.0 };
        let requested = self.entries.iter().filter(|entry| entry.role == Purpose::Requested && entry.alive());
        for entry in requested {
            let standing = Standing::of(entry, &self.figures(entry));
            if !standing.reach.is_finite() || standing.reach <= wanted {
                continue;
            }
            let Some(times) = standing.needed(wanted) else { continue };
            more.costs += 1;
            more.seconds += (times - 1.0).max(0.0) * entry.spent.as_secs_f64();
        }
        (more.costs > 0).then_some(more)
    }

    /// Seconds for the batches of one round of a pass over `wanting`, so that the remaining passes fit into the
    /// remaining time.
    fn share(&self, wanting: &[usize], pass: u32) -> f64 {
        let passes = (PASSES - f64::from(pass)).max(PASSES / 3.0);
        let overhead: f64 = wanting.iter().map(|&index| self.entries[index].overhead.as_secs_f64()).sum();
        let per_round = (self.left() / passes - overhead) / wanting.len() as f64;
        per_round.clamp(SHORTEST_ROUND, LONGEST_ROUND)
    }

    /// How a round of this entry times single iterations, if it does: the rounds that every entry has share most of the
    /// budget.
    fn tails(&self, entry: usize, seed: u64) -> Option<TailPlan> {
        const OF_THE_BUDGET: f64 = 0.8;
        let tailing = self.settings.tails.filter(|_| entry < self.tailed)?;
        let rounds = self.tailed as f64 * f64::from(self.settings.rounds).max(ENOUGH_ROUNDS as f64);
        let time = OF_THE_BUDGET * self.settings.budget_s / rounds;
        Some(TailPlan { time: time * 1e9, tailing, seed })
    }

    /// Seconds since the start; those of a replay are the seconds of its batches.
    fn elapsed(&self) -> f64 {
        match self.rounds.are_recorded() {
            true => self.entries.iter().map(|entry| entry.spent.as_secs_f64()).sum(),
            false => self.started.elapsed().as_secs_f64(),
        }
    }

    /// Remaining seconds of the budget.
    fn left(&self) -> f64 {
        self.settings.budget_s - self.reserve() - self.elapsed()
    }

    /// The plan of a round with batches of this many seconds in all.
    fn round_plan(&self, time: f64) -> RoundPlan {
        RoundPlan {
            batch: (self.settings.batch_us * 1e3).max(STEPS_OF_A_BATCH * self.clock.step),
            count: self.settings.count,
            hint: None,
            time: time * 1e9,
            most: MOST_BATCHES,
            quiet_below: None,
            leaves_queue_out: self.settings.beside.is_empty(),
            tails: None,
        }
    }

    /// Fails if somebody has requested the end, or what runs beside has broken.
    fn may_go_on(&self) -> Result<(), Ended> {
        if let Some(signal) = self.signals.come() {
            return Err(Ended::Signal(signal));
        }
        let broken = self.check.and_then(|check| check().err());
        broken.map_or(Ok(()), |why| Err(Ended::Broken(MeasureError::Beside(why))))
    }

    /// A round of these entries on this CPU, with partners where they request them.
    fn request(&self, entries: &[usize], cpu: u32, plan: RoundPlan, random: &mut fastrand::Rng) -> RoundRequest {
        let progress = |&entry: &usize| &self.entries[entry];
        let distance = entries.iter().find_map(|entry| progress(entry).partner_place().distance());
        let other_cpu = self.quietness.other_than(cpu, distance, random);
        let busy = entries.iter().map(|entry| progress(entry).cpus()).max().unwrap_or(1);
        let more_cpus = self.quietness.beside(cpu, other_cpu, busy.saturating_sub(2) as usize, random);
        let others = entries[1..].iter().map(|entry| Companion { item: *entry, hint: progress(entry).hint }).collect();
        let (item, seed, account_for) = (entries[0], random.u64(..), Vec::new());
        RoundRequest { item, cpu, other_cpu, more_cpus, seed, plan, others, first_turn: 0, account_for }
    }

    /// Runs one round if time allows; returns whether it ran.
    fn round(&mut self, next: Next, random: &mut fastrand::Rng, order: &mut u32) -> Result<bool, Ended> {
        self.may_go_on()?;
        let entry = &self.entries[next.entry];
        let first = entry.rounds.is_empty();
        let tails = self.tails(next.entry, 0).map_or(0.0, |tails| tails.time / 1e9);
        let expected = entry.overhead.as_secs_f64() + next.time + tails;
        if !entry.alive() || (!first && self.left() < expected.min(self.settings.budget_s / 10.0)) {
            return Ok(false);
        }
        let cpu = next.cpu;
        let most = if next.survey && entry.wants_quiet() { SURVEY_BATCHES } else { MOST_BATCHES };
        self.report(next.entry, *order);
        let plan = RoundPlan {
            hint: self.entries[next.entry].hint,
            most,
            quiet_below: (!next.survey).then(|| self.quietness.limit()),
            ..self.round_plan(next.time)
        };
        let plan = RoundPlan { tails: self.tails(next.entry, random.u64(..)), ..plan };
        let round = self.request(&[next.entry], cpu, plan, random);
        let begun = RoundStart { order: *order, cpu, launcher: self.rounds.launcher(next.entry), survey: next.survey };
        let start = Instant::now();
        let end = self.rounds.round(round, self.signals)?;
        let took = self.rounds.duration(&end, start.elapsed());
        let mut timed = Duration::ZERO;
        if let crate::round::RoundEnd::Measured(harvest) = &end {
            self.quietness.take_in(harvest);
            timed = Duration::from_secs_f64((harvest.took + plan.tails.map_or(0.0, |tails| tails.time)) / 1e9);
        }
        let entry = &mut self.entries[next.entry];
        entry.take_in(begun, end);
        entry.spent += took;
        entry.overhead = took.saturating_sub(timed);
        *order += 1;
        Ok(true)
    }

    fn report(&mut self, entry: usize, done: u32) {
        let (spent, left) = (self.elapsed(), self.left().max(0.0));
        // The number of rounds that fit in the remaining time at the pace so far; before there is a pace, the minimum.
        let to_come = match done {
            0 => (self.entries.len() * ENOUGH_ROUNDS) as f64,
            _ => left * f64::from(done) / spent,
        };
        let total = done.saturating_add(to_come.ceil() as u32);
        (self.on_progress)(Progress {
            item: self.entries[entry].typed(),
            done,
            total,
            left: Duration::from_secs_f64(left),
        });
    }
}

impl Standing {
    fn of(entry: &ItemProgress, figures: &[RoundFigure]) -> Standing {
        if !entry.wants_quiet() {
            return Standing { rounds: effective(figures), reach: reach(figures) };
        }
        let figures = without_light(figures.to_vec());
        Standing { rounds: effective(&figures), reach: reach_of_quiet(&figures) }
    }

    /// Factor on the number of rounds that a reach of `wanted` needs; `None` if no number is enough.
    fn needed(&self, wanted: f64) -> Option<f64> {
        rounds_needed(self.rounds, self.reach, wanted).map(|rounds| rounds / self.rounds.max(1.0))
    }
}
