//! Items in lockstep: rounds in which the batches of several items alternate, until the ratios are as precise as requested or the budget
//! is spent.

use std::time::Instant;

use analysis::lockstep::{Block, blocks, compare};

use crate::alternate::first_turn;
use crate::batch::{RoundPlan, RoundSamples};
use crate::entry::RoundStart;
use crate::round::{RoundEnd, RoundRequest};
use crate::schedule::{Next, SHORTEST_ROUND, Schedule};
use crate::signals::Ended;

/// The seconds for the batches of a round. Many short rounds, because what processes differ by shows between them only.
const ROUND: f64 = 0.02;
/// Before these passes, every other entry, such as a baseline, has a round.
const PASSES_OF_OTHERS: [u32; 6] = [0, 1, 2, 5, 12, 30];
/// The first pass after which it is looked whether the ratios are precise. Later ones follow at a distance of this factor.
const FIRST_LOOK: f64 = 20.0;
const LOOK_FACTOR: f64 = 1.25;
/// With fewer rounds an interval may be narrow by luck, and stopping then would make it too narrow.
const ENOUGH: usize = 20;
/// Half the interval of a ratio is to be this part of the precision requested, so that two that are the same within it can be
/// shown to be.
const PART_OF_PRECISION: f64 = 0.5;
/// Common rounds that may be lost in a row. From then on, every item has rounds of its own.
const MOST_LOST: u32 = 3;
/// A round that takes longer than the time that is left begins if it is at most this many times as long.
const OVERSHOOT: f64 = 1.6;

/// What became of a common round.
enum Common {
    Measured,
    Lost,
    /// There is no time for it.
    Late,
}

impl Schedule<'_> {
    pub(super) fn work_in_lockstep(&mut self, random: &mut fastrand::Rng, order: &mut u32) -> Result<(), Ended> {
        let (mut lost, mut measured, mut look, mut left) = (0, 0, FIRST_LOOK, 0);
        for pass in 0_u32.. {
            if f64::from(pass) >= look || pass == 0 {
                self.judge();
                look = if pass == 0 { look } else { look * LOOK_FACTOR };
                if self.is_settled() {
                    break;
                }
            }
            if pass > 0 && self.left() <= 0.0 {
                break;
            }
            self.quietness.drop_lost_cpus();
            if pass > 0 {
                self.rounds.renew();
            }
            if PASSES_OF_OTHERS.contains(&pass) {
                let others: Vec<usize> = (self.paired..self.entries.len()).collect();
                self.rounds_alone(&others, random, order)?;
            }
            let alive: Vec<usize> = (0..self.paired).filter(|&entry| self.entries[entry].alive()).collect();
            // One that always fails is out by now, and was to blame.
            lost = if alive.len() == left { lost } else { 0 };
            left = alive.len();
            let common = match alive.len() {
                0 => break,
                count if count == 1 || lost >= MOST_LOST => Common::Lost,
                _ => self.common_round(&alive, (pass, &mut measured), random, *order)?,
            };
            match common {
                Common::Measured => {
                    (lost, *order) = (0, *order + 1);
                }
                // Which item is to blame shows when each is alone.
                Common::Lost => {
                    (lost, *order) = (lost + 1, *order + 1);
                    if !self.rounds_alone(&alive, random, order)? {
                        break;
                    }
                }
                Common::Late => break,
            }
        }
        Ok(())
    }

    /// One round of each of these entries by itself, as far as there is time. Returns whether there was one.
    fn rounds_alone(&mut self, entries: &[usize], random: &mut fastrand::Rng, order: &mut u32) -> Result<bool, Ended> {
        let mut ran = false;
        for &entry in entries {
            let (survey, cpu) = self.place(entry, random);
            ran |= self.round(Next { entry, survey, cpu, time: SHORTEST_ROUND }, random, order)?;
        }
        Ok(ran)
    }

    /// A round of these entries together. Every second one is on the CPU that is quiet now, the others are on all in turn.
    fn common_round(
        &mut self,
        alive: &[usize],
        (pass, measured): (u32, &mut u32),
        random: &mut fastrand::Rng,
        order: u32,
    ) -> Result<Common, Ended> {
        self.may_go_on()?;
        let first = &self.entries[alive[0]];
        let expected = first.overhead.as_secs_f64() * alive.len() as f64;
        if !first.rounds.is_empty() && expected > self.left() * OVERSHOOT {
            return Ok(Common::Late);
        }
        let survey = pass % 2 == 0 || !alive.iter().all(|&entry| self.entries[entry].wants_quiet());
        let cpu = match survey {
            true => self.quietness.cpus[(pass / 2) as usize % self.quietness.cpus.len()],
            false => self.quietness.quietest_now(random),
        };
        self.report(alive[0], order);
        let plan = RoundPlan { hint: self.entries[alive[0]].hint, ..self.round_plan(ROUND) };
        let round = RoundRequest { first_turn: first_turn(*measured), ..self.request(alive, cpu, plan, random) };
        let start = Instant::now();
        let end = self.rounds.round(round, self.signals)?;
        let took = start.elapsed().div_f64(alive.len() as f64);
        let begun = RoundStart { order, cpu, launcher: self.rounds.launcher(alive[0]), survey };
        for &entry in alive {
            self.entries[entry].spent += took;
            self.entries[entry].overhead = took;
        }
        Ok(match end {
            RoundEnd::Alternated(harvests) => {
                *measured += 1;
                for (&entry, harvest) in alive.iter().zip(harvests) {
                    self.quietness.take_in(&harvest);
                    self.entries[entry].take_in(begun, RoundEnd::Measured(harvest));
                }
                Common::Measured
            }
            RoundEnd::EndedBy(place, end) => {
                self.entries[alive[place]].take_in(begun, *end);
                // Those that were not to blame lose a round and nothing else.
                Common::Measured
            }
            _ => Common::Lost,
        })
    }

    /// True if half the interval of every ratio to the first item is within the precision requested.
    fn is_settled(&self) -> bool {
        let mut alive = (0..self.paired).filter(|&entry| self.entries[entry].alive());
        let Some(base) = alive.next() else { return true };
        alive.all(|other| {
            let rounds = self.common(base, other);
            let found = compare(&rounds);
            let wanted = PART_OF_PRECISION * self.settings.precision;
            rounds.len() >= ENOUGH.max(self.settings.rounds as usize)
                && found.is_some_and(|found| found.ratio.half() / found.ratio.value <= wanted)
        })
    }

    /// The blocks of two entries, by common round.
    fn common(&self, base: usize, other: usize) -> Vec<Vec<Block>> {
        let mut others = self.entries[other].harvests().peekable();
        let mut all = Vec::new();
        for (round, harvest) in self.entries[base].harvests() {
            while others.next_if(|(other, _)| other.order < round.order).is_some() {}
            if let Some((_, partner)) = others.next_if(|(other, _)| other.order == round.order) {
                let samples = |harvest: &RoundSamples| -> Vec<(f64, bool)> {
                    harvest.samples.iter().map(|sample| (sample.ns, sample.quiet)).collect()
                };
                all.push(blocks(&samples(harvest), &samples(partner)));
            }
        }
        all
    }
}
