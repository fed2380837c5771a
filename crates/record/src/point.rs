//! A point: one choice of all of an operation's axes.

use std::collections::BTreeMap;
use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// The value an axis takes at a point: a number (bytes, a count) or a word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// A number: bytes on the axes `size` and `resident`, a count elsewhere.
    Number(u64),
    /// A named choice, e.g. `distance=other`.
    Word(String),
}

/// Axis name to value; empty for an operation without axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct Point(pub BTreeMap<String, Value>);

/// Axes whose numbers are bytes; every other number is a count.
const BYTE_AXES: [&str; 8] = ["size", "resident", "set", "file", "filled", "record", "ahead", "quantity"];

impl Point {
    /// The number on this axis, if the axis exists and holds one.
    pub fn number(&self, axis: &str) -> Option<u64> {
        match self.0.get(axis) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The word on this axis, if the axis exists and holds one.
    pub fn word(&self, axis: &str) -> Option<&str> {
        match self.0.get(axis) {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// The same point with one axis set.
    pub fn with(mut self, axis: &str, value: Value) -> Point {
        self.0.insert(axis.into(), value);
        self
    }

    /// The values alone, as a table shows them: `64 B`, `100 descriptors other`, `width 64`.
    pub fn values(&self) -> String {
        let shown = self.0.iter().map(|(axis, value)| match value {
            Value::Number(number) if BYTE_AXES.contains(&axis.as_str()) => Bytes(*number).to_string(),
            // What is counted has a name in the plural.
            Value::Number(number) if axis.ends_with('s') => format!("{number} {axis}"),
            Value::Number(number) => format!("{axis} {number}"),
            Value::Word(word) => word.clone(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Point {
    /// As it is typed on the command line: `@size=64,distance=other`; nothing for the empty point.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (axis, value)) in self.0.iter().enumerate() {
            out.write_str(if index == 0 { "@" } else { "," })?;
            match value {
                Value::Number(number) => write!(out, "{axis}={number}")?,
                Value::Word(word) => write!(out, "{axis}={word}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_print_for_people_and_for_the_command_line() {
        let point =
            Point::default().with("size", Value::Number(4096)).with("distance", Value::Word("other CPU".into()));
        assert_eq!(point.values(), "other CPU 4 KiB");
        assert_eq!(point.to_string(), "@distance=other CPU,size=4096");
        assert_eq!(Point::default().with("width", Value::Number(64)).values(), "width 64");
        assert_eq!(Point::default().with("tasks", Value::Number(2)).values(), "2 tasks");
        assert_eq!(Point::default().to_string(), "");
    }
}
