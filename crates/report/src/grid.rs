//! A table whose columns are aligned over the whole page, including the headings between its parts.

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

use crate::text::Style;

/// The kind of a row, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    Heading,
    Row,
    Aside,
    Slower,
    Faster,
}

/// Rows of cells, with the alignment of each column.
pub(crate) struct Grid {
    columns: Vec<CellAlignment>,
    rows: Vec<(RowKind, Vec<String>)>,
}

impl Grid {
    /// A grid whose columns are left-aligned for `<` in `columns` and right-aligned for `>`.
    pub(crate) fn new(columns: &str) -> Grid {
        let side = |c| if c == '>' { CellAlignment::Right } else { CellAlignment::Left };
        Grid { columns: columns.chars().map(side).collect(), rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, kind: RowKind, cells: Vec<String>) {
        // A cell is one line, whatever a file contains.
        self.rows.push((kind, cells.into_iter().map(|cell| cell.replace(['\n', '\r', '\t'], " ")).collect()));
    }

    /// The rows as lines, without trailing spaces.
    pub(crate) fn render(&self, style: Style) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        for (_, cells) in &self.rows {
            let cells = cells.iter().zip(&self.columns);
            table.add_row(cells.map(|(cell, &side)| Cell::new(cell).set_alignment(side)).collect::<Vec<_>>());
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        let mut text = String::new();
        for (line, (kind, _)) in table.lines().zip(&self.rows) {
            let line = line.trim_end();
            text += &match kind {
                RowKind::Heading => style.bold(line),
                RowKind::Row => line.to_string(),
                RowKind::Aside => style.dim(line),
                RowKind::Slower => style.red(line),
                RowKind::Faster => style.green(line),
            };
            text.push('\n');
        }
        text
    }
}
