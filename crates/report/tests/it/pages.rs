//! What people read, as snapshots of a fixed run.

use analysis::doctor::{Finding, Severity};
use analysis::model::answer::{Questions, answer};
use analysis::model::{Figure, SimulationSettings, System};
use howslow_report::document::WatchDocument;
use howslow_report::{Colours, ListedCall, Style};
use record::{Doubt, Machine, Nanoseconds};

use crate::support::{bare, example};

#[test]
fn a_run_without_costs_or_machine() {
    let mut run = example();
    run.costs.clear();
    run.skipped.clear();
    run.machine = Machine::default();
    run.noise = record::Noise::default();
    insta::assert_snapshot!(howslow_report::page(&run, Style::PLAIN));
}

#[test]
fn a_run_with_every_oddity() {
    let mut run = example();
    run.costs.retain(|cost| cost.family() == "syscall" || cost.family() == "instruction");
    for cost in &mut run.costs {
        // An older run has no headings of its own.
        cost.group = String::new();
    }
    let odd = &mut run.costs[2];
    odd.net_ns.quiet = Nanoseconds(-3.0);
    odd.net_ns.low = Nanoseconds(-4.0);
    odd.net_ns.high = Nanoseconds(-2.0);
    odd.gross_ns.quiet = Nanoseconds(0.0);
    odd.doubts = vec![Doubt::NegativeNet, Doubt::FewRounds { rounds: 3 }, Doubt::NegativeNet];
    run.costs[3].doubts = vec![Doubt::RoundLost { reason: "killed by signal 9\nand more".into() }];
    run.costs[3].summary = "\t".into();
    insta::assert_snapshot!(howslow_report::page(&run, Style::PLAIN));
}

#[test]
fn colours_change_nothing_but_colours() {
    let coloured = howslow_report::page(&example(), Style::new(Colours::On, 100));
    assert!(coloured.contains("\u{1b}[1m"));
    assert_eq!(bare(&coloured), howslow_report::page(&example(), Style::PLAIN));
}

#[test]
fn a_list_of_system_calls() {
    let call = |number, call: &str, operation: Option<&str>, path: Option<&str>, reason: Option<&str>| ListedCall {
        number,
        call: call.into(),
        operation: operation.map(Into::into),
        path: path.map(Into::into),
        reason: reason.map(Into::into),
    };
    let calls = [
        call(0, "read", Some("syscall.read.zero"), Some("works"), None),
        call(169, "reboot", Some("call.reboot"), Some("refused"), None),
        call(182, "putpmsg", None, None, Some("a reserved name: Linux never had it")),
        call(470, "listns", None, None, None),
    ];
    insta::assert_snapshot!(howslow_report::syscalls(&calls, Style::PLAIN));
}

#[test]
fn one_thing_is_named_in_the_singular() {
    let watch = WatchDocument {
        run: "a".into(),
        started: String::new(),
        host: String::new(),
        class: "c".into(),
        among: "machine",
        others: 11,
        costs: 1,
        too_few: 1,
        least: 0.01,
        changed: false,
        changes: Vec::new(),
    };
    let page = howslow_report::watch(&watch, Style::PLAIN);
    assert!(page.contains("\n1 cost beside 11 earlier runs of this machine; 1 more has too few"), "{page}");
    let system = System { think_s: Figure::from(1.0), user_s: Figure::from(0.1), ..System::default() };
    let simulation = SimulationSettings { events: 20_000, ..SimulationSettings::default() };
    let questions = Questions { mean_s: Some(0.105), simulation, ..Questions::default() };
    let page = howslow_report::model(&answer(&system, &questions).expect("a system"), 80, Style::PLAIN);
    assert!(page.contains("1 user thinking 1.00 s") && page.contains("Up to 1 user has a mean response"), "{page}");
}

#[test]
fn a_doctor() {
    let finding = |severity, what: &str, remedy: &str| Finding { severity, what: what.into(), remedy: remedy.into() };
    let findings = [
        finding(Severity::Note, "the kernel has 3 mitigations in force", ""),
        finding(Severity::Noise, &"another hardware thread shares this core ".repeat(5), "choose a host of your own"),
        finding(Severity::Missing, "only one CPU may be used", "allow a second (taskset, cpuset)"),
    ];
    insta::assert_snapshot!(howslow_report::doctor(&example().machine, &findings, Style::PLAIN));
    insta::assert_snapshot!(howslow_report::doctor(&Machine::default(), &[], Style::PLAIN), @r"
    unknown CPU

    nothing here makes numbers noisy or missing
    ");
}
