//! Nodes by families, shaded by how much slower than the class they are.

use std::collections::BTreeSet;

use analysis::fleet::{ClassFound, Found};

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
    let shown = found.classes.iter().filter(|class| view.has(&class.class.name) && !class.families.is_empty());
    shown.map(|class| (format!("fleet-{}", class.class.name), heat(found, class, view.most(FEW)).svg())).collect()
}

fn heat(found: &Found, class: &ClassFound, most: usize) -> Heat {
    let of_class = |of: &str| of == class.class.name;
    let named: BTreeSet<&str> = found
        .slow
        .iter()
        .filter(|node| of_class(&node.class))
        .map(|node| node.node.as_str())
        .chain(found.doubted.iter().filter(|node| of_class(&node.class)).map(|node| node.node.as_str()))
        .collect();
    let worst = |node: usize| class.ratios[node].iter().flatten().copied().fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..class.nodes.len()).collect();
    order.sort_by(|one, other| {
        let key = |node: &usize| named.contains(class.nodes[*node].as_str());
        key(other).cmp(&key(one)).then(worst(*other).total_cmp(&worst(*one)))
    });
    let left_out = order.len().saturating_sub(most);
    order.truncate(most);
    // In whole points: less can seldom be distinguished, and there are many families.
    let added = |ratio: &Option<f64>| ratio.map(|ratio| ((ratio - 1.0) * 100.0).round() + 0.0);
    let rest = if left_out > 0 { format!(", without {left_out} nodes nearer to the median") } else { String::new() };
    Heat {
        title: format!("class {}: per cent slower than the median of the class{rest}", class.class.name),
        rows: order.iter().map(|node| shown(&class.nodes[*node])).collect(),
        columns: class.families.iter().map(|family| family.family.clone()).collect(),
        cells: order.iter().map(|node| class.ratios[*node].iter().map(added).collect()).collect(),
        absent: "not measured",
        unit: Unit::Count,
    }
}
