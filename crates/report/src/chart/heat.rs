//! A matrix as text, shaded with block characters, and as SVG.

use std::fmt::Write;
use std::ops::Range;

use super::form::Heat;
use super::palette::SHADE;
use super::text::{cut, entries, right, whole, wrapped};
use super::xml::{escaped, opening};
use crate::text::display_width;

/// Shades from the least number to the greatest.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// Names of rows are cut to this in text.
const LONGEST_NAME: usize = 24;

impl Heat {
    /// The matrix as lines of at most `width` columns, each ending in a line feed. Where the names of the columns have no
    /// room they become numbers, explained below; where the figures have none, only the shades remain, in several parts if need be.
    pub fn text(&self, width: usize) -> String {
        let width = width.max(1);
        let names: Vec<String> = self.rows.iter().map(|name| cut(name, LONGEST_NAME.min(3 * width / 4))).collect();
        let margin = names.iter().map(|name| display_width(name)).max().unwrap_or(0);
        let numbers: Vec<String> = (1..=self.columns.len()).map(|number| number.to_string()).collect();
        let figures = self.texts(true);
        let fits = |heads: &[String]| margin + widths(heads, &figures, 2).iter().sum::<usize>() <= width;
        let (heads, cells, gap) = match () {
            () if fits(&self.columns) => (&self.columns, figures, 2),
            () if fits(&numbers) => (&numbers, figures, 2),
            () => (&numbers, self.texts(false), 1),
        };
        let widths = widths(heads, &cells, gap);
        let mut lines = vec![self.title.clone()];
        for part in parts(&widths, width - margin) {
            lines.push(line(&" ".repeat(margin), &widths[part.clone()], &heads[part.clone()]));
            for (name, cells) in names.iter().zip(&cells) {
                let name = format!("{name}{}", " ".repeat(margin - display_width(name)));
                lines.push(line(&name, &widths[part.clone()], &cells[part.clone()]));
            }
        }
        if self.rows.is_empty() || self.columns.is_empty() {
            lines.push("No cells.".into());
        } else if heads == &numbers && numbers != self.columns {
            let legend = numbers.iter().zip(&self.columns).map(|(number, name)| format!("{number} {name}"));
            lines.extend(entries(legend, width));
        }
        if let Some((low, high)) = self.range() {
            let (low, high) = (self.unit.text(low), self.unit.text(high));
            lines.extend(wrapped(&format!("shades: · {low} to █ {high}; - {}", self.absent), width));
        }
        lines.iter().filter(|line| !line.trim().is_empty()).map(|line| whole(line, width)).collect()
    }

    /// The cells of each row as texts: their figures and shades, or their shades alone.
    fn texts(&self, figures: bool) -> Vec<Vec<String>> {
        let range = self.range();
        let text = |row: usize, column: usize| match (self.cell(row, column).zip(range), figures) {
            // The place of the shade stays free, so that figures end in one column.
            (None, true) => "-  ".into(),
            (None, false) => "-".into(),
            (Some((value, range)), true) => format!("{} {}", self.unit.text(value), shade(value, range)),
            (Some((value, range)), false) => shade(value, range).to_string(),
        };
        let row = |row: usize| (0..self.columns.len()).map(|column| text(row, column)).collect();
        (0..self.rows.len()).map(row).collect()
    }

    /// The shade of a cell in a page whose numbers lie in this range: 0, the least, to 8; `None` without a number.
    pub(crate) fn step(&self, row: usize, column: usize, range: Option<(f64, f64)>) -> Option<u8> {
        Some((part(self.cell(row, column)?, range?) * 8.0).round() as u8)
    }

    /// The matrix as an SVG document.
    pub fn svg(&self) -> String {
        const CELL: (f64, f64) = (76.0, 28.0);
        let long = |names: &[String]| names.iter().map(|name| display_width(name)).max().unwrap_or(0) as f64;
        let left = 28.0 + 7.0 * long(&self.rows).max(4.0);
        // The names of the columns are written upwards at an angle.
        let top = 48.0 + 5.2 * long(&self.columns).max(4.0);
        let width = left + CELL.0 * self.columns.len() as f64 + 24.0 + 5.0 * long(&self.columns);
        let width = width.max(60.0 + 9.0 * display_width(&self.title) as f64);
        let height = top + CELL.1 * self.rows.len() as f64 + 24.0;
        let mut svg = opening(width, height, &self.title);
        let range = self.range();
        for (column, name) in self.columns.iter().enumerate() {
            let (x, y) = (left + CELL.0 * (column as f64 + 0.4), top - 8.0);
            let _ = writeln!(svg, "<text transform=\"translate({x:.1} {y:.1}) rotate(-40)\">{}</text>", escaped(name));
        }
        for (row, name) in self.rows.iter().enumerate() {
            let y = top + CELL.1 * row as f64;
            let middle = y + CELL.1 / 2.0 + 4.0;
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                escaped(name)
            );
            for column in 0..self.columns.len() {
                let x = left + CELL.0 * column as f64;
                let value = self.cell(row, column);
                // Light enough for the text of either kind of page.
                let opacity = value.zip(range).map_or(0.0, |(value, range)| 0.04 + 0.56 * part(value, range));
                let label = value.map_or("-".into(), |value| self.unit.text(value));
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{SHADE}\" \
                     fill-opacity=\"{opacity:.2}\"/><text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"middle\">{}</text>",
                    CELL.0 - 2.0,
                    CELL.1 - 2.0,
                    x + CELL.0 / 2.0 - 1.0,
                    escaped(&label)
                );
            }
        }
        if self.rows.is_empty() || self.columns.is_empty() {
            let _ = writeln!(svg, "<text x=\"14\" y=\"{:.1}\">No cells.</text>", top);
        }
        svg + "</svg>\n"
    }
}

fn line(name: &str, widths: &[usize], cells: &[String]) -> String {
    let padded = cells.iter().zip(widths).map(|(cell, &width)| right(&cut(cell, width), width));
    name.to_owned() + &padded.collect::<String>()
}

/// Columns of these widths in as few parts as fit into the room, each with one column at least.
fn parts(widths: &[usize], room: usize) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut used) = (Vec::new(), 0, 0);
    for (column, width) in widths.iter().enumerate() {
        if used > 0 && used + width > room {
            parts.push(start..column);
            (start, used) = (column, 0);
        }
        used += width;
    }
    parts.push(start..widths.len());
    parts
}

/// The width of each column with the gap before it.
fn widths(heads: &[String], cells: &[Vec<String>], gap: usize) -> Vec<usize> {
    let wide = |(column, head): (usize, &String)| {
        let cells = cells.iter().map(|row| display_width(&row[column])).max();
        display_width(head).max(cells.unwrap_or(0)) + gap
    };
    heads.iter().enumerate().map(wide).collect()
}

fn shade(value: f64, range: (f64, f64)) -> char {
    SHADES[(part(value, range) * (SHADES.len() - 1) as f64).round() as usize]
}

/// Where a number lies between the least and the greatest, 0 to 1.
fn part(value: f64, (low, high): (f64, f64)) -> f64 {
    // Halves, because the difference of the greatest numbers overflows.
    let whole = high / 2.0 - low / 2.0;
    if whole > 0.0 { ((value / 2.0 - low / 2.0) / whole).clamp(0.0, 1.0) } else { 0.0 }
}
