//! Sentences that runs must give, and sentences that they must not give.

use super::*;
use crate::example;

/// The findings of a run beside nothing.
fn alone(run: &Run) -> Vec<String> {
    findings(run, Surroundings::default())
}

#[test]
fn mitigations_are_reported_on_the_headline_page_alone() {
    let mut run = example::run();
    run.settings.patterns = vec!["pipe".into()];
    assert!(!alone(&run).join(" ").contains("mitigations"));
}

#[test]
fn a_run_without_the_costs_reports_nothing_about_them() {
    let mut run = example::run();
    run.costs.clear();
    assert_eq!(alone(&run), ["Active mitigations: spectre_v1, spectre_v2; the kernel calls itself vulnerable to mds."]);
    run.machine.kernel.mitigations.clear();
    assert!(alone(&run).is_empty());
}

#[test]
fn what_is_indistinguishable_from_zero_or_from_the_other_is_not_claimed() {
    let mut run = example::run();
    for cost in &mut run.costs {
        if cost.operation == "syscall.getppid" {
            cost.net_ns.low.0 = -1.0;
        }
        if cost.operation.starts_with("file.read") {
            cost.net_ns.low.0 = 1.0;
            cost.net_ns.high.0 = 1e9;
        }
    }
    let text = alone(&run).join(" ");
    assert!(!text.contains("system calls") && !text.contains("mapped"), "{text}");
}

fn neighbours_of(run: &mut Run, tax: Option<(f64, f64, f64)>) {
    let tax = tax.map(|(ratio, low, high)| Neighbours { ratio, low, high });
    run.costs.iter_mut().for_each(|cost| cost.neighbours = tax);
}

#[test]
fn neighbours_and_the_clock_are_distinguished() {
    let mut run = example::run();
    assert_eq!(neighbours(&run), None, "a run that does not tell them");
    neighbours_of(&mut run, Some((1.08, 1.06, 1.10)));
    let slower = "Sharing this core with others makes kernel work 8.0 % slower; steal time (0.05 %) does not show it.";
    assert_eq!(neighbours(&run).as_deref(), Some(slower));
    // Only the clock differs: the same cycles in other times.
    run.noise.cycle_range_ns = Some(record::Ends { low: 1.0 / 4.2, high: 1.0 / 3.5 });
    neighbours_of(&mut run, Some((1.0, 0.95, 1.05)));
    let clock = "The clock moved between 3.50 and 4.20 GHz, which moves times by 20 %.";
    assert_eq!(neighbours(&run).as_deref(), Some(clock), "1 +- 5 % is no evidence of neighbours, nor of none");
    neighbours_of(&mut run, Some((1.001, 0.99, 1.01)));
    let alone = format!("This core was almost undisturbed: sharing it cost kernel work at most 1.0 %. {clock}");
    assert_eq!(neighbours(&run), Some(alone));
    run.noise.cycle_range_ns = Some(record::Ends { low: 0.25, high: 0.2501 });
    neighbours_of(&mut run, Some((1.14, 0.9, f64::INFINITY)));
    assert_eq!(neighbours(&run), None);
}

#[test]
fn a_run_that_was_traced_reports_so_first() {
    let mut run = example::run();
    let place = |run: &Run| alone(run).iter().position(|sentence| sentence.contains("were traced"));
    assert_eq!(place(&run), None);
    run.noise.traced = true;
    assert_eq!(place(&run), Some(0), "{:?}", alone(&run));
}

#[test]
fn one_round_makes_no_finding() {
    let mut run = example::run();
    run.machine.kernel.mitigations.clear();
    for cost in &mut run.costs {
        (cost.net_ns.low.0, cost.net_ns.high.0) = (f64::NEG_INFINITY, f64::INFINITY);
    }
    assert_eq!(alone(&run), Vec::<String>::new());
}

#[test]
fn a_ratio_known_to_a_factor_of_two_only_is_not_reported() {
    let mut run = example::run();
    for cost in run.costs.iter_mut().filter(|cost| cost.operation == "switch.process") {
        (cost.net_ns.low.0, cost.net_ns.high.0) = (700.0, 2000.0);
    }
    assert_eq!(switch_in_system_calls(&run), None);
    moved(&mut run, "page.fault.anonymous", "page.fault.anonymous", &[("frames", Value::Word("fresh".into()))], 1228.8);
    assert!(page_fault_in_system_calls(&run).is_some());
    run.costs.last_mut().expect("the fault").net_ns.high.0 *= 2.0;
    assert_eq!(page_fault_in_system_calls(&run), None);
}

#[test]
fn a_switch_is_reported_for_the_set_that_fills_the_cores_own_caches_where_there_is_one() {
    let mut run = example::run();
    let mut full = run.cost("switch.process", &[number("set", WORKING_SET)]).expect("a switch").clone();
    full.at = Point::default().with("set", Value::Word(LARGEST_OWN.into()));
    full.tallies.insert("set bytes".into(), f64::from(1536 << 10));
    full.net_ns = full.net_ns.times(10.0);
    run.costs.push(full);
    let text = switch_in_system_calls(&run).expect("a finding");
    assert!(text.contains(" with a working set of 1536 KiB."), "{text}");
}

#[test]
fn how_many_times_is_said_where_the_digits_are_known() {
    let ratio = |low, value, high| against(&Interval { value, low, high });
    assert_eq!(ratio(1.9, 2.0, 2.1), "2.0 times slower");
    assert_eq!(ratio(1.2, 2.0, 3.0), "at least 1.2 times slower");
    assert_eq!(ratio(1.01, 2.0, 4.0), "slower");
    assert_eq!(ratio(0.2, 0.25, 0.5), "at least 2.0 times faster");
    assert_eq!(ratio(0.9, 1.2, 1.3), "no faster and no slower");
}

/// Adds costs of the example at points that it does not have.
fn moved(run: &mut Run, operation: &str, id: &str, point: &[(&str, Value)], ns: f64) {
    let mut cost = run.costs.iter().find(|cost| cost.operation == operation).expect(operation).clone();
    cost.operation = id.into();
    cost.at = point.iter().fold(Point::default(), |at, (axis, value)| at.with(axis, value.clone()));
    (cost.net_ns.quiet.0, cost.net_ns.low.0, cost.net_ns.high.0) = (ns, ns * 0.99, ns * 1.01);
    run.costs.push(cost);
}

#[test]
fn new_memory_is_reported_by_fresh_frames_alone() {
    let mut run = example::run();
    assert_eq!(page_fault_in_system_calls(&run), None);
    let frames = |word: &str| [("frames", Value::Word(word.into()))];
    moved(&mut run, "page.fault.anonymous", "page.fault.anonymous", &frames("recycled"), 300.0);
    assert_eq!(page_fault_in_system_calls(&run), None);
    moved(&mut run, "page.fault.anonymous", "page.fault.anonymous", &frames("fresh"), 1228.8);
    let text = page_fault_in_system_calls(&run).expect("a sentence");
    assert!(text.ends_with("new memory costs 0.300 ns a byte before it is used."), "{text}");
}

#[test]
fn a_mapped_file_is_reported_with_its_size_its_filling_and_what_mapping_takes() {
    let mut run = example::run();
    run.costs.retain(|cost| cost.at.number("size") != Some(1 << 20));
    let at = |file, filled| [number("size", 4096), number("file", file), number("filled", filled)];
    for (file, filled, ns) in [(64 << 20, 128 << 10, 900.0), (4 << 20, 4096, 300.0), (4 << 20, 128 << 10, 200.0)] {
        moved(&mut run, "file.read", "file.read", &at(file, filled), ns);
        moved(&mut run, "file.read", "file.read.mapped", &at(file, filled), 100.0);
        moved(&mut run, "file.read", "file.map.read.unmap", &at(file, filled), 250.0);
    }
    run.costs.retain(|cost| !cost.operation.starts_with("file.") || cost.at.number("file").is_some());
    assert_eq!(
        mapped_file(&run).as_deref(),
        Some(
            "Through a mapping, 4 KiB of a file of 4 MiB (written 128 KiB at a time) are 2.0 times faster than by \
             read() once their pages are touched, 1.2 times slower with map, faults and unmap."
        )
    );
}
