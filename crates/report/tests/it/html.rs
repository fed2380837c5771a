//! Pages: nothing that a document holds becomes markup, however it is made; a page stays small and whole.

use howslow_report::{
    AnonymousDocument, CostHistories, GalleryMachine, HtmlPage, PageDetail, PageRun, document_section, gallery_index,
    gallery_pair, html_page,
};
use record::Run;
use serde_json::{Value, json};

use crate::support::example;

const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'`--></style></td>&#x3c;{{7*7}}\u{202e}";

/// The same run in which every text that may be anything is hostile.
fn hostile_run() -> Run {
    let mut run = example();
    let hostile = || HOSTILE.to_string();
    (run.id, run.started, run.tool, run.howslow) = (hostile(), hostile(), hostile(), hostile());
    run.machine.host = Some(hostile());
    run.machine.cpu.model = hostile();
    run.machine.cpu.microarchitecture = Some(hostile());
    (run.machine.kernel.name, run.machine.kernel.release) = (hostile(), hostile());
    run.machine.virtualization.hypervisor = Some(hostile());
    run.machine.kernel.mitigations.insert(hostile(), hostile());
    run.settings.patterns = vec![hostile()];
    for cost in &mut run.costs {
        cost.operation = format!("{HOSTILE}{}", cost.operation);
        (cost.summary, cost.group, cost.per) = (hostile(), hostile(), hostile());
        cost.like = vec![hostile()];
        cost.at = cost.at.clone().with(HOSTILE, record::Value::Word(hostile()));
        cost.doubts.push(record::Doubt::RoundLost { reason: hostile() });
        cost.doubts.push(record::Doubt::Implausible { than: hostile() });
        cost.terms.iter_mut().for_each(|term| term.operation = hostile());
        cost.explained_by.push(record::Term { times: f64::NAN, operation: hostile(), at: record::Point::default() });
    }
    let at = record::Point::default();
    run.skipped = vec![record::Skip { operation: hostile(), at, reason: hostile(), remedy: hostile() }];
    // Figures of no meaning.
    run.costs[0].net_ns = record::Figures::given(f64::NAN, f64::NEG_INFINITY, f64::INFINITY);
    run.costs[1].net_ns = record::Figures::given(1e300, -1e300, 1e308);
    run
}

/// A page with nothing on it.
const EMPTY: HtmlPage<'_> = HtmlPage {
    runs: &[],
    run_type: "application/vnd.howslow.run+gzip",
    references: &[],
    compared: None,
    command: String::new(),
    histories: &CostHistories::new(),
    sections: Vec::new(),
    detail: PageDetail::Samples,
    anonymous: false,
    index: None,
};

fn page(runs: &[(&str, &Run)], sections: Vec<howslow_report::Section>) -> String {
    let runs: Vec<PageRun<'_>> =
        runs.iter().map(|(name, run)| PageRun { name: (*name).into(), run, packed: "AAAA".into() }).collect();
    html_page(&HtmlPage { runs: &runs, command: HOSTILE.into(), sections, anonymous: true, ..EMPTY })
}

/// Every tag of the page is one that pages have, with attributes that they have. Only the page's own script runs.
fn harmless(page: &str) {
    const TAGS: &str = " html head meta title style body header p h1 h2 h3 a br div section dl dt dd details summary ul ol li small label \
                        input select option button output pre code table thead tbody tr th td span figure figcaption svg g path line \
                        circle rect text use nav main footer b script ";
    let (before, script) = page.rsplit_once("<script>").expect("the page's script");
    let (_, after) = script.split_once("</script>").expect("its end");
    let (head, style) = before.split_once("<style>").expect("the page's style");
    let (_, body) = style.split_once("</style>").expect("its end");
    for part in [head, body, after] {
        for tag in part.split('<').skip(1).filter(|tag| !tag.starts_with('!')) {
            let name: String = tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
            assert!(TAGS.contains(&format!(" {name} ")), "<{}", tag.chars().take(80).collect::<String>());
            let (inside, _) = tag.split_once('>').expect("a tag ends");
            let drawn = ["path", "line", "circle", "rect", "svg"].contains(&name.as_str());
            assert!(
                !drawn || !(inside.contains("NaN") || inside.contains("\"inf") || inside.contains("-inf")),
                "<{inside}"
            );
            let quoted = inside.split('"').step_by(2).collect::<Vec<_>>().join("\"");
            assert!(!quoted.contains(" on") && !quoted.contains(" style="), "<{inside}");
            for link in inside.split(" href=\"").skip(1) {
                assert!(
                    link.starts_with('#') || link.split('"').next().is_some_and(|to| to.ends_with(".html")),
                    "{link}"
                );
            }
        }
    }
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, 1 + page.matches("<script type=\"application/vnd.howslow.run+gzip\"").count());
    assert_eq!(page.matches("Content-Security-Policy").count(), 1);
}

#[test]
fn hostile_runs_are_text() {
    let run = hostile_run();
    harmless(&page(&[("one", &run)], Vec::new()));
    let example = example();
    harmless(&page(&[(HOSTILE, &run), (HOSTILE, &example)], Vec::new()));
    let machines = [GalleryMachine { name: "one", run: &run }, GalleryMachine { name: "two", run: &example }];
    harmless(&gallery_index(&machines, HOSTILE));
    assert!(gallery_index(&machines[..1], "").contains("1 machine, each figure"));
    harmless(&gallery_pair(&machines[0], &machines[1]).1);
}

#[test]
fn samples_of_another_tool_are_not_called_disturbed() {
    let mut run = example();
    let says = |run: &Run| page(&[("one", run)], Vec::new()).contains(" disturbed (orange)");
    assert!(says(&run));
    run.origin = record::Origin::Imported;
    assert!(!says(&run));
}

#[test]
fn the_section_of_a_watch_counts_in_words() {
    let watch =
        json!({ "among": "machine", "costs": 1, "others": 1, "changes": [{ "costs": [{ "cost": "a" }], "runs": 2 }] });
    let page = page(&[], vec![document_section(&watch, "watch", 1)]);
    assert!(page.contains("1 cost beside 1 earlier run of this machine."), "{page}");
    assert!(page.contains("1 cost changed; 2 runs show it"), "{page}");
}

/// Documents of every kind that a page draws, with hostile texts and numbers in all of their places.
fn hostile_documents() -> Vec<Value> {
    let big = "x".repeat(1 << 20);
    let rows: Vec<Value> =
        (0..20_000).map(|row| json!({ "what": HOSTILE, "count": row, "ns": -1e308, (HOSTILE): HOSTILE })).collect();
    let deep = (0..100).fold(json!(HOSTILE), |inner, _| json!({ (HOSTILE): [inner], "b": 1 }));
    let any = json!({ "name": HOSTILE, "node": HOSTILE, "value": 1e308, "share": -5, "ratio": { "value": 1e300, "low": -1e308, "high": null } });
    vec![
        json!({ "seen": { "what": big, "processes": rows, "together": { "waits": rows } }, "rows": rows, "explained": any, "findings": rows }),
        json!({ "bills": [HOSTILE, big], "figures": rows, "rows": [{ "what": HOSTILE, "count": ["a", null], "cpu_ns": 7 }] }),
        json!({ "cpus": [any, { "cpu": 1e300, "histogram": [[0, -1], ["a"], [1e300, 1e300]], "causes": rows }], "together": 1, "machine": HOSTILE }),
        json!({ "victims": 1, "cells": [{ "victim": HOSTILE, "beside": [{ "kind": big, "place": HOSTILE, "dose": 1.0 }], "elapsed": any }] }),
        json!({ "plan": HOSTILE, "configurations": [{ "configuration": { "users": -1, "memory": 1e300 }, "all": any }], "cliffs": rows }),
        json!({ "changes": [{ "costs": rows, "also": rows, "started": HOSTILE }], "among": HOSTILE, "series": [{ "figures": rows, "changes": [1e300] }] }),
        json!({ "slow": [any, { "node": big, "families": rows }], "classes": [{ "nodes": ["a", HOSTILE], "families": rows, "ratios": [[null], "x"] }] }),
        json!({ "windows": rows, "distances": [1, -1, 1e300], "quantities": [4096, "a"], "path": HOSTILE, "notes": [big] }),
        json!({ "table": rows, "label": big, "deep": deep }),
        json!([HOSTILE, 1, null]),
        json!(HOSTILE),
    ]
}

#[test]
fn hostile_documents_are_text_and_bounded() {
    let mut sections = Vec::new();
    for (place, document) in hostile_documents().iter().enumerate() {
        sections.push(document_section(document, HOSTILE, place));
        sections.push(document_section(&AnonymousDocument::of(document), HOSTILE, 100 + place));
    }
    let page = page(&[], sections);
    harmless(&page);
    assert!(page.len() < 12 << 20, "{} bytes", page.len());
}

#[test]
fn a_fleet_of_a_thousand_nodes_is_a_page_of_a_few_megabytes() {
    let names: Vec<String> = (0..1000).map(|node| format!("node-{node:04}")).collect();
    let families: Vec<Value> = (0..20).map(|family| json!({ "name": format!("family {family}") })).collect();
    let ratios: Vec<Vec<f64>> = (0..1000)
        .map(|node| (0..20).map(|family| 1.0 + f64::from((node * 7 + family) % 23) / 100.0).collect())
        .collect();
    let class = json!({ "class": "a", "runs": 1, "nodes": names, "families": families, "ratios": ratios });
    let fleet = json!({ "false_share": 0.05, "slow": [], "classes": [class] });
    let page = page(&[], vec![document_section(&fleet, "fleet", 1)]);
    assert!(page.len() < 5 << 20, "{} bytes", page.len());
    assert_eq!(page.matches("node-0").count(), 1000);
    assert!(page.contains("1 000 nodes, 1 run: "), "one run is in the singular");
}

#[test]
fn the_section_of_a_bill_shows_what_each_finding_saves_and_has_no_heading_over_nothing() {
    let findings = json!([
        { "text": "small reads", "saves_ns": [2e6, 7e6], "saves_elapsed_ns": null },
        { "text": "syncs", "saves_ns": null, "saves_elapsed_ns": [3e6, 4e6] },
        { "text": "a habit without a price", "saves_ns": null, "saves_elapsed_ns": null },
    ]);
    let bill = json!({ "seen": {}, "rows": [], "explained": { "ns": 0.0 }, "findings": findings });
    let page = page(&[], vec![document_section(&bill, "bill", 1)]);
    for wanted in
        ["small reads (saves 2.00 ms to 7.00 ms)", "syncs (saves 3.00 ms to 4.00 ms)", "<li>a habit without a price<"]
    {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert!(!page.contains("What it waits for") && !page.contains("What it pays for"));
}

/// Three kinds of costs, the last of which cannot be distinguished from zero.
fn run_of(id: &str, times: f64) -> Run {
    let cost = |operation: &str, [value, low, high]: [f64; 3]| record::Cost {
        headline: record::Estimate::Quiet,
        ..record::Cost::given(operation, record::Point::default(), "call", record::Figures::given(value, low, high))
    };
    let ends = |ns: f64| [ns * times, ns * times * 0.98, ns * times * 1.02];
    let costs = vec![
        cost("file.read", ends(300.0)),
        cost("process.fork", ends(50_000.0)),
        cost("syscall.getppid", [0.1, -1.0, 1.0]),
    ];
    Run { id: id.into(), costs, origin: record::Origin::Measured, ..example() }
}

#[test]
fn every_oddity_is_on_the_page() {
    let references = [Run { origin: record::Origin::Reference, ..run_of("usual", 1.0) }];
    let beside = |run: &Run| {
        let runs = [PageRun { name: "mine".into(), run, packed: String::new() }];
        let page = html_page(&HtmlPage { runs: &runs, references: &references, ..EMPTY });
        let part = |from: &str, to: &str| page.split(from).nth(1)?.split(to).next().map(String::from);
        [part("<dt>Odd", "</dl>"), part("more finding", "</details>")].map(Option::unwrap_or_default)
    };
    let mut run = run_of("mine", 4.0);
    let claims = |text: &str| text.matches(" times the reference (usual)").count();
    let [odd, below] = beside(&run);
    assert!(claims(&odd) == 1 && odd.contains("One more is below.") && odd.contains("<dt>Do<dd>Try "), "{odd}");
    assert_eq!(claims(&below), 1, "{below}");
    run.costs.remove(1);
    let [odd, below] = beside(&run);
    assert!(odd.contains("No setting of this machine explains it.<dt>Do<dd>See what the cost consists of"), "{odd}");
    assert_eq!(claims(&odd) + claims(&below), 1, "{below}");
}

#[test]
fn the_ladder_counts_the_costs_that_are_on_it_and_is_linked_if_it_is_there() {
    let mut run = run_of("mine", 1.0);
    let some = page(&[("mine", &run)], Vec::new());
    assert!(some.contains("All 2 costs on this scale") && some.contains("Not on the scale: 1 cost that"), "{some}");
    run.costs.drain(..2);
    let none = page(&[("mine", &run)], vec![document_section(&json!([1]), "other", 1)]);
    assert!(some.contains("href=\"#ladder\"") && !none.contains("#ladder") && none.contains("href=\"#costs\""));
}

#[test]
fn a_page_shows_what_was_found_and_how_sure_it_is() {
    let run = example();
    let page = page(&[("this machine", &run)], Vec::new());
    for wanted in [
        "<h2 id=\"verdict\">Verdict</h2>", "<dt>Normal", "<dt>Odd", "<dt>Do", "How sure", "id=\"ladder\"",
        "id=\"costs\"",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    for cost in &run.costs {
        assert!(page.contains(&format!("<tbody id=\"{}\"", cost.typed())), "{}", cost.typed());
    }
}
