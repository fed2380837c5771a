//! Costs that have levels.

use record::{Ends, Level};

use super::*;

fn level(ns: f64, share: f64) -> Level {
    Level {
        ns: Nanoseconds(ns),
        interval_ns: Ends { low: ns * 0.995, high: ns * 1.005 },
        share,
        share_interval: Ends { low: share - 0.15, high: share + 0.15 },
    }
}

/// A run with one cost, whose figure is the first level.
fn with(levels: &[(f64, f64)]) -> Run {
    let mut run = run(&[("a.x", levels[0].0, levels[0].0 * 0.005)]);
    run.costs[0].levels = levels.iter().map(|&(ns, share)| level(ns, share)).collect();
    run
}

/// The verdict, the levels compared, and whether the share moved.
fn compared_levels(base: &Run, other: &Run) -> (Verdict, [usize; 2], bool) {
    let runs = [base.clone(), other.clone()];
    let compared = compare(&runs, &HOW);
    let (cost, against) = compared.rows[0].others[0].as_ref().expect("two runs");
    let levels = ComparedLevels::of(compared.rows[0].base, cost).expect("levels");
    (against.verdict, levels.compared, levels.moved)
}

#[test]
fn a_share_that_moves_is_no_change_and_a_level_that_moves_is_one() {
    let half = with(&[(600.0, 0.5), (900.0, 0.5)]);
    assert_eq!(compared_levels(&half, &with(&[(601.0, 0.6), (902.0, 0.4)])), (Verdict::Same, [0, 0], false));
    assert_eq!(compared_levels(&half, &with(&[(601.0, 0.1), (902.0, 0.9)])), (Verdict::Same, [0, 0], true));
    for share in [0.5, 0.1] {
        let dearer = with(&[(660.0, share), (990.0, 1.0 - share)]);
        assert_eq!(compared_levels(&half, &dearer), (Verdict::Slower, [0, 0], false));
    }
}

#[test]
fn levels_that_all_moved_are_compared_by_their_place() {
    // In equal shares, one run may be quoted at its lower level and the other at its upper one.
    let mut base = with(&[(1220.0, 0.65)]);
    base.costs[0].levels.insert(0, level(1000.0, 0.35));
    let dearer = with(&[(1050.0, 0.7), (1281.0, 0.3)]);
    assert_eq!(compared_levels(&base, &dearer), (Verdict::Slower, [0, 0], false));
    assert_eq!(compared_levels(&dearer, &base), (Verdict::Faster, [0, 0], false));
    // One may lie where another one was.
    assert_eq!(compared_levels(&base, &with(&[(1202.0, 0.7), (1466.0, 0.3)])), (Verdict::Slower, [0, 0], false));
    // Of other numbers of levels that moved, nobody knows which is which.
    let three = with(&[(1050.0, 0.4), (1150.0, 0.3), (1290.0, 0.3)]);
    assert_eq!(compared_levels(&base, &three).0, Verdict::Inconclusive);
}

#[test]
fn levels_that_two_runs_are_quoted_at_are_compared_at_the_cheaper_one() {
    let half = with(&[(600.0, 0.5), (900.0, 0.5)]);
    let mut upper = with(&[(900.0, 0.5)]);
    upper.costs[0].levels = vec![level(602.0, 0.3), level(900.0, 0.7)];
    assert_eq!(compared_levels(&half, &upper), (Verdict::Same, [0, 0], false));
    assert_eq!(compared_levels(&upper, &half), (Verdict::Same, [0, 0], false));
    assert_eq!(compared_levels(&upper, &upper).1, [1, 1]);
}

#[test]
fn a_run_at_one_level_alone_is_compared_with_that_one() {
    let half = with(&[(600.0, 0.5), (900.0, 0.5)]);
    let upper = run(&[("a.x", 903.0, 4.5)]);
    assert_eq!(compared_levels(&half, &upper), (Verdict::Same, [1, 0], true));
    assert_eq!(compared_levels(&upper, &half), (Verdict::Same, [0, 1], true));
    let lower = run(&[("a.x", 603.0, 3.0)]);
    assert_eq!(compared_levels(&half, &lower).1, [0, 0]);
    // What is at neither level has changed.
    assert_eq!(compared_levels(&half, &run(&[("a.x", 760.0, 4.0)])), (Verdict::Slower, [0, 0], false));
}

#[test]
fn a_run_whose_levels_were_not_found_has_no_change_while_its_batches_show_them() {
    let half = with(&[(600.0, 0.5), (900.0, 0.5)]);
    let mut mixed = run(&[("a.x", 760.0, 4.0)]);
    for (place, round) in mixed.costs[0].rounds.iter_mut().enumerate() {
        round.ns.fill(if place % 2 == 0 { 600.0 } else { 900.0 });
    }
    assert_eq!(compared_levels(&half, &mixed).0, Verdict::Inconclusive);
    assert_eq!(compared_levels(&mixed, &half).0, Verdict::Inconclusive);
}

#[test]
fn runs_at_both_of_two_layouts_differ_only_if_their_shares_do() {
    let at_layouts = |value: f64, low: usize, high: usize| {
        let mut run = run(&[("a.x", value, 0.5)]);
        let figures = std::iter::repeat_n(100.0, low).chain(std::iter::repeat_n(130.0, high));
        let model = run.costs[0].rounds[0].clone();
        run.costs[0].rounds = figures.map(|ns| Round { ns: vec![ns; 2], ..model.clone() }).collect();
        run
    };
    let verdict = |one: &Run, other: &Run| against(one, other).verdict;
    let mostly_low = at_layouts(100.0, 11, 7);
    assert_eq!(verdict(&mostly_low, &at_layouts(130.0, 6, 12)), Verdict::Inconclusive);
    assert_eq!(
        verdict(&mostly_low, &at_layouts(130.0, 0, 18)),
        Verdict::Slower,
        "11 of 18 and none by chance 7 times in 100,000"
    );
    assert_eq!(verdict(&at_layouts(100.0, 18, 0), &at_layouts(130.0, 0, 18)), Verdict::Slower);
}

#[test]
fn of_two_cpus_the_low_batches_of_all_rounds_show_layouts() {
    // The figure is the tenth part of each round's batches, whichever of them were undisturbed.
    let lucky_at = |times: f64| {
        let mut run = run(&[("a.x", 100.0 * times, 10.0 * times)]);
        run.costs[0].cpus = 2;
        let model = run.costs[0].rounds[0].clone();
        let batches: Vec<f64> = (0..20).map(|batch| times * if batch < 4 { 100.0 } else { 135.0 }).collect();
        let round = |round: usize| {
            let lucky = if round.is_multiple_of(2) { 0..3 } else { 17..20 };
            Round { ns: batches.clone(), quiet: (0..20).map(|batch| lucky.contains(&batch)).collect(), ..model.clone() }
        };
        run.costs[0].rounds = (0..10).map(round).collect();
        run
    };
    assert_eq!(against(&lucky_at(1.0), &lucky_at(1.35)).verdict, Verdict::Slower);
}
