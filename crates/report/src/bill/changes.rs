//! What changed between two bills for a unit of work: the page, and Markdown for a pull request.

use analysis::bill::{BilledFigure, ChangeVerdict, ChangedFigure, ChangedRow};
use record::Nanoseconds;
use record::units::{counted, grouped, percent};

use serde::Serialize;

use crate::compare::markdown::{code, escaped};
use crate::grid::{Grid, RowKind};
use crate::text::{Style, in_table, times};

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
        let open = [ChangeVerdict::Single, ChangeVerdict::Inconclusive];
        let which = |is: &dyn Fn(&ChangedFigure) -> bool| {
            let found = figures.iter().filter(|changed| self.figures.contains(&changed.figure) && is(changed));
            found.map(|changed| changed.figure).collect()
        };
        GatedFigures {
            failed: which(&|changed| changed.grew_by(self.at_least)),
            unjudged: which(&|changed| open.contains(&changed.verdict)),
            at_least: self.at_least,
        }
    }
}

/// What a gate found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatedFigures {
    /// The figures that certainly grew by more than is allowed.
    pub failed: Vec<BilledFigure>,
    /// The figures without a verdict.
    pub unjudged: Vec<BilledFigure>,
    #[serde(skip)]
    at_least: f64,
}

/// What changed between two bills.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    text += &(style.paragraph("", &basis(view)) + "\n");
    if let Some(gate) = gate_sentence(view) {
        text += &(style.paragraph("gate     ", &gate) + "\n");
    }
    let mut grid = Grid::new("<>>>><", [vec![4]]);
    let titles = [view.unit_title(), "before".into(), "after".into(), "ratio".into(), "95 %".into(), String::new()];
    grid.add(RowKind::Heading, titles.into());
    for changed in view.figures {
        let mut cells = vec![format!("  {}", changed.figure.words())];
        cells.extend(figure_cells(changed));
        grid.add(kind(changed.verdict), cells);
    }
    text += &grid.render(style);
    if view.rows.is_empty() {
        return text;
    }
    let mut grid = Grid::new("<>>>>>", [vec![3], vec![5]]);
    let titles = ["asked of the kernel", "before", "after", "CPU time before", "change", "waiting"];
    grid.add(RowKind::Heading, titles.map(String::from).into());
    for row in view.rows.iter().take(MOST_ROWS) {
        let mut cells = vec![format!("  {}", in_table(&row.what))];
        cells.extend(row_cells(row));
        grid.add(row_kind(row), cells);
    }
    if view.rows.len() > MOST_ROWS {
        let mut cells = vec![format!("  {} others", view.rows.len() - MOST_ROWS)];
        cells.resize(titles.len(), String::new());
        grid.add(RowKind::Aside, cells);
    }
    text + "\n" + &grid.render(style)
}

/// Markdown for a comment: the verdict, the figures, the lines folded.
pub fn bill_changes_markdown(view: &BillChanges) -> String {
    let grown = view
        .figures
        .iter()
        .filter(|changed| changed.verdict == ChangeVerdict::More)
        .map(|changed| changed.figure.words());
    let grown: Vec<&str> = grown.collect();
    let title = match (gate_sentence(view), grown.as_slice()) {
        (Some(gate), _) => gate,
        (None, []) => "nothing grew".into(),
        (None, some) => format!("more {}", some.join(", ")),
    };
    let [before, after] = view.bills.map(code);
    let mut text =
        format!("### howslow: {}\n\nFrom {before} to {after}. {}\n\n", escaped(&title), escaped(&basis(view)));
    text += &format!(
        "| {} | before | after | ratio | 95 % | |\n| --- | ---: | ---: | ---: | --- | --- |\n",
        view.unit_title()
    );
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
        format!("{} {} before, {} after; ", amount(before), in_table(view.unit), amount(after))
    };
    let runs = match view.repetitions {
        [1, 1] => "one run each, so counts have a verdict and times have none: --repeat 9 -o FILE.json tells".into(),
        [one, other] if one == other => format!("{one} runs each"),
        [one, other] => format!("{one} and {other} runs"),
    };
    format!("{units}{runs}; counting taken out")
}

/// How the gate ended; `None` without one.
fn gate_sentence(view: &BillChanges) -> Option<String> {
    let gate = view.gate.as_ref()?;
    let list = |of: &[BilledFigure], sentence: &dyn Fn(&ChangedFigure) -> String| {
        let figures = view.figures.iter().filter(|changed| of.contains(&changed.figure));
        figures.map(sentence).collect::<Vec<_>>().join(", ")
    };
    let grown = |changed: &ChangedFigure| match changed.times() {
        Some(times) => format!("{} {times:.3} times", changed.figure.words()),
        None => changed.figure.words().into(),
    };
    let name = |changed: &ChangedFigure| changed.figure.words().to_string();
    Some(match (gate.failed.is_empty(), gate.unjudged.is_empty()) {
        (false, _) => format!("failed: {}", list(&gate.failed, &grown)),
        (true, false) => {
            format!("incomplete: {} cannot be told apart yet; repeat more often", list(&gate.unjudged, &name))
        }
        (true, true) if gate.at_least > 0.0 => format!("passed: nothing grew by more than {}", percent(gate.at_least)),
        (true, true) => "passed: nothing grew".into(),
    })
}

/// Before, after, ratio, its interval, and the verdict.
fn figure_cells(changed: &ChangedFigure) -> Vec<String> {
    let value = |value: f64| if changed.figure.is_count() { amount(value) } else { Nanoseconds(value).to_string() };
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
    let signed = |ns: f64| if ns > 0.0 { format!("+{}", Nanoseconds(ns)) } else { Nanoseconds(ns).to_string() };
    let [before, after] = row.count.map(amount);
    let waited = row.waited_ns();
    vec![
        before,
        after,
        row.cpu_ns[0].map_or_else(|| "-".into(), |ns| Nanoseconds(ns).to_string()),
        row.cpu_ns().map_or_else(|| "-".into(), signed),
        if waited == 0.0 { String::new() } else { signed(waited) },
    ]
}

/// A number of events, which is whole for whole commands.
fn amount(value: f64) -> String {
    if value.fract() == 0.0 { times(value as u64) } else { grouped(value) }
}

fn kind(verdict: ChangeVerdict) -> RowKind {
    match verdict {
        ChangeVerdict::More => RowKind::Slower,
        ChangeVerdict::Less => RowKind::Faster,
        _ => RowKind::Row,
    }
}

fn row_kind(row: &ChangedRow) -> RowKind {
    let change = row.cpu_ns().unwrap_or(0.0) + row.waited_ns();
    match change {
        _ if change > 0.0 => RowKind::Slower,
        _ if change < 0.0 => RowKind::Faster,
        _ => RowKind::Row,
    }
}
