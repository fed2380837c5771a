//! The table of ratios.

use std::collections::HashMap;

use analysis::by_key;
use analysis::compare::{
    Against, ComparedFigure, Comparison, ComparisonRow, FamilyRatio, Mean, RatioToBase, Verdict, families, overall,
};
use analysis::statistics::Interval;
use record::units::{counted, grouped, significant};
use record::{Cost, CountedIn, Nanoseconds, largest_first};

use super::notes::notes;
use super::view::{ComparisonView, Shown, Sort};
use crate::footnotes::Footnotes;
use crate::grid::{Grid, RowKind};
use crate::text::{Style, in_table};

/// The rows in the chosen order, and families with their means.
pub(super) fn rows(
    comparison: &Comparison<'_>,
    view: &ComparisonView<'_>,
    footnotes: &mut Footnotes,
    style: Style,
) -> String {
    let mut shown: Vec<&ComparisonRow<'_>> =
        comparison.rows.iter().filter(|row| view.shown == Shown::All || row.changed()).collect();
    let table = Table { comparison, view };
    let mut grid = Grid::new(&table.columns(), table.dropped());
    if view.shown == Shown::All || table.clock_moved() {
        table.clocks(&mut grid);
    }
    let families = families(comparison);
    match view.sort {
        Sort::Family => table.by_family(&shown, &families, footnotes, &mut grid),
        Sort::Name => shown.sort_by_key(|row| (&row.base.operation, &row.base.at)),
        Sort::Ratio => largest_first(&mut shown, |one| weight(one)),
    }
    if view.sort != Sort::Family && !shown.is_empty() {
        grid.heading(table.titles(""));
        for row in &shown {
            table.row(row, footnotes, &mut grid);
        }
    }
    if view.sort != Sort::Family && view.shown == Shown::All {
        grid.heading(["families, geometric means"]);
        for family in &families {
            table.mean(&format!("  {}", family.name), &family.means, &mut grid);
        }
    }
    if comparison.rows.len() > 1 && view.shown == Shown::All {
        grid.heading(["all"]);
        table.mean("  geometric mean", &overall(comparison), &mut grid);
    }
    grid.render(style)
}

/// The sort key of a row: its first ratio, or the bound of one. Unknown ratios come last.
fn weight(row: &ComparisonRow<'_>) -> f64 {
    row.others.iter().flatten().find_map(|(_, against)| size(&against.ratio)).unwrap_or(-1.0)
}

struct Table<'t, 'a> {
    comparison: &'t Comparison<'a>,
    view: &'t ComparisonView<'t>,
}

impl Table<'_, '_> {
    /// Two runs have room for both figures. More runs have room for the base's only.
    fn is_pair(&self) -> bool {
        self.comparison.noise.len() == 1
    }

    fn columns(&self) -> String {
        if self.is_pair() { "<>>>><<".into() } else { format!("<>{}<", ">><".repeat(self.comparison.noise.len())) }
    }

    /// Of a pair the second figure gives way, which the ratio implies, then the range. Of more runs all ranges give way.
    fn dropped(&self) -> Vec<Vec<usize>> {
        let ranges = || (0..self.comparison.noise.len()).map(|place| 3 + 3 * place).collect();
        if self.is_pair() { vec![vec![2], vec![4]] } else { vec![ranges()] }
    }

    fn titles(&self, heading: &str) -> Vec<String> {
        let unit = if self.comparison.unit == Some(CountedIn::Cycles) { ", cycles" } else { "" };
        let mut titles = vec![heading.to_string(), format!("{}{unit}", self.view.label(0))];
        if self.is_pair() {
            titles.extend([format!("{}{unit}", self.view.label(1)), "ratio".into(), "low - high".into()]);
        } else {
            let others = (1..=self.comparison.noise.len()).map(|place| self.view.label(place));
            titles.extend(others.flat_map(|label| [label, "low - high".into(), String::new()]));
        }
        titles
    }

    /// True if the clocks differ by more than the reading of a clock does.
    fn clock_moved(&self) -> bool {
        const READING: f64 = 0.01;
        self.comparison.clocks.as_ref().is_some_and(|clocks| clocks.ratios().any(|ratio| (ratio - 1.0).abs() > READING))
    }

    /// The clocks that the figures are quoted at, and their ratio. The effect of a faster clock is here and in no row
    /// below.
    fn clocks(&self, grid: &mut Grid) {
        let Some(clocks) = self.comparison.clocks.as_ref().filter(|_| self.comparison.unit.is_none()) else { return };
        grid.heading(self.titles("core clock"));
        let cycle = |place: usize| Nanoseconds(clocks.cycle_ns[place]).to_string();
        let mut cells = vec!["  one cycle".into(), cycle(0)];
        for (place, ratio) in clocks.ratios().enumerate() {
            cells.extend(self.is_pair().then(|| cycle(place + 1)));
            cells.extend([times(ratio), String::new(), String::new()]);
        }
        grid.row(cells);
    }

    fn by_family(
        &self,
        shown: &[&ComparisonRow<'_>],
        families: &[FamilyRatio<'_>],
        footnotes: &mut Footnotes,
        grid: &mut Grid,
    ) {
        let rows: HashMap<&str, Vec<_>> = by_key(shown.iter().map(|row| (row.family(), *row))).into_iter().collect();
        for family in families {
            let Some(rows) = rows.get(family.name) else { continue };
            grid.heading(self.titles(family.name));
            for row in rows {
                self.row(row, footnotes, grid);
            }
            if family.means.iter().any(|mean| mean.pairs > 1) {
                self.mean("  geometric mean", &family.means, grid);
            }
        }
    }

    fn row(&self, row: &ComparisonRow<'_>, footnotes: &mut Footnotes, grid: &mut Grid) {
        let mut cells = vec![figure(self.comparison, 0, row.base, row.unit, self.comparison.unit)];
        for (other, place) in row.others.iter().zip(1..) {
            match other {
                Some((cost, against)) => {
                    cells.extend(
                        self.is_pair().then(|| figure(self.comparison, place, cost, row.unit, self.comparison.unit)),
                    );
                    cells.extend(against_cells(against));
                }
                None => cells.extend(["-", "", ""].map(String::from)),
            }
        }
        cells.push(notes(row, self.view, self.comparison.runs, footnotes));
        grid.add_cost(kind(row), [format!("  {}", in_table(&row.base.operation)), row.base.at.values()], cells);
    }

    fn mean(&self, name: &str, means: &[Mean], grid: &mut Grid) {
        let mut cells = vec![name.to_string(), String::new()];
        for mean in means {
            let pairs = match mean.left_out {
                0 => counted(mean.pairs as u64, "pair"),
                out => format!("{}, {out} left out", counted(mean.pairs as u64, "pair")),
            };
            cells.extend(self.is_pair().then(String::new));
            cells.push(mean.ratio.map_or_else(|| "-".into(), |ratio| times(ratio.value)));
            cells.push(mean.ratio.map_or_else(String::new, |ratio| ends(&ratio)));
            cells.push(pairs);
        }
        grid.add(RowKind::Aside, cells);
    }
}

/// Ratio, its ends, and the verdict.
fn against_cells(against: &Against) -> [String; 3] {
    let (ratio, interval) = ratio_words(&against.ratio);
    [ratio, interval, against.verdict.word().into()]
}

/// A ratio, and its interval if it has one.
pub(crate) fn ratio_words(ratio: &RatioToBase) -> (String, String) {
    match ratio {
        RatioToBase::Times(ratio) => (times(ratio.value), ends(ratio)),
        RatioToBase::AtMost(bound) => (format!("at most {}", times(*bound)), String::new()),
        RatioToBase::AtLeast(bound) => (format!("at least {}", times(*bound)), String::new()),
        RatioToBase::Unknown(_) => ("-".into(), String::new()),
    }
}

/// A cost in a unit. Cycles are named unless all costs are in them.
pub(crate) fn figure(
    comparison: &Comparison<'_>,
    place: usize,
    cost: &Cost,
    unit: CountedIn,
    all: Option<CountedIn>,
) -> String {
    let text = |value: f64| match (unit, all) {
        (CountedIn::Nanoseconds, _) => Nanoseconds(value).to_string(),
        (CountedIn::Cycles, Some(_)) => grouped(value),
        (CountedIn::Cycles, None) => format!("{} cycles", grouped(value)),
    };
    match comparison.figure(place, cost, unit) {
        ComparedFigure::Value(figure) => text(figure.value),
        ComparedFigure::AtMost(figure) => format!("at most {}", text(figure.high)),
        ComparedFigure::Unknown(_) => "-".into(),
    }
}

/// The number by which ratios are sorted.
pub(super) fn size(ratio: &RatioToBase) -> Option<f64> {
    match ratio {
        RatioToBase::Times(ratio) => Some(ratio.value),
        RatioToBase::AtMost(bound) | RatioToBase::AtLeast(bound) => Some(*bound),
        RatioToBase::Unknown(_) => None,
    }
}

pub(crate) fn ends(ratio: &Interval) -> String {
    format!("{} - {}", times(ratio.low), times(ratio.high))
}

/// A ratio, with the same number of digits on both sides of 1.
pub(crate) fn times(value: f64) -> String {
    match value {
        v if (0.1..9.9995).contains(&v) => format!("{v:.3}"),
        v if v < 100.0 => significant(v),
        v => grouped(v),
    }
}

/// A row is coloured as a change only if all its changes have one direction.
fn kind(row: &ComparisonRow<'_>) -> RowKind {
    let verdicts = || row.others.iter().flatten().map(|(_, against)| against.verdict);
    match (verdicts().any(|verdict| verdict == Verdict::Slower), verdicts().any(|verdict| verdict == Verdict::Faster)) {
        (true, false) => RowKind::Slower,
        (false, true) => RowKind::Faster,
        _ => RowKind::Row,
    }
}
