//! The rounds that look for hidden processor time: after all others, in a share of the budget that is kept for them.

use std::time::Instant;

use crate::batch::RoundPlan;
use crate::entry::{Purpose, RoundStart};
use crate::hidden::WINDOW;
use crate::round::RoundRequest;
use crate::schedule::Schedule;
use crate::signals::Ended;

/// The share of the budget, and the most seconds for each operation.
const SHARE: f64 = 0.08;
const MOST_EACH: f64 = 0.25;
/// Bounds of the time for the windows of one round, in seconds.
const SHORTEST: f64 = 0.02;
const LONGEST: f64 = 0.1;
/// Rounds of each operation, each from another process.
const ROUNDS: usize = 3;
/// The first of them is done for each operation within this many times the share: beside other programs it takes longer, and what came
/// last would have no account at all.
const LONGER: f64 = 4.0;
/// A spinner on each of more CPUs would disturb more than it shows.
const MOST_CPUS: usize = 64;

impl Schedule<'_> {
    /// Seconds that the other rounds leave for these.
    pub(super) fn reserve(&self) -> f64 {
        let count = self.entries.iter().filter(|entry| self.is_accounted(entry)).count();
        (SHARE * self.settings.budget_s).min(MOST_EACH * count as f64)
    }

    fn is_accounted(&self, entry: &crate::entry::ItemProgress) -> bool {
        !self.rounds.are_recorded()
            && entry.role == Purpose::Requested
            && !entry.has_load
            && (self.crosses)(entry.item.operation)
            && self.quietness.usable().len() <= MOST_CPUS
    }

    /// Takes the rounds, as many as there is time for, and one at least.
    pub(super) fn account(&mut self, random: &mut fastrand::Rng, mut order: u32) -> Result<(), Ended> {
        let cpus = self.quietness.usable().to_vec();
        let measured = |entry: &crate::entry::ItemProgress| entry.harvests().next().is_some();
        let mut wanting: Vec<usize> = (0..self.entries.len())
            .filter(|&index| self.is_accounted(&self.entries[index]) && measured(&self.entries[index]))
            .collect();
        let (began, reserve) = (Instant::now(), self.reserve());
        let each = reserve / (ROUNDS * wanting.len().max(1)) as f64;
        let overhead = |index: &usize| self.entries[*index].overhead.as_secs_f64();
        let usual = wanting.iter().map(overhead).sum::<f64>() / wanting.len().max(1) as f64;
        let time = (each - usual).clamp(SHORTEST, LONGEST);
        for pass in 0..ROUNDS {
            if pass > 0 && !wanting.is_empty() {
                self.rounds.renew();
            }
            random.shuffle(&mut wanting);
            for &index in &wanting {
                if let Some(signal) = self.signals.come() {
                    return Err(Ended::Signal(signal));
                }
                if began.elapsed().as_secs_f64() > if pass == 0 { LONGER * reserve } else { reserve } {
                    return Ok(());
                }
                self.accounting_round(index, time, &cpus, random, order)?;
                order += 1;
            }
        }
        Ok(())
    }

    fn accounting_round(
        &mut self,
        index: usize,
        time: f64,
        cpus: &[u32],
        random: &mut fastrand::Rng,
        order: u32,
    ) -> Result<(), Ended> {
        let cpu = self.quietness.cpus[order as usize % self.quietness.cpus.len()];
        let plan = RoundPlan { batch: WINDOW, most: u32::MAX, ..self.round_plan(time) };
        let round = RoundRequest { account_for: cpus.to_vec(), ..self.request(&[index], cpu, plan, random) };
        self.report(index, order);
        let end = self.rounds.round(round, self.signals)?;
        // A figure that is there stays: an account that fails is only missing.
        if let crate::round::RoundEnd::Accounted(_) = &end {
            let begun = RoundStart { order, cpu, launcher: self.rounds.launcher(index), survey: true };
            self.entries[index].take_in(begun, end);
        }
        Ok(())
    }
}
