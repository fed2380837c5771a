//! The page of a fleet, from made-up runs.

use analysis::fleet::{FleetOptions, Found, Parts, RunFacts, RunFigure, Table, found};
use howslow_report::document::FleetReportDocument;
use howslow_report::{FleetView, Style};
use record::{Bytes, Machine};

const COSTS: [(&str, f64); 8] = [
    ("instruction.call", 1.1),
    ("memory.load", 80.0),
    ("syscall.getppid", 60.0),
    ("syscall.stat", 400.0),
    ("signal.deliver", 900.0),
    ("pipe.self", 350.0),
    ("pipe.roundtrip", 2700.0),
    ("file.fsync", 40_000.0),
];

/// Scatter of about 0.6 %, the same every time.
fn scatter(place: usize) -> f64 {
    let mut random = fastrand::Rng::with_seed(place as u64);
    (0..6).map(|_| random.f64() - 0.5).sum::<f64>() * 0.008
}

fn machine(node: usize) -> Machine {
    let mut machine = Machine { architecture: "x86_64".into(), ..Machine::default() };
    machine.cpu.model = if node < 24 { "Example 9000" } else { "Example 7000" }.into();
    machine.cpu.online = 64;
    machine.cpu.microcode = Some("0x2b".into());
    machine.kernel.release = "6.12.1".into();
    machine.memory.total = Bytes(512 << 30);
    let how = if node == 3 { "Mitigation: IBRS" } else { "Mitigation: Enhanced IBRS" };
    machine.kernel.mitigations.insert("spectre_v2".into(), how.into());
    machine
}

fn times(node: usize, operation: &str) -> f64 {
    match (node, operation.split('.').next().unwrap_or_default()) {
        (3, "syscall" | "signal" | "pipe") => 1.3,
        (5, "file") => 1.4,
        (7, _) => 1.1,
        (9, "memory") => 1.2,
        (11.., "file") if node % 2 == 1 => 1.25,
        _ => 1.0,
    }
}

fn fleet() -> Found {
    let mut table = Table::default();
    for node in 0..26 {
        for run in 0..3 {
            let clock_ghz = Some(if node == 7 { 3.0 / 1.1 } else { 3.0 } * (1.0 + scatter(node * 3 + run) / 8.0));
            let (id, started) = (format!("{node}-{run}"), format!("2026-11-0{}T00:00:00Z", run + 1));
            let parts = Parts::of(&machine(node));
            let facts = RunFacts { node: format!("n{node}"), id, started, parts, clock_ghz, undisturbed: Some(0.9) };
            let key = table.run(facts).expect("a new run");
            for (place, (operation, ns)) in COSTS.iter().enumerate() {
                let cost = table.cost(operation, "", 1);
                let value = ns * times(node, operation) * (1.0 + scatter(10_000 + (node * 8 + place) * 3 + run));
                let doubt = (node == 9).then_some("few quiet batches");
                table.figure(key, cost, RunFigure { value, low: value * 0.99, high: value * 1.01, doubt });
            }
        }
    }
    found(&table, &FleetOptions::default())
}

fn view(all: bool) -> FleetView<'static> {
    FleetView { class: None, all }
}

#[test]
fn a_fleet_with_slow_nodes() {
    let mut found = fleet();
    insta::assert_snapshot!(howslow_report::fleet_report(&found, &view(false), Style::PLAIN));
    found.slow.iter_mut().for_each(|node| node.families.truncate(5));
    let page = howslow_report::fleet_report(&found, &view(false), Style::PLAIN);
    assert!(page.contains("and 1 more family\n"), "{page}");
}

#[test]
fn nodes_to_drain() {
    let mut found = fleet();
    insta::assert_snapshot!(howslow_report::drain_list(&found, &view(false)));
    found.slow[0].node = "n3\"; reboot; \"".into();
    let list = howslow_report::drain_list(&found, &view(false));
    assert!(list.lines().next().is_some_and(|line| line.starts_with("# left out")), "{list}");
    assert!(list.lines().skip(1).all(|line| line.starts_with("scontrol update NodeName=n")), "{list}");
}

#[test]
fn a_map_is_drawn_for_each_class_and_one_class_is_chosen() {
    let found = fleet();
    let pictures = howslow_report::fleet_pictures(&found, &view(true));
    assert_eq!(pictures.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["fleet-A", "fleet-B"]);
    for (_, svg) in &pictures {
        roxmltree::Document::parse(svg).expect("XML");
    }
    let one = FleetView { class: Some("B"), ..view(true) };
    let page = howslow_report::fleet_report(&found, &one, Style::PLAIN);
    assert!(page.contains("0 nodes slow") && page.contains("Example 7000") && !page.contains("n3 "), "{page}");
    assert_eq!(howslow_report::drain_list(&found, &one), "");
}

#[test]
fn the_document_has_what_the_page_shows() {
    let found = fleet();
    let document = serde_json::to_value(FleetReportDocument::of(&found, None)).expect("JSON");
    let slow = document["slow"].as_array().expect("slow");
    assert_eq!(slow.iter().filter(|node| node["node"].is_string()).count(), found.slow.len());
    assert_eq!(document["classes"][0]["nodes"].as_array().map(Vec::len), Some(24));
    assert!(document["slow"][0]["families"][0]["ratio"]["low"].as_f64().is_some_and(|low| low > 1.0));
    let one = serde_json::to_value(FleetReportDocument::of(&found, Some("B"))).expect("JSON");
    assert_eq!((one["slow"].as_array().map(Vec::len), one["classes"].as_array().map(Vec::len)), (Some(0), Some(1)));
}
