//! Comparisons as people read them: snapshots of fixed runs.

use analysis::compare::{CompareOptions, FailOn, Gate, Versions, compare, differences, gate};
use howslow_report::{ComparisonView, Shown, Sort, Style};
use record::{Cost, Doubt, Estimate, Figures, Nanoseconds, Origin, Run};

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
    for figures in [&mut cost.net_ns, &mut cost.gross_ns] {
        let Figures { best, quiet, typical, low, high } = figures;
        for figure in [best, quiet, typical, low, high] {
            figure.0 *= times;
        }
    }
    cost.cycles *= times;
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

fn page(runs: &[Run], names: &[&str], how: &CompareOptions, sort: Sort, shown: Shown, style: Style) -> String {
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    let view = ComparisonView { names: &names, sort, shown };
    howslow_report::comparison(&compare(runs, how), &differences(runs), &view, style).join("\n")
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
        run.costs
            .retain(|cost| cost.family() == "syscall" || cost.family() == "instruction" || cost.family() == "file");
    }
    let figures = |value: f64, low: f64, high: f64| {
        let ns = Nanoseconds;
        Figures { best: ns(value), quiet: ns(value), typical: ns(value), low: ns(low), high: ns(high) }
    };
    base.costs[0].net_ns = figures(-3.0, -4.0, -2.0);
    base.costs[1].net_ns = figures(0.01, -0.02, 0.04);
    other.costs[1].net_ns = figures(93.0, 92.0, 94.0);
    other.costs[2].net_ns = figures(0.0, 0.0, 0.0);
    other.costs[3].net_ns = figures(0.5, -1.0, 1.0);
    other.costs[4].headline = Estimate::Typical;
    other.costs[4].net_ns.typical = other.costs[4].net_ns.quiet;
    other.costs[5].version = 7;
    other.costs[6].rounds.truncate(1);
    insta::assert_snapshot!(page(&[base, other], &["@2", "@1"], &HOW, Sort::Family, Shown::All, Style::PLAIN));
}

#[test]
fn the_rule_for_printed_digits_is_not_that_of_imported_samples() {
    const PRINTED: &str = "where the interval of the ratio leaves out 1";
    let mut runs = [example(), changed()];
    runs.iter_mut().for_each(|run| run.origin = Origin::Imported);
    let shown = |runs: &[Run]| page(runs, &["@2", "@1"], &HOW, Sort::Family, Shown::All, Style::PLAIN);
    let sampled = shown(&runs);
    assert!(!sampled.contains(PRINTED) && !sampled.contains("undisturbed in two rounds"), "{sampled}");
    runs.iter_mut().flat_map(|run| &mut run.costs).for_each(|cost| cost.rounds.clear());
    assert!(shown(&runs).contains(PRINTED), "{}", shown(&runs));
    // A summary has no samples either, and was measured all the same.
    runs.iter_mut().for_each(|run| run.origin = Origin::Measured);
    assert!(!shown(&runs).contains(PRINTED), "{}", shown(&runs));
}

#[test]
fn one_cost_of_a_gate_is_named_in_the_singular() {
    let mut runs = [example(), changed()];
    runs.iter_mut().for_each(|run| run.costs.retain(|cost| cost.operation == "syscall.getppid"));
    let names = ["@2".to_string(), "@1".to_string()];
    let view = ComparisonView { names: &names, sort: Sort::Family, shown: Shown::Changed };
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
    let coloured = page(&runs, &["@2", "@1"], &HOW, Sort::Family, Shown::All, Style::COLOURED);
    let (red, green) = ("\u{1b}[31m", "\u{1b}[32m");
    assert!(coloured.contains(red) && coloured.contains(green));
    for line in coloured.lines() {
        assert_eq!(line.contains(red), line.contains("  slower"), "{line}");
        assert_eq!(line.contains(green), line.contains("  faster"), "{line}");
        assert!(!line.contains("  same") || !line.contains('\u{1b}'), "{line}");
    }
    let mut bare = coloured;
    for escape in [red, green, "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[0m"] {
        bare = bare.replace(escape, "");
    }
    assert_eq!(bare, page(&runs, &["@2", "@1"], &HOW, Sort::Family, Shown::All, Style::PLAIN));
}
