//! A long table: named columns of text, numbers and truth values, where a cell may be missing.

use std::collections::BTreeSet;
use std::fmt;

use record::Point;

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// It is not known, or there is no such thing for this row.
    Missing,
    Text(String),
    Number(f64),
    Count(u64),
    Flag(bool),
}

impl Cell {
    /// Text; empty text is missing.
    pub fn text(text: impl Into<String>) -> Cell {
        let text = text.into();
        if text.is_empty() { Cell::Missing } else { Cell::Text(text) }
    }

    /// A number. What is not finite is missing, because most readers cannot read it.
    pub fn number(number: f64) -> Cell {
        if number.is_finite() { Cell::Number(number) } else { Cell::Missing }
    }

    /// The value of an axis at a point.
    fn of(at: &Point, axis: &str) -> Cell {
        at.0.get(axis).map_or(Cell::Missing, |value| match value.number() {
            Some(number) => Cell::Count(number),
            None => Cell::text(value.to_string()),
        })
    }
}

impl fmt::Display for Cell {
    /// Nothing where it is missing.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Missing => Ok(()),
            Cell::Text(text) => out.write_str(text),
            Cell::Number(number) => write!(out, "{number}"),
            Cell::Count(count) => write!(out, "{count}"),
            Cell::Flag(flag) => write!(out, "{flag}"),
        }
    }
}

/// Rows under named columns. Every row has as many cells as there are columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The names of the columns, each once.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table with these columns.
    pub fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Table {
        Table { columns: columns.into_iter().map(String::from).collect(), rows: Vec::new() }
    }
}

/// The columns for the axes of points: the axes that any of them has, in alphabetical order.
pub struct AxisColumns {
    axes: Vec<String>,
}

/// The columns for the axes of these points.
pub fn axis_columns<'a>(points: impl Iterator<Item = &'a Point>) -> AxisColumns {
    let axes: BTreeSet<&String> = points.flat_map(|point| point.0.keys()).collect();
    AxisColumns { axes: axes.into_iter().cloned().collect() }
}

impl AxisColumns {
    /// Their names beside columns that are there in any case. An axis with the name of such a column gets `axis_` before it.
    pub fn names(&self, taken: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for axis in &self.axes {
            let mut name = axis.clone();
            while taken.contains(&name.as_str()) || names.contains(&name) {
                name = format!("axis_{name}");
            }
            names.push(name);
        }
        names
    }

    pub fn cells<'a>(&'a self, at: &'a Point) -> impl Iterator<Item = Cell> + 'a {
        self.axes.iter().map(|axis| Cell::of(at, axis))
    }
}

#[cfg(test)]
mod tests {
    use record::Value;

    use super::*;

    #[test]
    fn the_axes_of_all_points_are_columns() {
        let one = Point::default().with("size", Value::Number(64));
        let other = Point::default().with("ns", Value::Word("other".into()));
        let axes = axis_columns([&one, &other].into_iter());
        assert_eq!(axes.names(&["id", "ns"]), ["axis_ns", "size"]);
        assert_eq!(axes.cells(&one).collect::<Vec<_>>(), [Cell::Missing, Cell::Count(64)]);
        assert_eq!(axes.cells(&other).collect::<Vec<_>>(), [Cell::Text("other".into()), Cell::Missing]);
    }
}
