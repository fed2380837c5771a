//! Made-up runs: matching, odd costs, units, versions.

use record::{Book, Cost, CountedIn, Estimate, Figures, Nanoseconds, Point, Round, Run, Value};

use super::*;
use crate::example;

mod drifts;
mod gates;
mod laws;
mod levels;

pub(super) const HOW: CompareOptions =
    CompareOptions { unit: None, threshold: 0.01, margin: 0.05, versions: Versions::Kept };

/// A run of costs with ten rounds each: id, figure, half the interval.
fn run(costs: &[(&str, f64, f64)]) -> Run {
    let mut run = example::run();
    let model = run.costs[0].clone();
    run.skipped.clear();
    run.costs = costs.iter().map(|&(id, value, half)| measured(&model, id, value, half)).collect();
    run
}

fn measured(model: &Cost, id: &str, value: f64, half: f64) -> Cost {
    let mut cost = model.clone();
    cost.operation = id.into();
    cost.group = String::new();
    cost.net_ns = Figures::given(value, value - half, value + half);
    (cost.gross_ns, cost.cycles) = (cost.net_ns, value * 3.0);
    cost.rounds = vec![Round { cycle_ns: vec![0.3; 2], survey: None, ..example::round(&[value; 2]) }; 10];
    cost.doubts.clear();
    cost
}

fn book(text: &str) -> Run {
    let head = "name = \"b\"\ntitle = \"t\"\nsource = \"s\"\nmeasured = \"1986\"\n";
    Book::from_toml(&format!("{head}{text}")).expect("a book").run()
}

fn verdicts(runs: &[Run], how: &CompareOptions) -> Vec<(String, Verdict)> {
    let compared = compare(runs, how);
    let rows = compared.rows.iter();
    rows.map(|row| (row.base.name(), row.others[0].as_ref().expect("two runs").1.verdict)).collect()
}

/// How the first cost of a run compares with that of the base.
fn against(base: &Run, other: &Run) -> Against {
    let runs = [base.clone(), other.clone()];
    compare(&runs, &HOW).rows[0].others[0].clone().expect("two runs").1
}

/// How many times as long runs settle the first cost that is open.
fn settled(base: &Run, other: &Run) -> Option<u32> {
    let runs = [base.clone(), other.clone()];
    settling(&compare(&runs, &HOW), 0).open[0].times
}

/// Rows of (id in the base, id in the other).
fn matched(one: &Run, other: &Run) -> Vec<(String, String)> {
    let runs = [one.clone(), other.clone()];
    let rows = compare(&runs, &HOW).rows;
    rows.iter().map(|row| (row.base.name(), row.others[0].as_ref().expect("two runs").0.name())).collect()
}

#[test]
fn a_change_excludes_one_and_exceeds_the_noise() {
    let cases = [
        ("a.clear", [100.0, 110.0], 0.2, Verdict::Slower),
        ("a.small", [100.0, 100.5], 0.01, Verdict::Same),
        ("a.vague", [100.0, 110.0], 9.0, Verdict::Inconclusive),
        ("a.faster", [9.0, 8.0], 0.1, Verdict::Faster),
    ];
    let runs = [0, 1].map(|side| run(&cases.map(|(name, values, half, _)| (name, values[side], half))));
    assert_eq!(verdicts(&runs, &HOW), cases.map(|(name, .., verdict)| (name.to_string(), verdict)));
    let strict = CompareOptions { threshold: 0.2, ..HOW };
    assert!(verdicts(&runs, &strict).iter().all(|(_, verdict)| !verdict.is_change()));
}

/// A run in which an add and another cost take so many times as long, while the clock was read so many times as long.
fn clocked(times: f64, read: f64, with_add: bool) -> Run {
    let mut run = run(&[("instruction.add.latency", 0.3 * times, 0.0003), ("a.x", 100.0 * times, 0.05)]);
    for cost in &mut run.costs {
        cost.follows_clock = true;
        cost.cycles = cost.quoted().0 / (0.3 * read);
    }
    run.costs.drain(..usize::from(!with_add));
    run.noise.cycle_ns = 0.3 * read;
    run
}

#[test]
fn cycles_are_those_of_an_add_and_not_of_a_clock_read_wrongly() {
    let (base, same) = (clocked(1.0, 1.0, true), Some(Verdict::Same));
    let mut unsure = clocked(1.0, 1.1, true);
    unsure.costs[0].rounds.truncate(2);
    let without_add = clocked(1.0, 1.0, false);
    let cases = [
        ("a clock read wrongly", &base, clocked(1.0, 1.008, true), 1.0, same),
        ("without an add, an error that is no change", &without_add, clocked(1.0, 1.0105, false), 1.0 / 1.0105, same),
        ("more time at a slower clock", &base, clocked(1.05, 1.05, true), 1.0, None),
        ("cycles counted wrongly by one run", &base, clocked(1.0, 1.1, true), 1.0, same),
        ("the same, but too few rounds of the add agree", &base, unsure, 1.0 / 1.1, None),
        ("an add that the clock does not explain", &base, clocked(1.5, 1.0, true), 1.5, None),
    ];
    for (what, base, other, expected, verdict) in cases {
        let runs = [base.clone(), other];
        let row = compare(&runs, &HOW).rows.pop().expect("a row");
        let (_, against) = row.others[0].as_ref().expect("two runs");
        let RatioToBase::Times(ratio) = &against.ratio else { panic!("{what}: {against:?}") };
        let right = (ratio.value - expected).abs() < 1e-9 && verdict.is_none_or(|verdict| against.verdict == verdict);
        assert!(right, "{what}: {against:?}");
    }
}

#[test]
fn a_wait_is_a_time_at_any_clock() {
    let runs = [1.0, 1.15].map(|clock| {
        let mut run = clocked(clock, clock, true);
        run.costs[1].headline = Estimate::Typical;
        run.costs[1].net_ns = Figures::given(100.0, 99.95, 100.05);
        run.costs[1].cycles = 100.0 / run.noise.cycle_ns;
        run
    });
    let row = compare(&runs, &HOW).rows.pop().expect("a row");
    assert_eq!((row.unit, against(&runs[0], &runs[1]).verdict), (CountedIn::Nanoseconds, Verdict::Same));
    assert_eq!(row.others[0].as_ref().map(|(_, against)| against.verdict), Some(Verdict::Same));
}

#[test]
fn a_change_needs_two_undisturbed_rounds_of_either() {
    let (base, mut other) = (run(&[("a.x", 100.0, 0.1)]), run(&[("a.x", 150.0, 0.1)]));
    let quiet_in = |run: &mut Run, count: usize| {
        run.costs[0].rounds.iter_mut().enumerate().for_each(|(place, round)| round.quiet.fill(place < count));
    };
    quiet_in(&mut other, 1);
    assert_eq!(against(&base, &other).verdict, Verdict::Inconclusive);
    quiet_in(&mut other, 2);
    assert_eq!(against(&base, &other).verdict, Verdict::Slower);
    // No length makes up for rounds of which none is undisturbed.
    quiet_in(&mut other, 0);
    assert_eq!(settled(&base, &other), None);
}

#[test]
fn runs_of_few_rounds_that_show_the_same_layouts_do_not_differ() {
    let with_batches = |value: f64, rounds: &[[f64; 2]]| {
        let mut run = run(&[("a.x", value, 0.5)]);
        let cost = &mut run.costs[0];
        cost.rounds.truncate(rounds.len());
        cost.rounds.iter_mut().zip(rounds).for_each(|(round, batches)| round.ns = batches.to_vec());
        run
    };
    let verdict = |one: &Run, other: &Run| against(one, other).verdict;
    let fast = with_batches(100.0, &[[100.0; 2]; 4]);
    assert_eq!(verdict(&fast, &with_batches(120.0, &[[120.0; 2]; 4])), Verdict::Slower);
    let either = with_batches(120.0, &[[120.0; 2], [120.0; 2], [120.0; 2], [120.0, 100.0]]);
    assert_eq!(verdict(&fast, &either), Verdict::Inconclusive);
    let mostly_fast = with_batches(100.0, &[[100.0; 2], [100.0; 2], [120.0; 2], [120.0, 100.0]]);
    assert_eq!(verdict(&mostly_fast, &with_batches(120.0, &[[120.0; 2]; 4])), Verdict::Inconclusive);
    assert_eq!(settled(&fast, &either), Some(4), "eight rounds of each are not enough");
    // Nine rounds show by themselves how a cost's layouts are shared.
    let mut many = [[120.0; 2]; 9];
    many[8][1] = 100.0;
    assert_eq!(verdict(&with_batches(100.0, &[[100.0; 2]; 9]), &with_batches(120.0, &many)), Verdict::Slower);
}

#[test]
fn a_faster_clock_is_a_ratio_of_its_own_and_no_cheaper_work() {
    let base = run(&[("a.core", 100.0, 0.1), ("a.memory", 100.0, 0.1)]);
    let mut faster = base.clone();
    faster.noise.cycle_ns /= 1.1;
    // The same number of cycles as before.
    faster.costs[0].net_ns = measured(&base.costs[0], "a.core", 100.0 / 1.1, 0.1 / 1.1).net_ns;
    let mut runs = [base, faster];
    for run in &mut runs {
        (run.costs[0].follows_clock, run.costs[1].follows_clock) = (true, false);
    }
    let compared = compare(&runs, &HOW);
    assert_eq!(compared.unit, None);
    let ratios: Vec<f64> = compared.clocks.as_ref().expect("one processor").ratios().collect();
    assert!((ratios[0] - 1.0 / 1.1).abs() < 1e-9, "{ratios:?}");
    let units: Vec<CountedIn> = compared.rows.iter().map(|row| row.unit).collect();
    assert_eq!(units, [CountedIn::Cycles, CountedIn::Nanoseconds]);
    assert_eq!(verdicts(&runs, &HOW).iter().map(|verdict| verdict.1).collect::<Vec<_>>(), [Verdict::Same; 2]);
    // Asked for in times, it is reported as what it is for a program: faster.
    let in_times = CompareOptions { unit: Some(CountedIn::Nanoseconds), ..HOW };
    assert_eq!(verdicts(&runs, &in_times)[0].1, Verdict::Faster);
    // An emulator's adds are no cycles of the same core.
    runs[1].noise.cycle_ns *= 5.0;
    assert_eq!(compare(&runs, &HOW).unit, Some(CountedIn::Nanoseconds));
}

#[test]
fn the_same_needs_evidence() {
    for (half, expected) in [(1.0, Verdict::Same), (2.0, Verdict::Same), (6.0, Verdict::Inconclusive)] {
        let valued = |value: f64| run(&[("a.x", value, half)]);
        assert_eq!(against(&valued(100.0), &valued(100.5)).verdict, expected, "+- {half}");
    }
}

#[test]
fn an_interval_for_another_run_holds_the_errors_of_both() {
    // Each run lands at the end of the other's interval of 95 %. This is the smallest difference that counts by chance.
    let valued = |value: f64| {
        let mut run = run(&[("a.x", value, 5.0)]);
        run.costs[0].rounds.iter_mut().for_each(|round| round.survey = Some(true));
        run
    };
    let chance = |other: f64| against(&valued(100.0), &valued(other)).chance.expect("measured");
    assert!((chance(105.0) - 0.05).abs() < 0.015, "{}", chance(105.0));
    assert!(chance(104.0) > 0.05 && chance(106.0) < 0.05);
}

#[test]
fn the_more_are_compared_the_more_seldom_chance_passes() {
    // An interval of 2.5 reaches 97.4. It excludes 100, but one of forty such intervals does so by chance.
    let alone = |other: f64| run(&[("a.x", other, 2.5)]);
    assert_eq!(against(&alone(100.0), &alone(104.0)).verdict, Verdict::Slower);
    let names: Vec<String> = (0..40).map(|index| format!("a.n{index}")).collect();
    let many = |other: f64| {
        let mut costs: Vec<(&str, f64, f64)> = names.iter().map(|name| (name.as_str(), 100.0, 2.5)).collect();
        costs.push(("a.x", other, 2.5));
        run(&costs)
    };
    assert!(verdicts(&[many(100.0), many(104.0)], &HOW).iter().all(|(_, verdict)| !verdict.is_change()));
    assert_eq!(verdicts(&[many(100.0), many(130.0)], &HOW)[40].1, Verdict::Slower);
}

#[test]
fn odd_costs_are_bounds_or_have_a_reason_and_are_never_dropped() {
    let ids = ["a.told", "a.atmost", "a.negative", "a.zero"];
    let base = run(&[(ids[0], 10.0, 0.1), (ids[1], 0.5, 1.0), (ids[2], -5.0, 1.0), (ids[3], 0.0, 0.0)]);
    let mut other = base.clone();
    other.costs[0] = measured(&base.costs[0], ids[0], 0.5, 1.0);
    other.costs[1] = measured(&base.costs[0], ids[1], 10.0, 0.1);
    let runs = [base.clone(), other];
    let compared = compare(&runs, &HOW);
    assert_eq!(compared.rows.len(), 4);
    let against: Vec<&Against> = compared.rows.iter().map(|row| &row.others[0].as_ref().expect("matched").1).collect();
    assert!(matches!(against[0].ratio, RatioToBase::AtMost(most) if (most - 1.5 / 9.9).abs() < 1e-12));
    assert_eq!(against[0].verdict, Verdict::Faster);
    assert!(matches!(against[1].ratio, RatioToBase::AtLeast(least) if (least - 9.9 / 1.5).abs() < 1e-12));
    assert_eq!(against[1].verdict, Verdict::Slower);
    for (unknown, reason) in against[2..].iter().zip(["baseline", "in the base it is zero"]) {
        assert!(matches!(&unknown.ratio, RatioToBase::Unknown(why) if why.contains(reason)), "{unknown:?}");
        assert_eq!(unknown.verdict, Verdict::Unknown);
    }
    let both = [base.clone(), base];
    assert!(
        matches!(&compare(&both, &HOW).rows[1].others[0], Some((_, against)) if against.verdict == Verdict::Unknown)
    );
    let mean = &overall(&compared)[0];
    assert_eq!((mean.ratio, mean.pairs, mean.left_out), (None, 0, 4));
}

#[test]
fn versions_are_compared_only_when_requested() {
    let (base, mut other) =
        (run(&[("a.x", 10.0, 0.1), ("a.y", 1.0, 0.1)]), run(&[("a.x", 20.0, 0.1), ("a.y", 1.0, 0.1)]));
    other.costs[0].version = 2;
    let runs = [base, other];
    let compared = compare(&runs, &HOW);
    assert_eq!((compared.rows.len(), compared.versions.len()), (1, 1));
    assert!(compared.only.iter().all(Vec::is_empty), "what is listed for its version is not missing");
    let compared = compare(&runs, &CompareOptions { versions: Versions::Ignored, ..HOW });
    assert_eq!((compared.rows.len(), compared.versions.len()), (2, 0));
}

#[test]
fn cycles_are_compared_where_a_run_counts_in_them() {
    let base = run(&[("a.x", 10.0, 0.1)]);
    let mut manual = run(&[("a.x", 20.0, 0.0)]);
    manual.counted_in = CountedIn::Cycles;
    manual.costs[0].cycles = 30.0;
    let ratio = |runs: &[Run], how: &CompareOptions| match &compare(runs, how).rows[0].others[0] {
        Some((_, Against { ratio: RatioToBase::Times(ratio), .. })) => ratio.value,
        other => panic!("{other:?}"),
    };
    let runs = [base, manual];
    assert_eq!(compare(&runs, &HOW).unit, Some(CountedIn::Cycles));
    assert!((ratio(&runs, &HOW) - 1.0).abs() < 1e-12);
    assert!((ratio(&runs, &CompareOptions { unit: Some(CountedIn::Nanoseconds), ..HOW }) - 2.0).abs() < 1e-12);
    let mut timeless = runs.clone();
    timeless[1].costs[0].cycles = 0.0;
    timeless[1].noise.cycle_ns = 0.0;
    let unknown = against(&timeless[0], &timeless[1]);
    assert!(matches!(&unknown.ratio, RatioToBase::Unknown(why) if why.contains("cycles")), "{unknown:?}");
}

#[test]
fn books_are_matched_by_analogues_then_by_shared_names() {
    let printed = book(
        "[[cost]]\noperation = \"b.copy\"\nms = \"1.36\"\nanalogues = [\"memory.copy@size=512\"]\n\
         [[cost]]\noperation = \"b.again\"\nms = \"1.4\"\nanalogues = [\"memory.copy@size=512\", \"loop.empty\"]\n\
         [[cost]]\noperation = \"b.null\"\nms = \"2.0\"\nlike = [\"NULL\"]\n\
         [[cost]]\noperation = \"b.alone\"\nms = \"2.0\"\nlike = [\"NOBODY\"]",
    );
    let mut here =
        run(&[("memory.copy", 1.0, 0.1), ("memory.copy", 2.0, 0.1), ("loop.empty", 3.0, 0.1), ("x.null", 4.0, 0.1)]);
    here.costs[0].at = Point::default().with("size", Value::Number(64));
    here.costs[1].at = Point::default().with("size", Value::Number(512));
    here.costs[3].like = vec!["NULL".into()];
    let expected = [("b.copy", "memory.copy@size=512"), ("b.again", "loop.empty"), ("b.null", "x.null")];
    assert_eq!(matched(&printed, &here), expected.map(|(one, other)| (one.to_string(), other.to_string())));
    let runs = [printed.clone(), here];
    let compared = compare(&runs, &HOW);
    assert_eq!(compared.only[0][0].cost.operation, "b.alone");
    assert_eq!(compared.only[1][0].cost.name(), "memory.copy@size=64");
    // Printed digits have no noise: 1.36 to 1.40 ms is a clear difference.
    let later = book("[[cost]]\noperation = \"b.copy\"\nms = \"1.38\"");
    assert_eq!(against(&printed, &later).verdict, Verdict::Slower);
}

#[test]
fn names_alone_do_not_match_measured_costs() {
    let at = |size: u64| Point::default().with("size", Value::Number(size));
    let (mut one, mut other) =
        (run(&[("pipe.self", 1.0, 0.1)]), run(&[("pipe.self", 2.0, 0.1), ("queue.self", 1.0, 0.1)]));
    (one.costs[0].at, other.costs[0].at) = (at(1), at(2));
    for cost in one.costs.iter_mut().chain(&mut other.costs) {
        cost.like = vec!["SDAT/RCVD".into()];
    }
    assert!(matched(&one, &other).is_empty());
    let runs = [one, other];
    assert!(compare(&runs, &HOW).is_empty());
}

#[test]
fn what_a_run_lacks_is_reported_with_its_reason() {
    let base = run(&[("a.x", 1.0, 0.1), ("a.y", 1.0, 0.1)]);
    let mut other = run(&[("a.x", 1.0, 0.1)]);
    other.skipped = ["a.x.y", "a.y"].map(|operation| example::skip(operation, "not here")).into();
    let third = run(&[("a.y", 1.0, 0.1), ("a.z", 1.0, 0.1)]);
    let runs = [base, other, third];
    let compared = compare(&runs, &HOW);
    assert_eq!(compared.rows.len(), 2);
    assert!(compared.rows[0].others[1].is_none() && compared.rows[1].others[0].is_none());
    assert!(compared.only[0].is_empty() && compared.only[1].is_empty());
    assert_eq!(compared.only[2][0].cost.operation, "a.z");
    let runs = [runs[0].clone(), runs[1].clone()];
    let compared = compare(&runs, &HOW);
    assert_eq!(compared.only[0][0].skipped[0].1.reason, "not here");
}

#[test]
fn machines_and_settings_that_differ_are_found_and_ordered() {
    let (base, mut other) = (run(&[("a.x", 1.0, 0.1)]), run(&[("a.x", 1.0, 0.1)]));
    assert!(differences(&[base.clone(), other.clone()]).is_empty());
    other.settings.seed += 1;
    other.noise.cycle_ns *= 1.001;
    assert!(differences(&[base.clone(), other.clone()]).is_empty(), "a seed and a trembling clock say nothing");
    other.settings.budget_s = 99.0;
    other.machine.kernel.release = "7.0".into();
    other.machine.architecture = "aarch64".into();
    other.noise.cycle_ns *= 1.5;
    other.machine.kernel.mitigations.insert("meltdown".into(), "Not affected at all".into());
    let found = differences(&[base.clone(), other.clone()]);
    let fields: Vec<&str> = found.iter().map(|difference| difference.field.as_str()).collect();
    let expected = [
        "machine.architecture", "noise.cycle_ns", "machine.kernel.mitigations.meltdown", "machine.kernel.release",
        "settings.budget_s",
    ];
    assert_eq!(fields, expected);
    let [mut old, mut one, mut two] = [base.clone(), base.clone(), base.clone()];
    [old.build, one.build, two.build] = ["", "1f", "2e"].map(String::from);
    assert!(differences(&[old.clone(), one.clone()]).is_empty(), "an older run does not say its build");
    assert!(differences(&[one.clone(), two]).first().is_some_and(DifferingFact::is_of_builds));
    // A book states little. What it leaves empty is no difference.
    let silent = book("[[cost]]\noperation = \"a.x\"\nms = \"1\"");
    assert!(differences(&[base, silent]).is_empty());
}

#[test]
fn a_mean_is_geometric_and_over_known_pairs() {
    let base = run(&[("a.x", 1.0, 0.001), ("a.y", 1.0, 0.001), ("a.z", 0.0, 1.0), ("b.x", 1.0, 0.001)]);
    let other = run(&[("a.x", 2.0, 0.002), ("a.y", 8.0, 0.008), ("a.z", 0.0, 1.0), ("b.x", 3.0, 0.003)]);
    let runs = [base, other];
    let compared = compare(&runs, &HOW);
    let families = families(&compared);
    let mean = &families[0].means[0];
    assert!((mean.ratio.expect("two pairs").value - 4.0).abs() < 1e-9);
    assert_eq!((families[0].name, mean.pairs, mean.left_out), ("a", 2, 1));
    assert!((overall(&compared)[0].ratio.expect("three pairs").value - 48.0_f64.cbrt()).abs() < 1e-9);
}
