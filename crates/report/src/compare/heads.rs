//! Which runs are compared. What is the same in all of them is shown once.

use analysis::compare::Comparison;
use record::Origin;
use record::units::percent;

use super::view::ComparisonView;
use crate::head::{conditions, head_line, machine_parts};
use crate::text::Style;

pub(super) fn heads(comparison: &Comparison<'_>, view: &ComparisonView<'_>, style: Style) -> String {
    let width = (0..comparison.runs.len()).map(|place| view.label(place).chars().count()).max().unwrap_or(0);
    let together = one_machine(comparison);
    let mut text = together.as_ref().map_or_else(String::new, |machine| style.paragraph("", machine));
    for (place, run) in comparison.runs.iter().enumerate() {
        let label = view.label(place);
        let gap = " ".repeat(width - label.chars().count() + 3);
        if together.is_none() {
            text += &format!("{}{gap}{}\n", style.bold(&label), head_line(run));
        }
        let when = match run.origin {
            Origin::Published => format!("published, {}", run.started),
            Origin::Measured | Origin::Reference | Origin::Imported => run.started.clone(),
        };
        let quiet = run.noise.undisturbed().filter(|_| together.is_some());
        let quiet = quiet.map_or_else(String::new, |share| format!("undisturbed {} of the time", percent(share)));
        let more = [when, quiet, conditions(run)].into_iter().filter(|part| !part.is_empty());
        let more = more.collect::<Vec<_>>().join("   ");
        let first = if together.is_some() { format!("{label}{gap}") } else { " ".repeat(width + 3) };
        text += &style.aside(&first, &more);
    }
    text
}

/// The machine of all runs, with the version that measured them; `None` if they are not of one.
fn one_machine(comparison: &Comparison<'_>) -> Option<String> {
    let machines =
        comparison.runs.iter().map(|run| (!run.is_published()).then(|| (machine_parts(&run.machine), &run.howslow)));
    let mut machines = machines.collect::<Option<Vec<_>>>()?.into_iter();
    let first = machines.next()?;
    machines.all(|other| other == first).then(|| format!("howslow {}   {}", first.1, first.0.join("   ")))
}
