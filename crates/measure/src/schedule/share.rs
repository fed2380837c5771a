//! Who has a round in the next pass if there is not time for all of them.

use analysis::estimate::ENOUGH_ROUNDS;
use analysis::statistics::sorted;
use record::smallest_first;

/// Rounds that every item has, however dear they are: fewer say almost nothing of how rounds scatter.
const FEWEST: usize = 3;
/// An item has [`ENOUGH_ROUNDS`] in any case if they take no more than this many times its equal share of the budget. Once it has had
/// them, it may take this much.
pub(super) const MOST_SHARES: f64 = 4.0;
/// Time is short if the passes that are wanted would take this many times what is left. The first rounds take longer than
/// later ones.
const SHORT: f64 = 1.5;

/// A pass has at least as many entries, if there are as many: a round that follows one of its own finds its data and code in the
/// caches, and a run whose last rounds are all of one operation quotes another figure for it than others (execve, 244 rounds: 3 %
/// less).
const COMPANY: usize = 16;

/// An item that benefits from more rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Its place among the entries.
    pub entry: usize,
    /// Rounds so far, at least one.
    pub rounds: usize,
    /// Seconds that they took.
    pub spent: f64,
}

impl Candidate {
    /// Seconds of one round.
    fn each(&self) -> f64 {
        self.spent / self.rounds.max(1) as f64
    }

    /// The rounds that it has in any case, where `share` is an equal share of the budget in seconds.
    fn least(&self, share: f64) -> usize {
        let all = ENOUGH_ROUNDS as f64 * self.each();
        if all <= MOST_SHARES * share { ENOUGH_ROUNDS } else { FEWEST }
    }
}

/// The entries of the next pass, in the order given. `passes` is the number of passes that are wanted, `left` the remaining
/// seconds, `share` an equal share of the budget.
///
/// If the passes over all candidates about fit, all of them have a round. If not, they share the time that is left, and not the
/// rounds: a round more narrows an interval of n rounds by 1 / 2n of it, so that a second narrows all intervals together
/// most where the time spent so far is the least. One candidate that takes a second a round would otherwise take it from
/// two hundred others.
pub(super) fn next_pass(candidates: &[Candidate], passes: f64, left: f64, share: f64) -> Vec<usize> {
    let pass: f64 = candidates.iter().map(Candidate::each).sum();
    let due = |item: &&Candidate| item.rounds < item.least(share);
    // What every item has in any case comes first.
    let owed: f64 =
        candidates.iter().filter(due).map(|item| (item.least(share) - item.rounds) as f64 * item.each()).sum();
    let level = level(candidates, (left - owed).max(0.0));
    let all_fit = pass * passes <= SHORT * left;
    let within = |item: &&Candidate| all_fit || due(item) || item.spent + item.each() / 2.0 <= level;
    candidates.iter().filter(within).map(|item| item.entry).collect()
}

/// The entries of a pass, and others that took the least time so far, so that few of them do not follow themselves.
pub(super) fn in_company(mut pass: Vec<usize>, mut others: Vec<Candidate>) -> Vec<usize> {
    smallest_first(&mut others, |one| one.spent);
    let lacking = if pass.is_empty() { 0 } else { COMPANY.saturating_sub(pass.len()) };
    pass.extend(others.iter().take(lacking).map(|other| other.entry));
    pass
}

/// The time spent to which `left` seconds raise those with the least.
fn level(candidates: &[Candidate], left: f64) -> f64 {
    let spent = sorted(candidates.iter().map(|item| item.spent));
    let mut below = 0.0;
    for (count, next) in spent.iter().enumerate() {
        if count as f64 * next - below > left {
            return (left + below) / count as f64;
        }
        below += next;
    }
    if spent.is_empty() { 0.0 } else { (left + below) / spent.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(all: &[(usize, f64)]) -> Vec<Candidate> {
        all.iter().enumerate().map(|(entry, &(rounds, spent))| Candidate { entry, rounds, spent }).collect()
    }

    #[test]
    fn all_have_a_round_where_there_is_time() {
        let all = candidates(&[(6, 0.06), (6, 0.6), (9, 0.03)]);
        assert_eq!(next_pass(&all, 6.0, 0.8, 5.0), [0, 1, 2]);
    }

    #[test]
    fn time_is_shared_where_there_is_too_little() {
        // 100 cheap ones and a dear one, which has had its rounds.
        let mut all = candidates(&vec![(6, 0.024); 100]);
        all.push(Candidate { entry: 100, rounds: 3, spent: 1.5 });
        assert_eq!(next_pass(&all, 8.0, 2.0, 0.06), (0..100).collect::<Vec<_>>());
        // It has three rounds in any case.
        all[100].rounds = 2;
        assert_eq!(next_pass(&all, 8.0, 2.0, 0.06).last(), Some(&100));
    }

    #[test]
    fn six_rounds_come_first_unless_they_are_dear() {
        let all = candidates(&[(5, 0.1), (4, 1.0), (6, 0.02)]);
        assert_eq!(next_pass(&all, 6.0, 0.02, 0.06), [0]);
        assert_eq!(next_pass(&all, 6.0, 0.05, 0.06), [0, 2], "what is left after those that are owed");
    }

    #[test]
    fn few_entries_have_company_of_those_that_took_the_least_time() {
        let others = || candidates(&(0..40).rev().map(|entry| (20, f64::from(entry))).collect::<Vec<_>>());
        let pass = in_company(vec![50, 51], others());
        assert_eq!(pass.len(), COMPANY);
        assert_eq!(pass[..4], [50, 51, 39, 38]);
        assert_eq!(in_company((50..70).collect(), others()).len(), 20, "they are enough");
        assert_eq!(in_company(vec![50], Vec::new()), [50]);
        assert!(in_company(Vec::new(), others()).is_empty(), "nobody wants a round");
    }

    #[test]
    fn the_level_is_that_of_water() {
        let all = candidates(&[(1, 1.0), (1, 2.0), (1, 5.0)]);
        assert!((level(&all, 0.5) - 1.5).abs() < 1e-9);
        assert!((level(&all, 3.0) - 3.0).abs() < 1e-9);
        assert!((level(&all, 10.0) - 6.0).abs() < 1e-9);
        assert_eq!(level(&[], 1.0), 0.0);
    }
}
