//! Figures and intervals from rounds written by hand.

use record::{Doubt, Estimate, Round};

use super::*;

/// A round whose batches took these (ns, cycle in ns, quiet).
fn round(order: u32, survey: bool, batches: &[(f64, f64, bool)]) -> Round {
    Round {
        order,
        cpu: 0,
        times: 1,
        ns: batches.iter().map(|it| it.0).collect(),
        cycle_ns: batches.iter().map(|it| it.1).collect(),
        width: batches.iter().map(|_| 1.0).collect(),
        quiet: batches.iter().map(|it| it.2).collect(),
        survey: Some(survey),
        launcher: order,
        cpu_ns: None,
        wait_ns: None,
        lost: None,
    }
}

/// Rounds of work that takes 100 cycles, each at its own clock.
fn at_clocks(cycles: &[f64]) -> Vec<Round> {
    let batches =
        |cycle: f64| [(100.0 * cycle, cycle, true), (100.2 * cycle, cycle, true), (99.9 * cycle, cycle, true)];
    cycles.iter().enumerate().map(|(order, cycle)| round(order as u32, true, &batches(*cycle))).collect()
}

#[test]
fn a_figure_is_quoted_at_the_clock_of_the_run_and_never_outside_its_samples() {
    let rounds = at_clocks(&[0.25, 0.27, 0.25, 0.26, 0.25, 0.25]);
    let gross = gross(&rounds, Estimate::Quiet, Clocking::At(0.25)).expect("samples");
    assert!((gross.figures.quiet.0 - 25.0).abs() < 0.01, "{:?}", gross.figures);
    assert!(gross.figures.quiet >= gross.figures.best);
}

#[test]
fn a_clock_that_none_of_its_batches_ran_at_is_not_used() {
    // A remembered or lucky clock of 0.2 ns would give 20 ns, which no batch took.
    for run in [0.2, 0.3] {
        let rounds = at_clocks(&[0.25, 0.25, 0.25, 0.26, 0.25, 0.25]);
        let gross = gross(&rounds, Estimate::Quiet, Clocking::At(run)).expect("samples");
        assert!((gross.figures.quiet.0 - 25.0).abs() < 0.1, "{run}: {:?}", gross.figures);
        let cycle = gross.cycle.expect("in cycles");
        assert!((gross.figures.quiet.0 / cycle - 100.0).abs() < 0.2, "the cycles stay: {cycle}");
    }
}

#[test]
fn neighbours_are_told_apart_from_the_clock() {
    // Surveyed rounds at a slow clock, quiet ones at a fast clock, the same cycles: no neighbour.
    let mut rounds = at_clocks(&[0.28, 0.28, 0.28, 0.28]);
    rounds.iter_mut().for_each(|round| round.quiet.fill(false));
    let mut fast = at_clocks(&[0.25, 0.25, 0.25, 0.25]);
    fast.iter_mut().for_each(|round| round.survey = Some(false));
    rounds.extend(fast);
    let gross = gross(&rounds, Estimate::Quiet, Clocking::At(0.25)).expect("samples");
    let told = gross.neighbours.expect("four rounds of either kind");
    assert!((told.ratio - 1.0).abs() < 0.005 && told.low < 1.0 && told.high > 1.0, "{told:?}");
}

#[test]
fn one_round_has_no_interval_and_says_so() {
    let gross = gross(&at_clocks(&[0.25]), Estimate::Quiet, Clocking::At(0.25)).expect("samples");
    assert_eq!(gross.figures.high.0, f64::INFINITY);
    assert_eq!(gross.figures.low.0, f64::NEG_INFINITY);
    assert!(gross.doubts.contains(&Doubt::FewRounds { rounds: 1 }), "{:?}", gross.doubts);
    assert_eq!(gross.neighbours, None);
}

#[test]
fn many_rounds_keep_an_interval() {
    let rounds = at_clocks(&[0.25; 1511]);
    let gross = gross(&rounds, Estimate::Quiet, Clocking::At(0.25)).expect("samples");
    let half = (gross.figures.high.0 - gross.figures.low.0) / 2.0 / gross.figures.quiet.0;
    assert!((0.0019..0.01).contains(&half), "{half}");
}

#[test]
fn rounds_without_a_quiet_batch_give_a_doubt() {
    let mut rounds = at_clocks(&[0.25; 8]);
    rounds.iter_mut().for_each(|round| round.quiet.fill(false));
    let gross = gross(&rounds, Estimate::Quiet, Clocking::At(0.25)).expect("samples");
    assert!(gross.doubts.contains(&Doubt::NeverQuiet) && gross.neighbours.is_none());
    assert!(gross.figures.quiet >= gross.figures.best, "{:?}", gross.figures);
}

#[test]
fn a_few_lucky_checks_are_no_quiet_core() {
    // One quiet batch in forty, in every round. Each has the value that a neighbour left.
    let mut rounds = Vec::new();
    for order in 0..8 {
        let mut batches = vec![(38.0, 0.25, false); 39];
        batches.push((30.0 + f64::from(order), 0.25, true));
        rounds.push(round(order, true, &batches));
    }
    let gross = gross(&rounds, Estimate::Quiet, Clocking::At(0.25)).expect("samples");
    assert!(gross.doubts.iter().any(|doubt| matches!(doubt, Doubt::FewQuiet { .. })), "{:?}", gross.doubts);
    assert!(gross.figures.low.0 < 25.0, "a core of its own may do it in two thirds: {:?}", gross.figures);
}

#[test]
fn rounds_of_a_core_shared_most_of_the_time_do_not_outvote_those_of_a_quiet_one() {
    let clean = [(25.0, 0.25, true); 12];
    let mut shared = vec![(37.0, 0.25, false); 30];
    shared.extend([(33.0, 0.25, true); 3]);
    let rounds: Vec<Round> = (0..9).map(|order| round(order, true, if order < 4 { &clean } else { &shared })).collect();
    let gross = gross(&rounds, Estimate::Quiet, Clocking::At(0.25)).expect("samples");
    assert_eq!(gross.figures.quiet.0, 25.0);
    assert_eq!(gross.rounds, 4);
}

#[test]
fn a_net_cost_inherits_the_doubts_of_what_is_subtracted_where_that_matters() {
    let run = record::run_from_bytes(include_bytes!("../../../record/tests/data/example-run.json")).expect("a run");
    let mut cost = run.cost("syscall.getppid", &[]).expect("a cost").clone();
    let mut base = cost.clone();
    base.operation = "loop.empty".into();
    base.doubts = vec![Doubt::NeverQuiet, Doubt::AtMost { high: Nanoseconds(1.0) }];
    for (share, doubts) in [(0.5, 1), (0.001, 0)] {
        cost.doubts.clear();
        base.net_ns = Figures {
            best: Nanoseconds(cost.gross_ns.best.0 * share),
            quiet: Nanoseconds(cost.gross_ns.quiet.0 * share),
            typical: Nanoseconds(cost.gross_ns.typical.0 * share),
            low: Nanoseconds(cost.gross_ns.quiet.0 * share * 0.99),
            high: Nanoseconds(cost.gross_ns.quiet.0 * share * 1.01),
        };
        subtract(&mut cost, |_| Some(&base)).expect("the term is known");
        assert_eq!(cost.doubts.len(), doubts, "{:?}", cost.doubts);
    }
    base.net_ns.low = Nanoseconds(f64::NEG_INFINITY);
    base.net_ns.high = Nanoseconds(f64::INFINITY);
    subtract(&mut cost, |_| Some(&base)).expect("the term is known");
    assert!(!cost.has_interval() && !cost.holds_zero(), "{:?}", cost.net_ns);
}
