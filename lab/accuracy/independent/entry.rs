//! One row of the tables: an operation, a point of it, and how to do the same by hand.

use operation::Operation;
use record::units::bytes_of;
use record::{Point, Value};

use super::harness::Made;

/// An operation at a point, and work written by hand that should take as long.
pub(crate) struct Entry {
    pub id: &'static str,
    /// As after the `@` of the command line; empty for the only point.
    pub at: &'static str,
    /// How often an iteration contains a turn of the loop around it, which the instrument subtracts where it says so.
    pub turns: f64,
    pub make: fn() -> Made,
}

/// Work with a turn of the loop in each iteration.
pub(super) const fn entry(id: &'static str, at: &'static str, make: fn() -> Made) -> Entry {
    Entry { id, at, turns: 1.0, make }
}

/// Work whose loop is unrolled, or so long that its loop is nothing.
pub(super) const fn unrolled(id: &'static str, at: &'static str, make: fn() -> Made) -> Entry {
    Entry { id, at, turns: 0.0, make }
}

impl Entry {
    /// The point that is meant: of the headline run, or any other where none of that one fits.
    ///
    /// # Errors
    /// When no point fits, or several.
    pub(super) fn point(&self, operation: &Operation) -> Result<Point, String> {
        let fits = |point: &Point| self.at.split(',').all(|part| self.at.is_empty() || has(point, part));
        for headline in [true, false] {
            let mut points = operation.points(headline);
            points.retain(fits);
            match points.as_slice() {
                [] => {}
                [one] => return Ok(one.clone()),
                several => return Err(format!("{} points are meant by {}", several.len(), self.name())),
            }
        }
        Err(format!("{} is no point", self.name()))
    }

    /// As typed on the command line.
    pub(super) fn name(&self) -> String {
        if self.at.is_empty() { self.id.into() } else { format!("{}@{}", self.id, self.at) }
    }
}

/// Whether a point has this value, such as `size=4KiB`.
fn has(point: &Point, part: &str) -> bool {
    let Some((axis, wanted)) = part.split_once('=') else { return false };
    match point.0.get(axis) {
        Some(Value::Number(number) | Value::Bytes(number)) => {
            wanted.parse() == Ok(*number) || bytes_of(wanted) == Some(*number)
        }
        Some(Value::Word(word)) => word == wanted,
        None => false,
    }
}

/// A family or several that belong together.
pub(super) struct Group {
    pub title: &'static str,
    pub entries: &'static [Entry],
}
