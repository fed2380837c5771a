//! A round of several items: their batches alternate, so that what disturbs one of them disturbs the others at the same moment.

use operation::{Failure, Loop};

use crate::batch::{RoundPlan, RoundSamples, find_times, timed};
use crate::watch::Watch;

/// An item of the round, as far as batches need it.
pub(crate) struct Alternating<'a, W> {
    pub work: &'a mut Loop,
    pub watch: &'a mut W,
    /// Iterations per batch that an earlier round found.
    pub hint: Option<u64>,
}

/// The order of the items in a turn. Two items go A B, B A, B A, A B: a linear drift cancels in every two turns, one that bends in
/// every four.
pub(crate) fn order_of(turn: u32, count: usize) -> Vec<usize> {
    let pair = turn as usize / 2;
    let mut order: Vec<usize> = (0..count).collect();
    order.rotate_left(pair % count);
    // Rounds of one turn meet the mirror of every order too. Of two items, the rotation is the mirror.
    let is_mirrored = count > 2 && pair / count % 2 == 1;
    if (turn % 2 == 1) != is_mirrored {
        order.reverse();
    }
    order
}

/// The first turn of a round, which is even, because two turns from an odd one on go B A, B A. Of two items, each round is the mirror of
/// the one before, however many turns they took.
pub(crate) fn first_turn(round: u32) -> u32 {
    round.wrapping_mul(2)
}

/// Takes one batch of each item a turn, in another order each turn, until the time of the plan is over.
pub(crate) fn in_turns<W: Watch>(
    items: &mut [Alternating<W>],
    plan: &RoundPlan,
    first_turn: u32,
    reading: f64,
) -> Result<Vec<RoundSamples>, (usize, Failure)> {
    let mut harvests = Vec::new();
    for (place, item) in items.iter_mut().enumerate() {
        let plan = RoundPlan { hint: item.hint, ..*plan };
        let times = find_times(item.work, item.watch, &plan).map_err(|failure| (place, failure))?;
        harvests.push(RoundSamples::empty(times));
    }
    let most = items.iter().map(|item| item.work.most_batches()).fold(plan.most, u32::min);
    let start = items[0].watch.now();
    for turn in 0..most {
        for place in order_of(first_turn + turn, items.len()) {
            let Alternating { work, watch, .. } = &mut items[place];
            let before = watch.speed();
            let taken = timed(work, *watch, harvests[place].times, reading).map_err(|failure| (place, failure))?;
            let after = watch.speed();
            let operations = (harvests[place].times * work.operations_per_iteration()) as f64;
            harvests[place].add(operations, taken, (before, after));
        }
        if items[0].watch.now() - start > plan.time {
            break;
        }
    }
    let took = items[0].watch.now() - start;
    harvests.iter_mut().for_each(|harvest| harvest.took = took);
    Ok(harvests)
}

#[cfg(test)]
mod tests {
    use super::{first_turn, order_of};

    #[test]
    fn every_block_of_a_round_is_its_own_mirror_and_rounds_begin_and_end_with_each_item() {
        for round in 0..4 {
            let block = [0, 1].map(|turn| order_of(first_turn(round) + turn, 2));
            assert_eq!(block[0].iter().rev().collect::<Vec<_>>(), block[1].iter().collect::<Vec<_>>(), "{round}");
        }
        for taken in 1..10 {
            for turn in [0, taken - 1] {
                let firsts = (0..4).map(|round| order_of(first_turn(round) + turn, 2)[0]);
                assert_eq!(firsts.sum::<usize>(), 2, "turn {turn} of {taken}");
            }
        }
        let orders: std::collections::BTreeSet<_> = (0..6).map(|round| order_of(first_turn(round), 3)).collect();
        assert_eq!(orders.len(), 6, "rounds of one turn");
    }

    #[test]
    fn each_item_is_as_often_early_as_late() {
        assert_eq!((0..4).map(|turn| order_of(turn, 2)).collect::<Vec<_>>(), [[0, 1], [1, 0], [1, 0], [0, 1]]);
        for count in 2..6_usize {
            let mut places = vec![0; count];
            for turn in 0..2 * count as u32 {
                for (place, item) in order_of(turn, count).into_iter().enumerate() {
                    places[item] += place;
                }
            }
            assert!(places.iter().all(|sum| *sum == places[0]), "{count} items: {places:?}");
        }
    }
}
