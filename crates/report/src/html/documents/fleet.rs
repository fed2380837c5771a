//! A fleet: its slow nodes with reasons, a heat map for each class, its classes.

use std::collections::BTreeSet;

use record::units::counted;
use serde_json::Value;

use super::super::form::{Block, BlockTable, Section};
use super::json::{MOST, added, items, number, share, text, word};
use crate::chart::Heat;
use crate::fleet_report::nodes_by_families;

/// Nodes of a map. A fleet of thousands is a page of a few megabytes.
const NODES: usize = 2000;
const FAMILIES: usize = 60;

pub(super) fn fleet(document: &Value, id: String) -> Section {
    let classes = items(document, "classes");
    let nodes: usize = classes.iter().map(|class| items(class, "nodes").len()).sum();
    let slow = items(document, "slow");
    let head = format!(
        "{} in {}: {} slow. At most {} of the nodes called slow are expected to be false.",
        counted(nodes as u64, "node"),
        counted(classes.len() as u64, "class"),
        counted(slow.len() as u64, "node"),
        share(number(document, "false_share"))
    );
    let mut section = Section::new(id, "Fleet").with(Block::Text(head)).with(Block::Table(slow_nodes(slow)));
    section = section.with(Block::Table(doubted(document))).with(Block::List(populations(document)));
    let named: BTreeSet<&str> = slow.iter().chain(items(document, "doubted")).map(|node| text(node, "node")).collect();
    for class in classes.iter().take(MOST) {
        section = section
            .with(Block::Heading(format!("Class {}", text(class, "class"))))
            .with(Block::Text(class_text(class)))
            .with(Block::Table(differing(class)))
            .with(Block::Heat(heat(class, &named)));
    }
    section
}

fn slow_nodes(slow: &[Value]) -> BlockTable {
    let rows = slow.iter().take(MOST).map(|node| {
        let families = items(node, "families");
        let by: Vec<String> =
            families.iter().take(4).map(|family| family.get("ratio").map(added).unwrap_or_default()).collect();
        let names: Vec<&str> = families.iter().take(4).map(|family| text(family, "family")).collect();
        let cause = |cause: &Value| format!("{} ({})", word(cause, "kind").replace('_', " "), text(cause, "because"));
        let causes: Vec<String> = items(node, "causes").iter().take(6).map(cause).collect();
        let [name, class] = ["node", "class"].map(|key| text(node, key).to_string());
        vec![name, class, by.join("; "), names.join("; "), causes.join("; ")]
    });
    BlockTable::new("<<<<<", &["slow node", "class", "slower than its class by", "in", "likely causes"], rows)
}

fn doubted(document: &Value) -> BlockTable {
    let rows = items(document, "doubted").iter().take(MOST).map(|node| {
        let ratio = node.get("ratio").map(added).unwrap_or_default();
        let [name, family, doubt] = ["node", "family", "doubt"].map(|key| text(node, key).to_string());
        vec![name, ratio, family, doubt]
    });
    BlockTable::new("<<<<", &["not accused: figures in doubt", "slower by", "in", "doubt"], rows)
}

fn populations(document: &Value) -> Vec<String> {
    let sentence = |population: &Value| {
        let slower = items(population, "slower").len();
        format!(
            "Class {}, {}: two populations; {slower} nodes are slower by {} than {} others, so that nobody is called slow in it.",
            text(population, "class"),
            text(population, "family"),
            share(number(population, "ratio").map(|ratio| ratio - 1.0)),
            number(population, "faster").unwrap_or(0.0)
        )
    };
    items(document, "populations").iter().take(MOST).map(sentence).collect()
}

fn class_text(class: &Value) -> String {
    let part =
        |part: &Value| (!text(part, "is").is_empty()).then(|| format!("{} {}", text(part, "part"), text(part, "is")));
    let parts: Vec<String> =
        items(class, "parts").iter().filter_map(part).map(|part| part.chars().take(100).collect()).collect();
    format!(
        "{}, {}: {}",
        counted(items(class, "nodes").len() as u64, "node"),
        counted(number(class, "runs").unwrap_or(0.0) as u64, "run"),
        parts.join(", ")
    )
}

fn differing(class: &Value) -> BlockTable {
    let rows = items(class, "differing").iter().take(100).map(|difference| {
        let [node, part] = ["node", "part"].map(|key| text(difference, key).to_string());
        vec![node, part, text(difference, "is").chars().take(100).collect()]
    });
    BlockTable::new("<<<", &["node that differs", "in", "is"], rows)
}

/// Every node by every family: the named ones first, then the slowest.
fn heat(class: &Value, named: &BTreeSet<&str>) -> Heat {
    let names = super::json::all_texts(class, "nodes", NODES);
    let ratios = items(class, "ratios");
    let ratio = |node: usize, family: usize| ratios.get(node)?.get(family)?.as_f64().filter(|ratio| ratio.is_finite());
    let families: Vec<String> =
        items(class, "families").iter().map(|family| text(family, "name").to_string()).take(FAMILIES).collect();
    nodes_by_families(&names, families, named, ratio)
}
