//! Two bills of made-up repetitions, and what is said of them.

use record::Usage;

use super::*;

/// A repetition that took so long and accepted so many connections.
fn repetition(elapsed_ns: f64, accepts: u64) -> Repetition {
    let calls = [("accept4", accepts), ("read", 2 * accepts), ("acceptable", 1)];
    Repetition {
        elapsed_ns,
        usage: Usage { cpu_ns: Some(elapsed_ns / 2.0), ..Usage::default() },
        calls: calls.map(|(call, count)| (call.to_string(), count)).into(),
        waited_ns: None,
        counting_ns: 0.0,
    }
}

fn changed(all: &[ChangedFigure], figure: BilledFigure) -> &ChangedFigure {
    all.iter().find(|changed| changed.figure == figure).expect("a figure")
}

fn verdict(all: &[ChangedFigure], figure: BilledFigure) -> ChangeVerdict {
    changed(all, figure).verdict
}

#[test]
fn a_unit_is_a_call_with_its_variants() {
    let unit = WorkUnit::Call("accept".into());
    assert_eq!(unit.of(0, &repetition(1.0, 7)), 7.0, "accept4 is a variant, acceptable is not");
    assert_eq!(WorkUnit::Given([3.0, 4.0]).of(1, &repetition(1.0, 7)), 4.0);
}

#[test]
fn twice_the_work_in_twice_the_time_is_the_same_per_unit() {
    let before = [repetition(1e9, 100)];
    let after = [repetition(2e9, 200)];
    let per = changed_figures(&before, &after, &WorkUnit::Call("accept".into()), false);
    let elapsed = changed(&per, BilledFigure::Elapsed);
    assert_eq!((elapsed.before, elapsed.after), (1e7, 1e7));
    assert_eq!(elapsed.verdict, ChangeVerdict::Single, "one run tells no time apart");
    assert_eq!(verdict(&per, BilledFigure::Calls), ChangeVerdict::Same);
    let whole = changed_figures(&before, &after, &WorkUnit::Whole, false);
    assert_eq!(verdict(&whole, BilledFigure::Calls), ChangeVerdict::More);
    let turned = changed_figures(&after, &before, &WorkUnit::Whole, false);
    assert_eq!(verdict(&turned, BilledFigure::Calls), ChangeVerdict::Less);
}

/// Common slowness of a pair cancels where repetitions were alternated.
#[test]
fn pairs_show_what_means_do_not() {
    let noise = [1.0, 1.4, 0.9, 1.7, 1.2];
    let own = [1.001, 0.999, 1.0, 1.002, 0.998];
    let before: Vec<_> = noise.iter().map(|factor| repetition(factor * 1e9, 10)).collect();
    let after: Vec<_> = noise.iter().zip(own).map(|(factor, own)| repetition(factor * own * 1.1e9, 10)).collect();
    let paired = changed_figures(&before, &after, &WorkUnit::Whole, true);
    assert_eq!(verdict(&paired, BilledFigure::Elapsed), ChangeVerdict::More);
    let ratio = paired[0].ratio.expect("an interval");
    assert!(ratio.low < 1.1 && 1.1 < ratio.high && ratio.half() < 0.01, "{ratio:?}");
    assert!(paired[0].grew_by(0.05) && !paired[0].grew_by(0.15));
    let apart = changed_figures(&before, &after, &WorkUnit::Whole, false);
    assert_eq!(verdict(&apart, BilledFigure::Elapsed), ChangeVerdict::Inconclusive);
}

#[test]
fn equal_repetitions_change_in_at_most_one_comparison_of_twenty() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut one = || repetition(1e9 * (0.05 * crate::statistics::normal(&mut random)).exp(), 10);
    let mut sample = || -> [Repetition; 5] { std::array::from_fn(|_| one()) };
    let changed = (0..1000).filter(|_| {
        let figures = changed_figures(&sample(), &sample(), &WorkUnit::Whole, false);
        figures.iter().any(|figure| matches!(figure.verdict, ChangeVerdict::More | ChangeVerdict::Less))
    });
    let changed = changed.count();
    assert!((5..=50).contains(&changed), "{changed} of 1000");
}

#[test]
fn counts_that_begin_at_none_are_more_where_all_of_one_side_are_above_the_other() {
    let switches = |count: u64| {
        let one = repetition(1e9, 10);
        Repetition {
            usage: Usage { voluntary_switches: Some(count), involuntary_switches: Some(0), ..one.usage },
            ..one
        }
    };
    let verdict_on = |before: &[u64], after: &[u64]| {
        let [before, after] =
            [before, after].map(|counts| counts.iter().map(|count| switches(*count)).collect::<Vec<_>>());
        verdict(&changed_figures(&before, &after, &WorkUnit::Whole, false), BilledFigure::Switches)
    };
    assert_eq!(
        (verdict_on(&[0; 9], &[50; 9]), verdict_on(&[50; 9], &[0; 9])),
        (ChangeVerdict::More, ChangeVerdict::Less)
    );
    assert_eq!(verdict_on(&[0; 2], &[50; 2]), ChangeVerdict::Inconclusive, "one of three orders is so by chance");
    assert_eq!(verdict_on(&[0, 60, 0, 0, 0, 0], &[50; 6]), ChangeVerdict::Inconclusive);
}

#[test]
fn what_was_not_counted_is_unknown_and_nothing_twice_is_the_same() {
    let usage = Usage {
        minor_faults: Some(0),
        major_faults: Some(0),
        user_ns: Some(4e6),
        system_ns: Some(8e6),
        ..Usage::default()
    };
    let accounts = [Repetition { calls: BTreeMap::new(), usage, ..repetition(1e9, 10) }];
    let figures = changed_figures(&accounts, &accounts, &WorkUnit::Whole, false);
    assert!(figures.iter().all(|changed| changed.figure != BilledFigure::Calls), "{figures:?}");
    assert_eq!(verdict(&figures, BilledFigure::Faults), ChangeVerdict::Same);
    let is_split = |changed: &ChangedFigure| matches!(changed.figure, BilledFigure::User | BilledFigure::Kernel);
    assert!(!figures.iter().any(is_split), "12 ms are too short for samples");
}

#[test]
fn a_time_within_the_band_is_the_same_and_its_ratio_is_the_one_of_its_interval() {
    let times = |factor: f64| [0.999, 1.0, 1.001, 1.0].map(|own| repetition(1e9 * own * factor, 10));
    let elapsed = |factor: f64| changed_figures(&times(1.0), &times(factor), &WorkUnit::Whole, false).remove(0);
    let same = elapsed(1.02);
    assert!(same.ratio.is_some_and(|ratio| ratio.low > 1.01), "{same:?}");
    assert_eq!(same.verdict, ChangeVerdict::Same);
    assert!(!same.grew_by(0.0) && same.grew_by(0.01) && !same.grew_by(0.03));
    assert_eq!(elapsed(1.1).verdict, ChangeVerdict::More);
    // The means of 1 and 4, and of 2 and 2, are 2.5 and 2; their geometric means are equal.
    let [one, other] = [[1e9, 4e9], [2e9, 2e9]].map(|times| times.map(|time| repetition(time, 10)));
    let uneven = changed_figures(&one, &other, &WorkUnit::Whole, false).remove(0);
    assert!(uneven.times().is_some_and(|times| (times - 1.0).abs() < 1e-9), "{uneven:?}");
}

#[test]
fn counting_is_taken_out() {
    let counted = [Repetition { counting_ns: 1e8, ..repetition(1e9, 10) }];
    let figures = changed_figures(&counted, &counted, &WorkUnit::Whole, false);
    assert_eq!([BilledFigure::Elapsed, BilledFigure::Cpu].map(|figure| changed(&figures, figure).before), [9e8, 4e8]);
}

#[test]
fn lines_that_differ_are_sorted_by_time() {
    let line = |count: f64, cpu: f64, waited: f64| BilledLine { count, cpu_ns: Some(cpu), waited_ns: waited };
    let before = BTreeMap::from([("read".to_string(), line(10.0, 100.0, 0.0)), ("close".into(), line(1.0, 5.0, 0.0))]);
    let after = BTreeMap::from([
        ("read".to_string(), line(12.0, 120.0, 0.0)),
        ("close".into(), line(1.0, 5.0, 0.0)),
        ("fsync".into(), line(1.0, 10.0, 3000.0)),
    ]);
    let unpriced = BilledLine { cpu_ns: None, ..line(3.0, 0.0, 0.0) };
    let lacking = changes([&BTreeMap::new(), &BTreeMap::from([("stat".to_string(), unpriced)])]);
    assert_eq!(lacking[0].cpu_ns(), None, "nothing is stated without a price");
    let rows = changes([&before, &after]);
    assert_eq!(rows.iter().map(|row| row.what.as_str()).collect::<Vec<_>>(), ["fsync", "read"]);
    assert_eq!((rows[0].waited_ns(), rows[1].cpu_ns()), (3000.0, Some(20.0)));
}
