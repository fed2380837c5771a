//! The levels of a cost in words.

use analysis::levels::{CostLevels, interval};
use record::units::percent;
use record::{Cost, Level, typed_name};

use crate::grid::{Grid, NOTHING};
use crate::interval::{half_width, time, value_or_bound};
use crate::text::Style;

/// One sentence on a cost that has levels.
pub(crate) fn sentence(cost: &Cost) -> Option<String> {
    let mean = Level::mean(&cost.levels)?;
    let levels: Vec<String> = cost.levels.iter().map(|level| format!("{} ({})", level.ns, share(level))).collect();
    Some(format!(
        "changes between {}, whatever the neighbours do: the figure is {}, a program pays {mean} on average; why: howslow explain RUN {}",
        levels.join(" and "),
        cost.quoted(),
        cost.typed()
    ))
}

/// `54 % of the time`.
fn share(level: &Level) -> String {
    format!("{} of the time", percent(level.share))
}

/// The levels of costs as tables, with what is known of their cause.
pub fn levels(costs: &[CostLevels<'_>], style: Style) -> String {
    let mut page = String::new();
    for of in costs {
        let mut grid = Grid::new("<>>>>", NOTHING);
        grid.heading([&format!("levels of {}", typed_name(&of.cost)), "cost", "+-", "share", "from - to"]);
        for (level, number) in of.levels.iter().zip(1..) {
            let cost = interval(level);
            let ends = format!("{} - {}", percent(level.share_interval.low), percent(level.share_interval.high));
            let name = format!("  level {number}");
            grid.row([name, value_or_bound(&cost), half_width(&cost), percent(level.share), ends]);
        }
        grid.row(["  mean by shares", &time(of.mean_ns)]);
        page += &format!("\n{}", grid.render(style));
    }
    let why = costs.first().map_or(&[][..], |of| of.why);
    page + &style.asides("  ", why)
}
