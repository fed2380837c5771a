//! What a billed program would take on another machine: the page.

use analysis::bill::{BillElsewhere, ElsewhereRow};
use analysis::statistics::Interval;
use record::units::{counted, range};
use record::{Nanoseconds, Run};

use crate::grid::{Grid, RowKind};
use crate::head::head_line;
use crate::interval::time;
use crate::text::{Style, in_table, times};

/// Lines beyond these are added up.
const MOST_ROWS: usize = 20;

/// Lines without a price that are named; others are counted.
const MOST_NAMED: usize = 8;

/// A bill at the prices of another machine.
pub struct BillElsewhereView<'a> {
    /// What the bill is of.
    pub name: &'a str,
    /// The run of the other machine.
    pub run: &'a Run,
    /// What it would take.
    pub elsewhere: &'a BillElsewhere,
    /// What measures the prices that it lacks.
    pub remedy: Option<String>,
}

/// The page.
pub fn bill_elsewhere(view: &BillElsewhereView, style: Style) -> String {
    let BillElsewhere { rows, rest, user, here_ns, there, lacking } = view.elsewhere;
    let mut text = style.bold(&format!("{} on run {}", in_table(view.name), view.run.id)) + "\n";
    text += &format!("{}\n", head_line(view.run));
    let at_least = if view.elsewhere.lacks() { "at least " } else { "" };
    let range = match there.high.is_finite() {
        true => format!(" ({})", range(Nanoseconds(there.low), Nanoseconds(there.high))),
        false => String::new(),
    };
    let here = here_ns.map_or_else(String::new, |here| {
        let ratio = there.value / here.max(1.0);
        format!(", {at_least}{ratio:.2} times the {} here", Nanoseconds(here))
    });
    let sum = format!("{at_least}{}{range} of processor time{here}", Nanoseconds(there.value));
    text += &style.paragraph("there    ", &sum);
    let mut grid = Grid::new("<>>>>>", [vec![1], vec![5]]);
    grid.heading(["", "count", "here", "ratio of prices", "there", "interval"]);
    rows.iter().take(MOST_ROWS).for_each(|row| grid.row(cells(row)));
    let others = rows.get(MOST_ROWS..).unwrap_or_default();
    if !others.is_empty() {
        let sum = |ns: fn(&ElsewhereRow) -> Option<f64>| time(others.iter().filter_map(ns).reduce(|sum, ns| sum + ns));
        let some =
            |lacks: fn(&ElsewhereRow) -> bool, mark: &'static str| if others.iter().any(lacks) { mark } else { "" };
        let here = some(|row| !row.is_measured && row.here_ns.is_some(), "~").to_owned() + &sum(|row| row.here_ns);
        let there = some(|row| row.there.is_none(), "at least ").to_owned() + &sum(|row| Some(row.there?.value));
        grid.add(RowKind::Aside, [&format!("  {}", counted(others.len() as u64, "other")), "", &here, "", &there]);
    }
    let mut part = |name: &str, here: f64, there: Option<Interval>| {
        let (what, here_ns) = (name.into(), Some(here));
        grid.add(
            RowKind::Aside,
            cells(&ElsewhereRow { what, count: 0, here_ns, is_measured: true, ratio: None, there }),
        );
    };
    rest.iter().for_each(|(here, there)| part("rest of the kernel", *here, Some(*there)));
    user.iter().for_each(|(here, there)| part("user mode", *here, *there));
    text += &format!("\n{}", grid.render(style));
    let mut notes = Vec::new();
    if !lacking.is_empty() {
        let names: Vec<String> = lacking.iter().take(MOST_NAMED).map(|name| in_table(name)).collect();
        let more = match lacking.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(", … and {more} more"),
        };
        notes.push(format!("no price there: {}{more}", names.join(", ")));
    }
    if rows.iter().any(|row| !row.is_measured && row.here_ns.is_some()) {
        notes.push("lines with ~ were not measured in the program, but priced".into());
    }
    notes.extend(user.map(|(_, there)| match there {
        Some(_) => {
            "user mode by the costs of instructions, branches and memory of both runs, or by their clocks".into()
        }
        None => "user mode there is not known: the run that priced the bill is not kept here".into(),
    }));
    notes.extend(view.remedy.clone());
    format!("{text}\n{}", style.asides("  ", notes))
}

fn cells(row: &ElsewhereRow) -> Vec<String> {
    let mark = if row.is_measured || row.here_ns.is_none() { "" } else { "~" };
    let ends = |there: Interval| match there.high.is_finite() {
        true => range(Nanoseconds(there.low), Nanoseconds(there.high)),
        false => "not known".into(),
    };
    vec![
        format!("  {}", in_table(&row.what)),
        if row.count > 0 { times(row.count) } else { String::new() },
        format!("{mark}{}", time(row.here_ns)),
        row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        time(row.there.map(|there| there.value)),
        row.there.map_or_else(String::new, ends),
    ]
}
