//! Figures and intervals from rounds written by hand.

use record::{Doubt, Estimate, Figures, Nanoseconds, Round};

use super::*;
use crate::example;
use crate::net::subtract;
use crate::posterior::FLOOR;

/// A round whose batches took these (ns, cycle in ns, quiet).
fn round(order: u32, survey: bool, batches: &[(f64, f64, bool)]) -> Round {
    let ns: Vec<f64> = batches.iter().map(|batch| batch.0).collect();
    let (cycle_ns, quiet) = batches.iter().map(|batch| (batch.1, batch.2)).unzip();
    Round { order, cycle_ns, quiet, survey: Some(survey), launcher: order, ..example::round(&ns) }
}

/// How an undisturbed cost on one CPU is read.
fn quiet(cycle: f64) -> Reading {
    Reading { headline: Estimate::Quiet, cpus: 1, clocking: Clocking::At(cycle) }
}

/// The figures of rounds at a cycle of 0.25 ns.
fn estimated(rounds: &[Round]) -> Gross {
    gross(rounds, quiet(0.25), &Prior::DEFAULT).expect("samples")
}

/// Rounds of work that takes 100 cycles, each at its own clock.
fn at_clocks(cycles: &[f64]) -> Vec<Round> {
    let batches = |cycle: f64| [100.0, 100.2, 99.9].map(|cycles| (cycles * cycle, cycle, true));
    cycles.iter().enumerate().map(|(order, cycle)| round(order as u32, true, &batches(*cycle))).collect()
}

#[test]
fn a_figure_is_quoted_at_the_clock_of_the_run_and_never_outside_its_samples() {
    let gross = estimated(&at_clocks(&[0.25, 0.27, 0.25, 0.26, 0.25, 0.25]));
    assert!((gross.figures.quiet.0 - 25.0).abs() < 0.01, "{:?}", gross.figures);
    assert!(gross.figures.quiet >= gross.figures.best);
}

#[test]
fn a_clock_that_none_of_its_batches_ran_at_is_not_used() {
    // A remembered or lucky clock of 0.2 ns would give 20 ns, which no batch took.
    for run in [0.2, 0.3] {
        let rounds = at_clocks(&[0.25, 0.25, 0.25, 0.26, 0.25, 0.25]);
        let gross = gross(&rounds, quiet(run), &Prior::DEFAULT).expect("samples");
        assert!((gross.figures.quiet.0 - 25.0).abs() < 0.1, "{run}: {:?}", gross.figures);
        let cycle = gross.cycle.expect("in cycles");
        assert!((gross.figures.quiet.0 / cycle - 100.0).abs() < 0.2, "the cycles stay: {cycle}");
    }
}

#[test]
fn neighbours_are_distinguished_from_the_clock() {
    // Surveyed rounds at a slow clock, quiet ones at a fast clock, the same cycles: no neighbour.
    let mut rounds = at_clocks(&[0.28, 0.28, 0.28, 0.28]);
    rounds.iter_mut().for_each(|round| round.quiet.fill(false));
    let mut fast = at_clocks(&[0.25, 0.25, 0.25, 0.25]);
    fast.iter_mut().for_each(|round| round.survey = Some(false));
    rounds.extend(fast);
    let gross = estimated(&rounds);
    let neighbours = gross.neighbours.expect("four rounds of either kind");
    assert!((neighbours.ratio - 1.0).abs() < 0.005 && neighbours.low < 1.0 && neighbours.high > 1.0, "{neighbours:?}");
}

#[test]
fn one_round_is_wide_and_reported_as_such() {
    let gross = estimated(&at_clocks(&[0.25]));
    assert!(gross.figures.low.0 < 24.0 && gross.figures.high.0 > 25.5, "{:?}", gross.figures);
    assert!(gross.figures.low.0 > 12.0 && gross.figures.high.0 < 50.0, "{:?}", gross.figures);
    assert!(gross.doubts.contains(&Doubt::FewRounds { rounds: 1 }), "{:?}", gross.doubts);
    assert_eq!(gross.neighbours, None);
}

#[test]
fn many_rounds_keep_an_interval() {
    let gross = estimated(&at_clocks(&[0.25; 1511]));
    let half = (gross.figures.high.0 - gross.figures.low.0) / 2.0 / gross.figures.quiet.0;
    assert!((FLOOR * 0.99..0.01).contains(&half), "{half}");
}

#[test]
fn rounds_without_a_quiet_batch_give_a_doubt() {
    let mut rounds = at_clocks(&[0.25; 8]);
    rounds.iter_mut().for_each(|round| round.quiet.fill(false));
    let gross = estimated(&rounds);
    assert!(gross.doubts.iter().any(|doubt| matches!(doubt, Doubt::FromDisturbed { earlier_rounds: 0, .. })));
    assert!(gross.neighbours.is_none());
    let Figures { quiet, low, high, .. } = gross.figures;
    assert!((quiet.0 / 25.0 - (-0.2_f64).exp()).abs() < 0.01, "what a neighbour usually adds is taken off: {quiet:?}");
    assert!(low.0 < 17.5 && high.0 > 25.0, "that this core had no neighbour is possible: {low:?} {high:?}");
}

#[test]
fn what_waited_for_other_tasks_is_no_cost() {
    let disturbed = |ns: f64, waited: f64| {
        let cpu = Nanoseconds(ns - waited);
        Round { cpu_ns: Some(cpu), wait_ns: Some(Nanoseconds(waited)), ..round(0, true, &[(ns, 0.25, false); 6]) }
    };
    let waiting = [disturbed(2e6, 1.99e6), disturbed(1.9e6, 1.89e6)];
    let gross = estimated(&[&waiting[..], &[disturbed(1300.0, 0.0)]].concat());
    assert!((900.0..1300.0).contains(&gross.figures.quiet.0), "by the round that had the CPU: {:?}", gross.figures);
    let never = estimated(&waiting);
    assert!(never.figures.low.0 <= 0.0 && never.figures.high.0 == 2e6, "at most what they took: {:?}", never.figures);
}

#[test]
fn a_few_lucky_checks_are_no_quiet_core() {
    // One quiet batch in forty, in every round. Each has the value that a neighbour left.
    let one = |order: u32| {
        let lucky = (30.0 + f64::from(order), 0.25, true);
        round(order, true, &[vec![(38.0, 0.25, false); 39], vec![lucky]].concat())
    };
    let rounds: Vec<Round> = (0..8).map(one).collect();
    let gross = estimated(&rounds);
    assert!(gross.doubts.iter().any(|doubt| matches!(doubt, Doubt::FewQuiet { .. })), "{:?}", gross.doubts);
    assert!(gross.figures.low.0 < 25.0, "a core of its own may do it in two thirds: {:?}", gross.figures);
}

#[test]
fn rounds_of_a_core_shared_most_of_the_time_do_not_outvote_those_of_a_quiet_one() {
    let clean = [(25.0, 0.25, true); 12];
    let mut shared = vec![(37.0, 0.25, false); 30];
    shared.extend([(33.0, 0.25, true); 3]);
    let rounds: Vec<Round> = (0..9).map(|order| round(order, true, if order < 4 { &clean } else { &shared })).collect();
    let gross = estimated(&rounds);
    assert!((gross.figures.quiet.0 - 25.0).abs() < 0.01, "{:?}", gross.figures);
    assert_eq!(gross.rounds, 9);
}

#[test]
fn a_net_cost_inherits_the_doubts_of_what_is_subtracted_where_that_matters() {
    let mut cost = example::run().cost("syscall.getppid", &[]).expect("a cost").clone();
    let mut base = cost.clone();
    base.operation = "loop.empty".into();
    base.doubts = vec![Doubt::NeverQuiet, Doubt::AtMost { high: Nanoseconds(1.0) }];
    for (share, doubts) in [(0.5, 1), (0.001, 0)] {
        cost.doubts.clear();
        let Figures { quiet: Nanoseconds(quiet), .. } = cost.gross_ns;
        let (low, high) = (Nanoseconds(quiet * 0.99), Nanoseconds(quiet * 1.01));
        base.net_ns = Figures { low, high, ..cost.gross_ns }.times(share);
        subtract(&mut cost, |_| Some(&base)).expect("the term is known");
        assert_eq!(cost.doubts.len(), doubts, "{:?}", cost.doubts);
    }
}

#[test]
fn a_baseline_without_an_interval_does_not_take_that_of_the_whole() {
    let mut cost = example::run().cost("syscall.getppid", &[]).expect("a cost").clone();
    let mut base = cost.clone();
    base.net_ns = Figures::given(1.0, f64::NEG_INFINITY, f64::INFINITY);
    cost.terms = vec![example::term(1.0, "loop.empty")];
    cost.gross_ns = Figures::given(100.0, 99.0, 101.0);
    subtract(&mut cost, |_| Some(&base)).expect("the term is known");
    let half = 2.0_f64.sqrt();
    assert!((cost.net_ns.low.0 - (99.0 - half)).abs() < 1e-9 && (cost.net_ns.high.0 - (99.0 + half)).abs() < 1e-9);
}

/// Rounds of twelve quiet batches each.
fn rounds_of(figures: &[f64]) -> Vec<Round> {
    let all = figures.iter().enumerate();
    all.map(|(order, ns)| round(order as u32, true, &[(*ns, 0.25, true); 12])).collect()
}

fn figures_of(rounds: &[Round], prior: &Prior) -> (f64, f64, f64) {
    let figures = gross(rounds, quiet(0.25), prior).expect("samples").figures;
    (figures.low.0, figures.quiet.0, figures.high.0)
}

#[test]
fn the_more_rounds_scatter_the_wider_the_interval() {
    let mut last = 0.0;
    for scatter in [0.0, 0.001, 0.003, 0.01, 0.03, 0.1] {
        let rounds: Vec<f64> = (0..9).map(|round| 100.0 * (scatter * f64::from(round - 4)).exp()).collect();
        let (low, figure, high) = figures_of(&rounds_of(&rounds), &Prior::DEFAULT);
        assert!(low < figure && figure < high && high / low > last, "{scatter}: {low} {figure} {high}");
        last = high / low;
    }
}

#[test]
fn two_modes_of_equal_share_are_levels_or_both_in_the_interval() {
    let rounds: Vec<f64> =
        (0..10).map(|round| if round % 2 == 0 { 100.0 } else { 150.0 } + f64::from(round) * 0.1).collect();
    let gross = estimated(&rounds_of(&rounds));
    let inside = |ns: f64| gross.levels.iter().any(|level| level.interval_ns.low <= ns && ns <= level.interval_ns.high);
    assert!(gross.levels.len() == 2 && inside(100.4) && inside(150.5), "{:?}", gross.levels);
    // Of fewer rounds none can be found.
    let (low, _, high) = figures_of(&rounds_of(&rounds[..4]), &Prior::DEFAULT);
    assert!(low <= 100.2 && high >= 0.97 * 150.3, "{low} {high}");
}

#[test]
fn a_round_beside_a_neighbour_shows_a_cheaper_layout_and_no_dearer_one() {
    let half = |ns: f64| round(0, true, &(0..10).map(|batch| (ns, 0.25, batch < 4)).collect::<Vec<_>>());
    let with = |ns: f64| {
        let rounds = [rounds_of(&[100.0, 100.1, 100.2, 100.1, 100.0]), vec![half(ns), half(ns)]].concat();
        estimated(&rounds).figures
    };
    assert!(with(80.0).low.0 < 80.1, "a neighbour makes no round faster: {:?}", with(80.0));
    assert!(with(125.0).high.0 < 115.0, "it may be the neighbour: {:?}", with(125.0));
}

#[test]
fn a_layout_that_one_good_round_shows_is_in_the_interval_and_is_reported() {
    let gross = estimated(&rounds_of(&[100.0, 100.1, 100.2, 90.0, 100.1, 100.0]));
    assert!(gross.figures.low.0 < 90.1 && gross.figures.quiet.0 > 99.0, "{:?}", gross.figures);
    let layout = gross.doubts.iter().any(|doubt| matches!(doubt, Doubt::Layout { at } if (at.0 - 90.0).abs() < 0.1));
    assert!(layout, "{:?}", gross.doubts);
    let none = estimated(&rounds_of(&[100.0, 100.1, 100.2, 99.9]));
    assert!(!none.doubts.iter().any(|doubt| matches!(doubt, Doubt::Layout { .. })), "{:?}", none.doubts);
}

#[test]
fn a_round_that_changed_its_layout_hides_no_layout_above_it() {
    // Most rounds at one of two layouts, others at the other one, and one whose median lies between.
    let low = [1280.0, 1302.0, 1322.0, 1331.0, 1343.0, 1365.0, 1386.0];
    let gross = estimated(&rounds_of(&[&low[..], &[1595.0], &[1800.0, 1815.0, 1840.0, 1850.0]].concat()));
    // Another run lands at the lower end of those at the other layout, within the scatter.
    let upper = 1790.0..=1850.0;
    assert!(gross.figures.quiet.0 < 1400.0 && upper.contains(&gross.figures.high.0), "{:?}", gross.figures);
    let is_upper = |doubt: &Doubt| matches!(doubt, Doubt::Layout { at } if upper.contains(&at.0));
    assert!(gross.doubts.iter().any(is_upper), "{:?}", gross.doubts);
}

#[test]
fn a_cache_that_others_use_makes_runs_differ_as_rounds_do() {
    let rounds = rounds_of(&[40.0, 60.0, 52.0, 35.0, 90.0, 45.0, 70.0, 48.0, 62.0, 38.0]);
    let reading = Reading { clocking: Clocking::AsRead, ..quiet(0.25) };
    let figures = gross(&rounds, reading, &Prior::DEFAULT).expect("a cost").figures;
    let half = (figures.high.0 / figures.low.0).ln() / 2.0;
    // Rounds scatter by some 30 %: twice that, joined with what their median errs by.
    assert!((0.5..0.8).contains(&half), "{half}");
}

#[test]
fn earlier_runs_narrow_the_interval_and_never_move_the_figure() {
    let rounds = rounds_of(&[100.0, 100.4, 99.7, 103.0]);
    let known = Prior { scatter: 0.001, rounds: 30, ..Prior::DEFAULT };
    let (first, later) = (figures_of(&rounds, &Prior::DEFAULT), figures_of(&rounds, &known));
    assert_eq!(first.1, later.1);
    assert!(later.2 - later.0 < first.2 - first.0, "{first:?} {later:?}");
}

#[test]
fn a_check_that_steps_does_not_move_what_ran_at_one_clock() {
    // A clock of 20 ns makes the check err by 0.4 %, up and down: the time is better than the cycles.
    let at = |cycle: f64| round(0, true, &[(100.0, cycle, true); 6]);
    let rounds = [0.249, 0.251, 0.2505, 0.2492, 0.25, 0.251].map(at);
    let (low, figure, high) = figures_of(&rounds, &Prior::DEFAULT);
    assert!((figure - 100.0).abs() < 0.01 && high / low < 1.01, "{low} {figure} {high}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]
    #[test]
    fn every_cost_has_an_ordered_interval(
        figures in proptest::collection::vec((1e-3_f64..1e9, 0.0_f64..1.0), 1..30),
        scatter in 1e-4_f64..1.0,
        earlier in 0_u32..100,
        cpus in 1_u32..3,
    ) {
        let one = |&(ns, share): &(f64, f64)| {
            round(0, true, &std::array::from_fn::<_, 10, _>(|batch| (ns, 0.25, (batch as f64) < 10.0 * share)))
        };
        let rounds: Vec<Round> = figures.iter().map(one).collect();
        let prior = Prior { scatter, rounds: earlier, ..Prior::DEFAULT };
        let estimated = gross(&rounds, Reading { cpus, ..quiet(0.25) }, &prior).expect("samples").figures;
        let (low, figure, high) = (estimated.low.0, estimated.quiet.0, estimated.high.0);
        proptest::prop_assert!(low > 0.0 && low <= figure && figure <= high && high.is_finite(), "{low} {figure} {high}");
        proptest::prop_assert!(high / low > 1.0 + FLOOR);
    }
}

#[test]
fn ten_thousand_rounds_are_as_sure_as_clock_and_check() {
    let rounds: Vec<f64> =
        (0..10_000).map(|round| 100.0 * (1.0 + 0.01 * (f64::from(round * 37 % 101) / 50.0 - 1.0))).collect();
    let (low, figure, high) = figures_of(&rounds_of(&rounds), &Prior::DEFAULT);
    assert!((figure - 100.0).abs() < 0.1 && (1.0 + FLOOR..1.011).contains(&(high / low)), "{low} {figure} {high}");
}

#[test]
fn what_the_clock_does_not_resolve_is_between_nothing_and_the_greatest() {
    let (low, figure, high) = figures_of(&rounds_of(&[0.0, 0.0, 3.0]), &Prior::DEFAULT);
    assert_eq!((low, figure, high), (0.0, 0.0, 3.0));
}
