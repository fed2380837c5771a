//! Nodes by families, shaded by how much slower than the class they are.

use std::collections::BTreeSet;

use analysis::fleet::{ClassFound, Found};
use record::units::counted;

use super::view::{FleetView, shown};
use crate::chart::{Heat, Unit};

/// The map as text: the slow nodes, those in doubt, and the slowest of the others; with `all` every node.
pub(super) fn heat_map(found: &Found, class: &ClassFound, view: &FleetView<'_>, width: usize) -> String {
    const FEW: usize = 12;
    if class.families.is_empty() {
        return String::new();
    }
    format!("\n{}", heat(found, class, view.most(FEW)).text(width))
}

/// The pictures of the page: the map of every class that has two nodes, with all nodes that are named and the slowest others.
pub fn fleet_pictures(found: &Found, view: &FleetView<'_>) -> Vec<(String, String)> {
    const FEW: usize = 60;
    let shown = view.classes(found).filter(|class| !class.families.is_empty());
    shown.map(|class| (format!("fleet-{}", class.class.name), heat(found, class, view.most(FEW)).svg())).collect()
}

fn heat(found: &Found, class: &ClassFound, most: usize) -> Heat {
    let slow = found.slow.iter().map(|node| (&node.class, node.node.as_str()));
    let all = slow.chain(found.doubted.iter().map(|node| (&node.class, node.node.as_str())));
    let named: BTreeSet<&str> = all.filter(|(of, _)| **of == class.class.name).map(|(_, node)| node).collect();
    let families = class.families.iter().map(|family| family.family.clone()).collect();
    let mut heat = nodes_by_families(&class.nodes, families, &named, |node, family| *class.ratios[node].get(family)?);
    let left_out = heat.rows.len().saturating_sub(most);
    let rest = match left_out {
        0 => String::new(),
        some => format!(", without {} nearer to the median", counted(some as u64, "node")),
    };
    heat.title = format!("class {}: per cent slower than the median of the class{rest}", class.class.name);
    heat.rows.truncate(most);
    heat.cells.truncate(most);
    heat.rows.iter_mut().for_each(|name| *name = shown(name));
    heat
}

/// How much slower than the class each node is in each family, from its ratios to the median: the named nodes first, then the slowest.
pub(crate) fn nodes_by_families(
    nodes: &[String],
    families: Vec<String>,
    named: &BTreeSet<&str>,
    ratio: impl Fn(usize, usize) -> Option<f64>,
) -> Heat {
    let worst = |node: usize| (0..families.len()).filter_map(|family| ratio(node, family)).fold(0.0, f64::max);
    let mut order: Vec<(bool, f64, usize)> =
        (0..nodes.len()).map(|node| (named.contains(nodes[node].as_str()), worst(node), node)).collect();
    order.sort_by(|one, other| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)));
    // In whole points: less can seldom be distinguished, and there are many families.
    let added = |ratio: f64| ((ratio - 1.0) * 100.0).round() + 0.0;
    let cells = |node: usize| (0..families.len()).map(|family| ratio(node, family).map(added)).collect();
    Heat {
        title: "Per cent slower than the median of the class; the slow nodes and those in doubt first".into(),
        rows: order.iter().map(|(.., node)| nodes[*node].clone()).collect(),
        cells: order.iter().map(|(.., node)| cells(*node)).collect(),
        columns: families,
        absent: "not measured",
        unit: Unit::Count,
    }
}
