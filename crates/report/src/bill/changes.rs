//! What changed between two bills for a unit of work: the page, and Markdown for a pull request.

use analysis::bill::{BilledFigure, ChangeVerdict, ChangedFigure, ChangedRow};
use record::Nanoseconds;
use record::units::{counted, percent};
use serde::Serialize;

use crate::compare::markdown::{code, escaped};
use crate::grid::{Grid, RowKind};
use crate::interval::{signed, time};
use crate::text::{Style, events, in_table};

/// Lines beyond these are only counted.
const MOST_ROWS: usize = 20;

/// The figures that may not grow.
#[derive(Clone, Debug, PartialEq)]
pub struct BillGate {
    pub figures: Vec<BilledFigure>,
    /// A growth of no more than this share is allowed.
    pub at_least: f64,
}

impl BillGate {
    /// What it finds.
    pub fn judged(&self, figures: &[ChangedFigure]) -> GatedFigures {
        // Whatever it did, it may have grown by less than what fails.
        let is_within = |changed: &ChangedFigure| {
            self.at_least > 0.0 && changed.ratio.is_some_and(|ratio| ratio.high <= 1.0 + self.at_least)
        };
        let is_open = |changed: &ChangedFigure| {
            matches!(changed.verdict, ChangeVerdict::Single | ChangeVerdict::Inconclusive) && !is_within(changed)
        };
        let which = |is: &dyn Fn(Option<&ChangedFigure>) -> bool| -> Vec<BilledFigure> {
            let wanted = BilledFigure::ALL.into_iter().filter(|figure| self.figures.contains(figure));
            wanted.filter(|figure| is(figures.iter().find(|changed| changed.figure == *figure))).collect()
        };
        GatedFigures {
            failed: which(&|changed| changed.is_some_and(|changed| changed.grew_by(self.at_least))),
            unjudged: which(&|changed| changed.is_none_or(is_open)),
            wanted: which(&|_| true),
            at_least: self.at_least,
        }
    }
}

/// What a gate found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GatedFigures {
    /// The figures that certainly grew, and whose ratio is above what is allowed.
    pub failed: Vec<BilledFigure>,
    /// The figures without a verdict, and those that were not counted in both bills.
    pub unjudged: Vec<BilledFigure>,
    #[serde(skip)]
    wanted: Vec<BilledFigure>,
    #[serde(skip)]
    at_least: f64,
}

/// What changed between two bills.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BillChanges<'a> {
    /// What the bills are of.
    pub bills: [&'a str; 2],
    /// The unit of work: the whole command, or a call.
    pub unit: &'a str,
    /// How many units, before and after, on the mean of the repetitions.
    pub units: [f64; 2],
    /// How often each command was run.
    pub repetitions: [usize; 2],
    /// Times and counts of a unit.
    pub figures: &'a [ChangedFigure],
    /// The lines that changed, the largest change of time first.
    pub rows: &'a [ChangedRow],
    /// What a gate found.
    pub gate: Option<GatedFigures>,
}

/// The page.
pub fn bill_changes(view: &BillChanges, style: Style) -> String {
    let [before, after] = view.bills.map(in_table);
    let mut text = style.bold(&format!("from {before} to {after}")) + "\n";
    text += &style.paragraph("", &basis(view));
    text += &style.paragraphs("gate     ", gate_sentence(view));
    let mut grid = Grid::new("<>>>><", [vec![4]]);
    grid.heading([view.unit_title().as_str(), "before", "after", "ratio", "95 %"]);
    for changed in view.figures {
        let name = format!("  {}", changed.figure.words());
        grid.add(kind(changed.verdict), [name].into_iter().chain(figure_cells(changed)));
    }
    text += &grid.render(style);
    if view.rows.is_empty() {
        return text;
    }
    let mut grid = Grid::new("<>>>>>", [vec![3], vec![5]]);
    grid.heading(["asked of the kernel", "before", "after", "CPU time before", "change", "waiting"]);
    for row in view.rows.iter().take(MOST_ROWS) {
        let name = format!("  {}", in_table(&row.what));
        grid.add(row_kind(row), [name].into_iter().chain(row_cells(row)));
    }
    if view.rows.len() > MOST_ROWS {
        grid.add(RowKind::Aside, [format!("  {}", counted((view.rows.len() - MOST_ROWS) as u64, "other"))]);
    }
    text + "\n" + &grid.render(style)
}

/// Markdown for a comment: the verdict, the figures, the lines folded.
pub fn bill_changes_markdown(view: &BillChanges) -> String {
    let grown = view.figures.iter().filter(|changed| changed.verdict == ChangeVerdict::More);
    let grown: Vec<&str> = grown.map(|changed| changed.figure.words()).collect();
    let title = match (gate_sentence(view), grown.as_slice()) {
        (Some(gate), _) => gate,
        (None, []) => "nothing grew".into(),
        (None, some) => format!("more {}", some.join(", ")),
    };
    let [before, after] = view.bills.map(code);
    let (title, basis, unit) = (escaped(&title), escaped(&basis(view)), view.unit_title());
    let mut text = format!("### howslow: {title}\n\nFrom {before} to {after}. {basis}\n\n");
    text += &format!("| {unit} | before | after | ratio | 95 % | |\n| --- | ---: | ---: | ---: | --- | --- |\n");
    for changed in view.figures {
        let mut cells = figure_cells(changed);
        let is_change = matches!(changed.verdict, ChangeVerdict::More | ChangeVerdict::Less);
        let verdict = cells.pop().unwrap_or_default();
        cells.push(if is_change { format!("**{verdict}**") } else { verdict });
        text += &format!("| {} | {} |\n", changed.figure.words(), cells.join(" | "));
    }
    if !view.rows.is_empty() {
        text += &format!("\n<details><summary>{} changed</summary>\n\n", counted(view.rows.len() as u64, "call"));
        text += "| asked of the kernel | before | after | CPU time before | change | waiting |\n";
        text += "| --- | ---: | ---: | ---: | ---: | ---: |\n";
        for row in view.rows {
            text += &format!("| {} | {} |\n", code(&row.what), row_cells(row).join(" | "));
        }
        text += "\n</details>\n";
    }
    text
}

impl BillChanges<'_> {
    fn unit_title(&self) -> String {
        format!("for each {}", in_table(self.unit))
    }
}

/// What the figures are of.
fn basis(view: &BillChanges) -> String {
    let [before, after] = view.units;
    let units = if before == 1.0 && after == 1.0 {
        String::new()
    } else {
        format!("{} {} before, {} after; ", events(before), in_table(view.unit), events(after))
    };
    let runs = match view.repetitions {
        [1, 1] if view.figures.iter().any(|figure| !figure.figure.is_count()) => {
            "one run each, so counts have a verdict and times have none: --repeat 9 -o FILE.json gives them one".into()
        }
        [1, 1] => "one run each".into(),
        [one, other] if one == other => format!("{one} runs each"),
        [one, other] => format!("{one} and {other} runs"),
    };
    format!("{units}{runs}; counting taken out")
}

/// How the gate ended; `None` without one.
fn gate_sentence(view: &BillChanges) -> Option<String> {
    let gate = view.gate.as_ref()?;
    let changed = |figure: &BilledFigure| view.figures.iter().find(|changed| changed.figure == *figure);
    let names = |of: &[BilledFigure]| of.iter().map(|figure| figure.words()).collect::<Vec<_>>().join(", ");
    let grown = |figure: &BilledFigure| match changed(figure).and_then(ChangedFigure::times) {
        Some(times) => format!("{} {times:.3} times", figure.words()),
        None => figure.words().into(),
    };
    Some(match (gate.failed.is_empty(), gate.unjudged.is_empty()) {
        (false, _) => format!("failed: {}", gate.failed.iter().map(grown).collect::<Vec<_>>().join(", ")),
        (true, false) => {
            let (open, unknown): (Vec<_>, Vec<_>) =
                gate.unjudged.iter().copied().partition(|figure| changed(figure).is_some());
            let why = [(open, "cannot be told apart yet; repeat more often"), (unknown, "not counted in both bills")];
            let why = why.iter().filter(|(figures, _)| !figures.is_empty());
            let why: Vec<String> = why.map(|(figures, why)| format!("{} {why}", names(figures))).collect();
            format!("incomplete: {}", why.join("; "))
        }
        (true, true) if gate.at_least > 0.0 => {
            format!("passed: none of {} grew by more than {}", names(&gate.wanted), percent(gate.at_least))
        }
        (true, true) => format!("passed: none of {} grew", names(&gate.wanted)),
    })
}

/// Before, after, ratio, its interval, and the verdict.
fn figure_cells(changed: &ChangedFigure) -> Vec<String> {
    let value = |value: f64| if changed.figure.is_count() { events(value) } else { Nanoseconds(value).to_string() };
    // An interval of more than a factor of a hundred means nothing.
    let narrow = changed.ratio.filter(|ratio| ratio.high < 100.0 * ratio.low);
    let ends = narrow.map(|ratio| format!("{:.3} to {:.3}", ratio.low, ratio.high));
    vec![
        value(changed.before),
        value(changed.after),
        changed.times().map_or_else(|| "-".into(), |times| format!("{times:.3}")),
        ends.unwrap_or_default(),
        changed.verdict.word().into(),
    ]
}

/// Counts before and after, the processor time before, its change, and the change of waiting.
fn row_cells(row: &ChangedRow) -> Vec<String> {
    let [before, after] = row.count.map(events);
    let waited = row.waited_ns();
    vec![
        before,
        after,
        time(row.cpu_ns[0]),
        row.cpu_ns().map_or_else(|| "-".into(), signed),
        if waited == 0.0 { String::new() } else { signed(waited) },
    ]
}

fn kind(verdict: ChangeVerdict) -> RowKind {
    match verdict {
        ChangeVerdict::More => RowKind::Slower,
        ChangeVerdict::Less => RowKind::Faster,
        _ => RowKind::Row,
    }
}

fn row_kind(row: &ChangedRow) -> RowKind {
    match row.cpu_ns().unwrap_or(0.0) + row.waited_ns() {
        change if change > 0.0 => RowKind::Slower,
        change if change < 0.0 => RowKind::Faster,
        _ => RowKind::Row,
    }
}

#[cfg(test)]
mod tests {
    use analysis::statistics::Interval;

    use super::*;

    #[test]
    fn a_gate_passes_by_what_was_counted_alone() {
        let same = |figure| {
            let verdict = ChangeVerdict::Same;
            ChangedFigure { figure, before: 0.0, after: 0.0, ratio: None, verdict }
        };
        let gate = BillGate { figures: vec![BilledFigure::Calls, BilledFigure::Faults], at_least: 0.0 };
        let sentence = |figures: &[ChangedFigure]| {
            let gate = Some(gate.judged(figures));
            let (bills, units, repetitions) = (["a", "b"], [1.0; 2], [1; 2]);
            gate_sentence(&BillChanges { bills, unit: "command", units, repetitions, figures, rows: &[], gate })
        };
        let both = [same(BilledFigure::Calls), same(BilledFigure::Faults)];
        assert_eq!(sentence(&both).as_deref(), Some("passed: none of system calls, page faults grew"));
        let open = sentence(&both[1..]).expect("a gate");
        assert!(open.starts_with("incomplete: system calls not counted in both bills"), "{open}");
        assert_eq!(gate.judged(&both[1..]).unjudged, [BilledFigure::Calls]);
    }

    #[test]
    fn what_certainly_grew_by_less_than_fails_passes() {
        let ratio = Some(Interval { value: 1.02, low: 0.93, high: 1.08 });
        let verdict = ChangeVerdict::Inconclusive;
        let varies = ChangedFigure { figure: BilledFigure::Elapsed, before: 100.0, after: 102.0, ratio, verdict };
        let unjudged = |at_least: f64| {
            let judged =
                BillGate { figures: vec![BilledFigure::Elapsed], at_least }.judged(std::slice::from_ref(&varies));
            assert!(judged.failed.is_empty(), "{at_least}");
            judged.unjudged.len()
        };
        assert_eq!([0.1, 0.05, 0.0].map(unjudged), [0, 1, 1]);
    }
}
