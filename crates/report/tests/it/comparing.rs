//! Comparisons as people read them: snapshots of fixed runs.

use analysis::compare::{CompareOptions, FailOn, Gate, Versions, compare, differences, gate};
use howslow_report::{Colours, ComparisonView, Shown, Sort, Style};
use record::{Cost, Doubt, Estimate, Figures, Origin, Run};

const HOW: CompareOptions = CompareOptions { unit: None, threshold: 0.03, margin: 0.05, versions: Versions::Kept };

/// The example, with enough rounds for a verdict.
fn example() -> Run {
    let mut run = crate::support::example();
    for cost in &mut run.costs {
        let mut round = cost.rounds[0].clone();
        round.quiet = vec![true; round.ns.len()];
        cost.rounds = vec![round; 10];
    }
    run
}

fn scale(cost: &mut Cost, times: f64) {
    cost.net_ns = cost.net_ns.times(times);
    cost.gross_ns = cost.gross_ns.times(times);
    cost.cycles *= times;
    cost.rounds.iter_mut().flat_map(|round| &mut round.ns).for_each(|ns| *ns *= times);
}

/// Another kernel on the same machine: calls cost more, files less, one operation is gone, another one replaces it.
fn changed() -> Run {
    let mut run = example();
    run.id = "20261122-090000-abcd".into();
    run.started = "2026-11-22T09:00:00Z".into();
    run.machine.kernel.release = "6.19.1".into();
    run.machine.cpu.features.extend(["amx", "avx512f", "fsrm", "la57", "pku", "sha_ni"].map(String::from));
    run.machine.kernel.mitigations.insert("retbleed".into(), "Mitigation: untrained return thunk; SMT enabled".into());
    run.settings.seed += 1;
    run.settings.budget_s = 60.0;
    for cost in &mut run.costs {
        match cost.family() {
            "syscall" => scale(cost, 1.2),
            "file" => scale(cost, 0.8),
            _ => scale(cost, 1.004),
        }
    }
    run.costs[0].doubts = vec![Doubt::RoundLost { reason: "killed".into() }];
    run.costs.retain(|cost| cost.operation != "page.fault.anonymous");
    run.skipped[0].operation = "page.fault.anonymous".into();
    run
}

fn names() -> [String; 2] {
    ["@2", "@1"].map(String::from)
}

/// All rows of a comparison, those of one family together.
fn page(runs: &[Run], style: Style) -> String {
    let view = ComparisonView { names: &names(), sort: Sort::Family, shown: Shown::All };
    howslow_report::comparison(&compare(runs, &HOW), &differences(runs), &view, style).join("\n")
}

#[test]
fn a_comment_on_a_pull_request() {
    let mut runs = [example(), changed()];
    for run in &mut runs {
        let odd = run.costs.iter_mut().find(|cost| cost.operation == "pipe.self").expect("the example has one");
        odd.operation = "command: a | b `c` <img> @someone".into();
    }
    let names = ["@2".to_string(), "after_*.json".to_string()];
    let view = ComparisonView { names: &names, sort: Sort::Family, shown: Shown::Changed };
    let compared = compare(&runs, &HOW);
    insta::assert_snapshot!(howslow_report::comparison_markdown(&compared, &differences(&runs), &view, None));
    let gated = gate(&compared, Gate { fail_on: FailOn::Slower, at_least: 0.05 });
    let comment = howslow_report::comparison_markdown(&compared, &differences(&runs), &view, Some(&gated));
    assert!(comment.starts_with("### howslow: gate failed\n\n2 of "), "{comment}");
    // What a file or a command line contains is in code spans, as entities.
    assert!(
        comment.contains("<code>command: a &#124; b &#96;c&#96; &#60;img&#62; &#64;someone&#64;size=64</code>"),
        "{comment}"
    );
    let rows = comment.lines().filter(|line| line.starts_with('|'));
    assert!(rows.clone().all(|row| row.matches('|').count() == 7), "{:?}", rows.collect::<Vec<_>>());
}

#[test]
fn every_oddity() {
    let (mut base, mut other) = (example(), example());
    for run in [&mut base, &mut other] {
        run.costs.retain(|cost| ["syscall", "instruction", "file"].contains(&cost.family()));
    }
    base.costs[0].net_ns = Figures::given(-3.0, -4.0, -2.0);
    base.costs[1].net_ns = Figures::given(0.01, -0.02, 0.04);
    other.costs[1].net_ns = Figures::given(93.0, 92.0, 94.0);
    other.costs[2].net_ns = Figures::given(0.0, 0.0, 0.0);
    other.costs[3].net_ns = Figures::given(0.5, -1.0, 1.0);
    other.costs[4].headline = Estimate::Typical;
    other.costs[4].net_ns.typical = other.costs[4].net_ns.quiet;
    other.costs[5].version = 7;
    other.costs[6].rounds.truncate(1);
    insta::assert_snapshot!(page(&[base, other], Style::PLAIN));
}

#[test]
fn the_rule_for_printed_digits_is_not_that_of_imported_samples() {
    const PRINTED: &str = "where the interval of the ratio leaves out 1";
    let mut runs = [example(), changed()];
    runs.iter_mut().for_each(|run| run.origin = Origin::Imported);
    let sampled = page(&runs, Style::PLAIN);
    assert!(!sampled.contains(PRINTED) && !sampled.contains("undisturbed in two rounds"), "{sampled}");
    runs.iter_mut().flat_map(|run| &mut run.costs).for_each(|cost| cost.rounds.clear());
    let printed = page(&runs, Style::PLAIN);
    assert!(printed.contains(PRINTED), "{printed}");
    // A summary has no samples either, and was measured all the same.
    runs.iter_mut().for_each(|run| run.origin = Origin::Measured);
    let measured = page(&runs, Style::PLAIN);
    assert!(!measured.contains(PRINTED), "{measured}");
}

#[test]
fn one_cost_of_a_gate_is_named_in_the_singular() {
    let mut runs = [example(), changed()];
    runs.iter_mut().for_each(|run| run.costs.retain(|cost| cost.operation == "syscall.getppid"));
    let view = ComparisonView { names: &names(), sort: Sort::Family, shown: Shown::Changed };
    let compared = compare(&runs, &HOW);
    let sentence = |at_least: f64| {
        howslow_report::gate_sentence(&gate(&compared, Gate { fail_on: FailOn::Slower, at_least }), &view)
    };
    assert_eq!(sentence(0.05), "gate failed: 1 of 1 cost is slower by more than 5.0 %: syscall.getppid 1.200 times");
    assert_eq!(sentence(0.5), "gate passed: none of 1 cost is slower by more than 50 %");
}

#[test]
fn only_changes_are_coloured() {
    let runs = [example(), changed()];
    let coloured = page(&runs, Style::new(Colours::On, 100));
    let (red, green) = ("\u{1b}[31m", "\u{1b}[32m");
    assert!(coloured.contains(red) && coloured.contains(green));
    for line in coloured.lines() {
        assert_eq!(line.contains(red), line.contains("  slower"), "{line}");
        assert_eq!(line.contains(green), line.contains("  faster"), "{line}");
        assert!(!line.contains("  same") || !line.contains('\u{1b}'), "{line}");
    }
    assert_eq!(crate::support::bare(&coloured), page(&runs, Style::PLAIN));
}
