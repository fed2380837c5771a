//! How the scatter of each family, and with `all` of each cost, splits.

use analysis::fleet::{ClassFound, Scatter};
use record::units::percent;

use super::view::{FleetView, shown};
use crate::grid::{Grid, RowKind};
use crate::text::Style;

pub(super) fn spreads(class: &ClassFound, view: &FleetView<'_>, style: Style) -> String {
    if class.families.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new("<>>>>", [vec![4], vec![1]]);
    let title = format!("class {}: standard deviations", class.class.name);
    grid.heading([title.as_str(), "within runs", "between runs", "between nodes", "nodes"]);
    for family in &class.families {
        let costs = if family.costs == 1 { String::new() } else { format!(", {} costs", family.costs) };
        grid.row(row(&format!("{}{costs}", family.family), &family.spread));
    }
    if view.all {
        for cost in &class.costs {
            grid.add(RowKind::Aside, row(&cost.name, &cost.spread));
        }
    }
    format!("\n{}", grid.render(style))
}

fn row(name: &str, spread: &Scatter) -> Vec<String> {
    // A negative variance is nothing visible.
    let deviation = |variance: f64| if variance > 0.0 { percent(variance.sqrt()) } else { "0 %".into() };
    let known = |variance: Option<f64>| variance.map_or("-".into(), deviation);
    vec![
        format!("  {}", shown(name)),
        known(spread.within_run),
        known(spread.between_run),
        deviation(spread.between_node),
        spread.nodes.to_string(),
    ]
}
