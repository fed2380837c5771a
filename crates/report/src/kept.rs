//! The figures of a run beside those of all kept runs that agree with it.

use record::units::{counted, relative_width};
use record::{Cost, Run};

use crate::grid::{Grid, NOTHING, RowKind};
use crate::text::{Style, in_table};

/// Every cost of a run compared with the same of all runs together. `runs` is how many have a cost.
pub fn kept(run: &Run, all: &Run, count: usize, runs: &dyn Fn(&str) -> usize, style: Style) -> String {
    let mut grid = Grid::new("<>>>>>", NOTHING);
    let title = format!("all {} of this build, kernel, boot and machine", counted(count as u64, "kept run"));
    let mut heading = None;
    for cost in &run.costs {
        let name = cost.name();
        let Some(pooled) = all.costs.iter().find(|other| other.name() == name) else { continue };
        if heading != Some(cost.heading()) {
            heading = Some(cost.heading());
            grid.heading([cost.heading(), "this run", "+-", "all runs", "+-", "runs"]);
        }
        let mut cells = [figure(cost), figure(pooled)].concat();
        cells.push(runs(&name).to_string());
        grid.add_cost(RowKind::Row, [format!("  {}", in_table(&cost.operation)), cost.at.values()], cells);
    }
    style.title(&title) + &grid.render(style)
}

/// The figure, or its bound, and half its interval.
fn figure(cost: &Cost) -> [String; 2] {
    if cost.holds_zero() {
        return [format!("at most {}", cost.net_ns.high), String::new()];
    }
    [cost.quoted().to_string(), cost.half_width().map_or_else(|| "-".into(), relative_width)]
}
