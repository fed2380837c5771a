//! A table whose columns are aligned over the whole page, including the headings between its parts, and which fits the
//! page's width.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::text::{Style, display_width, shortened};

/// The kind of a row, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    Heading,
    Row,
    Aside,
    Slower,
    Faster,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A cell is one line, whatever a file contains.
#[derive(Clone)]
enum Cell {
    Text(String),
    /// Two texts, at both edges of the column.
    Ends(String, String),
}

/// Blanks between two columns, and between the two texts of a cell.
const GAP: usize = 2;
/// A last column of text is wrapped where it has at least this many columns.
const WRAPPED: usize = 24;
/// On a narrow page a point that makes the first column wider than this is on a line of its own, below its operation.
const STACKED: usize = 42;
/// The first column, and a text inside, keeps this many columns before figures are dropped for it, and this many after that.
const NAME: usize = 20;
const SHORTEST: usize = 6;
/// A text inside that is longer than this is cut before columns are left out.
const LONG: usize = 40;

/// Nothing gives way by name: names are shortened and texts wrapped first. What is still too wide goes from the right.
pub(crate) const NOTHING: [Vec<usize>; 0] = [];

/// What gives way among `count` columns from `first` that are steps of one quantity: every second one, then all but the
/// least and the greatest.
pub(crate) fn inner(first: usize, count: usize) -> [Vec<usize>; 2] {
    let inside = (first + 1)..(first + count).saturating_sub(1).max(first + 1);
    let (even, odd): (Vec<usize>, Vec<usize>) = inside.partition(|at| (at - first).is_multiple_of(2));
    [odd, even]
}

/// Columns that give way together, in the order of their turns. Those of turn 0 stay.
pub(crate) fn in_turns(columns: impl Iterator<Item = (usize, u8)>) -> impl Iterator<Item = Vec<usize>> {
    let mut turns: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (at, turn) in columns.filter(|(_, turn)| *turn > 0) {
        turns.entry(turn).or_default().push(at);
    }
    turns.into_values()
}

/// Rows of cells, with the alignment of each column.
pub(crate) struct Grid {
    columns: Vec<Side>,
    rows: Vec<(RowKind, Vec<Cell>)>,
    /// Columns that are left out together where the page is too narrow, in this order.
    dropped: Vec<Vec<usize>>,
}

/// The columns that are shown, and their widths.
struct Layout {
    shown: Vec<usize>,
    widths: Vec<usize>,
}

impl Layout {
    fn total(&self) -> usize {
        self.shown.iter().map(|&at| self.widths[at] + GAP).sum::<usize>().saturating_sub(GAP)
    }

    fn over(&self, width: usize) -> usize {
        self.total().saturating_sub(width)
    }

    /// Makes a column narrower, as far as needed and possible.
    fn narrow(&mut self, column: usize, least: usize, width: usize) {
        let narrower = self.widths[column].saturating_sub(self.over(width));
        self.widths[column] = narrower.max(least.min(self.widths[column]));
    }
}

impl Grid {
    /// A grid whose columns are left-aligned for `<` in `columns` and right-aligned for `>`. The columns of `gives_way` are
    /// left out on a narrow page, in this order, those of one group together: what the others imply or what fewest want.
    pub(crate) fn new(columns: &str, gives_way: impl IntoIterator<Item = Vec<usize>>) -> Grid {
        let side = |c| if c == '>' { Side::Right } else { Side::Left };
        let columns: Vec<Side> = columns.chars().map(side).collect();
        let dropped: Vec<Vec<usize>> = gives_way.into_iter().collect();
        debug_assert!(dropped.iter().flatten().all(|&at| at > 0 && at < columns.len()), "{dropped:?}");
        Grid { columns, rows: Vec::new(), dropped }
    }

    /// A row. Cells that are missing at its end are empty.
    pub(crate) fn add(&mut self, kind: RowKind, cells: impl IntoIterator<Item: Into<String>>) {
        self.rows.push((kind, cells.into_iter().map(|cell| Cell::Text(one_line(cell.into()))).collect()));
    }

    pub(crate) fn heading(&mut self, cells: impl IntoIterator<Item: Into<String>>) {
        self.add(RowKind::Heading, cells);
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item: Into<String>>) {
        self.add(RowKind::Row, cells);
    }

    /// A row that begins with an operation and its point, which is at the column's right edge: long ids seldom have long
    /// points.
    pub(crate) fn add_cost(&mut self, kind: RowKind, [id, point]: [String; 2], more: Vec<String>) {
        let first = Cell::Ends(one_line(id), one_line(point));
        let more = more.into_iter().map(|cell| Cell::Text(one_line(cell)));
        self.rows.push((kind, std::iter::once(first).chain(more).collect()));
    }

    /// The rows as lines, without trailing spaces.
    pub(crate) fn render(&self, style: Style) -> String {
        let titles = self.widest_title(style.width());
        let layout = self.layout(titles, style.width());
        let mut text = String::new();
        for (kind, row) in &self.rows {
            let coloured = |line: &str| match kind {
                RowKind::Heading => style.bold(line),
                RowKind::Row => line.to_string(),
                RowKind::Aside => style.dim(line),
                RowKind::Slower => style.red(line),
                RowKind::Faster => style.green(line),
            };
            let mut cells = Cow::Borrowed(row.as_slice());
            if let (RowKind::Heading, Some(Cell::Text(title)), Some(most)) = (kind, row.first(), titles)
                && display_width(title) > most
            {
                text += &(coloured(&style.running("", title.trim_start())) + "\n");
                cells.to_mut()[0] = Cell::Text(String::new());
            }
            let stacked = row.first().and_then(|cell| cell.stacked(layout.widths[0]));
            if let Some((operation, _)) = stacked {
                cells.to_mut()[0] = Cell::Text(operation.into());
            }
            let below = stacked.map(|(_, point)| format!("    {}", shortened(point, style.width().saturating_sub(4))));
            for line in lines(&cells, &layout, &self.columns).into_iter().chain(below) {
                text += &coloured(&line);
                text.push('\n');
            }
        }
        text
    }

    /// The widest first cell of a heading that stays in its row: on a narrow page titles that are wider than all other
    /// first cells are on a line of their own. `None` where all is wide enough.
    fn widest_title(&self, width: usize) -> Option<usize> {
        let whole = Layout { shown: (0..self.columns.len()).collect(), widths: self.widths(None) };
        (whole.over(width) > 0).then(|| self.widest_name())
    }

    /// The widest first cell of all rows that are no headings.
    fn widest_name(&self) -> usize {
        let rows = self.rows.iter().filter(|(kind, _)| *kind != RowKind::Heading);
        rows.filter_map(|(_, cells)| cells.first()).map(Cell::narrow_width).max().unwrap_or(0).max(NAME)
    }

    /// The width of each column; on a narrow page without titles that are wider than `titles`.
    fn widths(&self, titles: Option<usize>) -> Vec<usize> {
        let column_width = |at: usize| {
            let cells = self.rows.iter().filter_map(|(_, cells)| cells.get(at));
            let widths = cells.map(|cell| match titles {
                Some(most) => Some(cell.narrow_width()).filter(|&width| at > 0 || width <= most),
                None => Some(cell.width()),
            });
            widths.flatten().max().unwrap_or(0)
        };
        (0..self.columns.len()).map(column_width).collect()
    }

    fn layout(&self, titles: Option<usize>, width: usize) -> Layout {
        let last = self.columns.len().saturating_sub(1);
        let mut layout = Layout { shown: (0..=last).collect(), widths: self.widths(titles) };
        // Long texts inside lose their middle before a column is left out for them, and shorter ones before figures are.
        let inside = |layout: &Layout| -> Vec<usize> {
            let shown = layout.shown.iter().copied();
            shown.filter(|&at| at > 0 && at < last && self.columns[at] == Side::Left).collect()
        };
        for at in inside(&layout) {
            layout.narrow(at, LONG, width);
        }
        for group in &self.dropped {
            if layout.over(width) > 0 {
                layout.shown.retain(|at| !group.contains(at));
            }
        }
        let wraps = last > 0 && self.columns.get(last) == Some(&Side::Left) && layout.widths[last] > WRAPPED;
        if wraps {
            layout.narrow(last, WRAPPED, width);
        }
        let named = self.columns.first() == Some(&Side::Left);
        if named {
            layout.narrow(0, NAME, width);
        }
        for at in inside(&layout) {
            layout.narrow(at, NAME, width);
        }
        // Notes in the last column matter more than figures beyond the first.
        let kept_last = usize::from(self.columns.get(last) == Some(&Side::Left));
        while layout.over(width) > 0 && layout.shown.len() > 2 + kept_last {
            let at = layout.shown.len() - 1 - kept_last;
            layout.shown.remove(at);
        }
        if named {
            layout.narrow(0, SHORTEST, width);
        }
        while layout.over(width) > 0 && layout.shown.len() > 2 {
            layout.shown.pop();
        }
        if let Some(&end) = layout.shown.last().filter(|_| layout.over(width) > 0) {
            layout.narrow(end, 1, width);
        }
        layout
    }
}

/// The lines of one row: several if the text in its last column is wrapped.
fn lines(cells: &[Cell], layout: &Layout, columns: &[Side]) -> Vec<String> {
    let at_end = layout.shown.last().copied().unwrap_or(0);
    let mut further = Vec::new();
    let mut line = String::new();
    for &at in &layout.shown {
        let width = layout.widths[at];
        let cell = cells.get(at).cloned().unwrap_or_else(|| Cell::Text(String::new()));
        let mut text = match &cell {
            Cell::Text(text) if at == at_end && at > 0 && display_width(text) > width => {
                let indent = " ".repeat(text.len() - text.trim_start_matches(' ').len());
                let options = textwrap::Options::new(width.max(1)).subsequent_indent(&indent);
                let mut wrapped = textwrap::wrap(text, options).into_iter().map(Cow::into_owned);
                let first = wrapped.next().unwrap_or_default();
                further = wrapped.collect();
                first
            }
            cell => cell.fitted(width),
        };
        let blanks = " ".repeat(width.saturating_sub(display_width(&text)));
        text = if columns[at] == Side::Right { blanks + &text } else { text + &blanks };
        line += &text;
        line += &" ".repeat(GAP);
    }
    let start = layout.total().saturating_sub(layout.widths.get(at_end).copied().unwrap_or(0));
    let further = further.into_iter().map(|text| " ".repeat(start) + &text);
    std::iter::once(line).chain(further).map(|line| line.trim_end().to_string()).collect()
}

fn one_line(cell: String) -> String {
    let is_line = !cell.bytes().any(|byte| matches!(byte, b'\n' | b'\r' | b'\t'));
    if is_line { cell } else { cell.replace(['\n', '\r', '\t'], " ") }
}

impl Cell {
    fn width(&self) -> usize {
        match self {
            Cell::Text(text) => display_width(text),
            Cell::Ends(left, right) if right.is_empty() => display_width(left),
            Cell::Ends(left, right) => display_width(left) + GAP + display_width(right),
        }
    }

    /// Its width where a long point is below its operation.
    fn narrow_width(&self) -> usize {
        match self {
            Cell::Ends(left, _) if self.width() > STACKED => display_width(left),
            cell => cell.width(),
        }
    }

    /// Operation and point, if the point does not fit beside the operation and is long.
    fn stacked(&self, width: usize) -> Option<(&str, &str)> {
        match self {
            Cell::Ends(left, right) if self.width() > width.max(STACKED) => Some((left, right)),
            _ => None,
        }
    }

    /// Its text in a column of this width.
    fn fitted(&self, width: usize) -> String {
        match self {
            Cell::Text(text) => shortened(text, width),
            Cell::Ends(left, right) if right.is_empty() => shortened(left, width),
            Cell::Ends(left, right) => {
                let right = shortened(right, width.saturating_sub(width / 3 + GAP));
                let left = shortened(left, width.saturating_sub(display_width(&right) + GAP));
                let blanks = width.saturating_sub(display_width(&left) + display_width(&right));
                format!("{left}{}{right}", " ".repeat(blanks.max(GAP).min(width)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Colours;

    fn grid() -> Grid {
        let mut grid = Grid::new("<>>>>", [vec![4], vec![2, 3]]);
        grid.heading(["files", "cost", "+-", "cycles", "a second"]);
        let more = || ["1.00 µs", "2.0 %", "2 590", "1.00 M"].map(String::from).to_vec();
        grid.add_cost(RowKind::Row, ["  file.read".into(), "4 MiB".into()], more());
        grid.add_cost(RowKind::Row, ["  file.read.with.a.long.name".into(), "ahead 64 KiB".into()], more());
        grid
    }

    fn at(grid: &Grid, width: usize) -> String {
        let text = grid.render(Style::new(Colours::Off, width));
        assert!(text.lines().all(|line| display_width(line) <= width), "{width}:\n{text}");
        text
    }

    #[test]
    fn columns_give_way_in_their_order_and_then_the_name_loses_its_middle() {
        let grid = grid();
        assert!(at(&grid, 100).contains("1.00 M"));
        let narrow = at(&grid, 71);
        assert!(!narrow.contains("1.00 M") && narrow.contains("2 590"), "{narrow}");
        let narrow = at(&grid, 60);
        assert!(!narrow.contains("2.0 %") && !narrow.contains("2 590") && narrow.contains("long.name"), "{narrow}");
        let narrow = at(&grid, 40);
        assert!(narrow.contains("…") && narrow.contains("ahead 64 KiB") && narrow.contains("1.00 µs"), "{narrow}");
        for width in 12..40 {
            at(&grid, width);
        }
    }

    #[test]
    fn text_at_the_end_is_wrapped_below_itself() {
        let mut grid = Grid::new("<<", NOTHING);
        grid.row(["pipe.self", "write to a pipe and read it back, in one task"]);
        assert_eq!(at(&grid, 40), "pipe.self  write to a pipe and read it\n           back, in one task\n");
    }

    #[test]
    fn of_a_series_of_columns_the_ends_stay() {
        assert_eq!(inner(1, 5), [vec![2, 4], vec![3]]);
        assert!(inner(2, 2).concat().is_empty());
        assert!(inner(1, 0).concat().is_empty());
    }

    #[test]
    fn a_text_inside_is_shortened_before_a_figure_is_left_out() {
        let mut grid = Grid::new("<<><", NOTHING);
        grid.row(["  SDRC/RCVX", "pipe.woken.block same, woken start", "6.62 µs", "[1]"]);
        let narrow = at(&grid, 48);
        assert!(narrow.contains("6.62 µs  [1]") && narrow.contains('…') && narrow.contains(" start"), "{narrow}");
    }

    #[test]
    fn a_wide_title_is_above_its_columns() {
        let mut grid = grid();
        let title = "a title that is wider than every name in the table below it";
        grid.heading([title, "cost"]);
        assert!(at(&grid, 78).contains(&format!("{title}\n")));
    }
}
