//! A point: one choice of all of an operation's axes.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, counted, singular};

/// The value an axis takes at a point: a number (bytes, a count) or a word.
// In constants the word is a `&'static str`. Values are compared without their unit, which only determines how they print.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Value")]
#[serde(untagged)]
pub enum Value<Word = String> {
    /// A number: bytes on the axes that the run's `units` name, a count elsewhere.
    Number(u64),
    /// A number of bytes; in a document a number like any other.
    #[schemars(skip)]
    Bytes(u64),
    /// A named choice, e.g. `distance=other`.
    Word(Word),
}

impl<Word> Value<Word> {
    /// The number, if it is one.
    pub fn number(&self) -> Option<u64> {
        match self {
            Value::Number(number) | Value::Bytes(number) => Some(*number),
            Value::Word(_) => None,
        }
    }

    /// The word, if it is one.
    pub fn word(&self) -> Option<&Word> {
        match self {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The same value; a number counts in this unit.
    pub fn in_unit(self, unit: Unit) -> Value<Word> {
        match (self, unit) {
            (Value::Number(number) | Value::Bytes(number), Unit::Count) => Value::Number(number),
            (Value::Number(number) | Value::Bytes(number), Unit::Bytes) => Value::Bytes(number),
            (word, _) => word,
        }
    }

    /// The number or the word, by which values are compared: numbers before words.
    fn key(&self) -> Result<u64, Option<&Word>> {
        self.number().ok_or(self.word())
    }
}

impl<Word: PartialEq> PartialEq for Value<Word> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<Word: Eq> Eq for Value<Word> {}

impl<Word: Ord> PartialOrd for Value<Word> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Word: Ord> Ord for Value<Word> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl<Word: Hash> Hash for Value<Word> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Value {
    /// As it is typed on this axis: `4KiB`, `64`, `other`. Whole KiB, MiB and GiB have their unit.
    pub fn typed(&self, axis: &str) -> String {
        match self {
            Value::Bytes(number) => typed_size(*number),
            Value::Number(number) if BYTE_AXES.contains(&axis) => typed_size(*number),
            other => other.to_string(),
        }
    }
}

/// `4KiB`, `1536`: what a pattern reads as this number.
fn typed_size(number: u64) -> String {
    let whole = number >= 1024 && number.is_multiple_of(1024);
    if whole { Bytes(number).to_string().replace(' ', "") } else { number.to_string() }
}

impl Value<&'static str> {
    /// The same value, as a point holds it.
    pub fn value(self) -> Value {
        match self {
            Value::Number(number) => Value::Number(number),
            Value::Bytes(bytes) => Value::Bytes(bytes),
            Value::Word(word) => Value::Word(word.into()),
        }
    }
}

impl<Word: fmt::Display> fmt::Display for Value<Word> {
    /// As it is typed on the command line: without its unit.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) | Value::Bytes(number) => write!(out, "{number}"),
            Value::Word(word) => write!(out, "{word}"),
        }
    }
}

/// What the numbers of an axis count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Things that the axis names.
    #[default]
    Count,
    /// Bytes.
    Bytes,
}

/// Axis name to value; empty for an operation without axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Point(pub BTreeMap<String, Value>);

/// Axes whose numbers are bytes where nothing states their unit: in runs made before runs did, in books and mixes.
const BYTE_AXES: [&str; 8] = ["size", "resident", "set", "file", "filled", "record", "ahead", "quantity"];

impl Point {
    /// The point that a text such as `size=64,distance=other` gives. What is no pair is passed over.
    pub fn of_text(text: &str) -> Point {
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        pairs.fold(Point::default(), |point, (axis, value)| {
            point.with(axis, value.parse().map_or_else(|_| Value::Word(value.into()), Value::Number))
        })
    }

    /// The number on this axis, if the axis exists and holds one.
    pub fn number(&self, axis: &str) -> Option<u64> {
        self.0.get(axis)?.number()
    }

    /// The word on this axis, if the axis exists and holds one.
    pub fn word(&self, axis: &str) -> Option<&str> {
        self.0.get(axis)?.word().map(String::as_str)
    }

    /// As typed on the command line, with sizes as a page shows them: `@distance=other,size=4KiB`. Empty for the empty point.
    pub fn typed(&self) -> String {
        let each: Vec<String> = self.0.iter().map(|(axis, value)| format!("{axis}={}", value.typed(axis))).collect();
        if each.is_empty() { String::new() } else { format!("@{}", each.join(",")) }
    }

    /// The same point with one axis set.
    pub fn with(mut self, axis: &str, value: Value) -> Point {
        self.set(axis, value);
        self
    }

    /// Sets one axis.
    pub fn set(&mut self, axis: &str, value: Value) {
        self.0.insert(axis.into(), value);
    }

    /// The values as a table shows them: `64 B`, `other, 100 descriptors`, `file 256 MiB, size 4 KiB`. A value has the name
    /// of its axis where there are several or it would not be understood without.
    pub fn values(&self) -> String {
        let numbers = self.0.values().filter(|value| value.number().is_some()).count();
        let shown = self.0.iter().map(|(axis, value)| {
            let bare = match value {
                Value::Word(_) => self.0.len() == 1 || SELF_EVIDENT.contains(&axis.as_str()),
                _ => numbers == 1 && PLAIN_SIZES.contains(&axis.as_str()),
            };
            let bytes =
                |number: u64| if bare { Bytes(number).to_string() } else { format!("{axis} {}", Bytes(number)) };
            match value {
                Value::Bytes(number) => bytes(*number),
                Value::Number(number) if BYTE_AXES.contains(&axis.as_str()) => bytes(*number),
                Value::Number(number) if axis == "cpus" => counted(*number, "CPU"),
                // What is counted has a name in the plural.
                Value::Number(number) if axis.ends_with('s') => counted(*number, singular(axis).as_ref()),
                Value::Number(number) => format!("{axis} {number}"),
                Value::Word(word) if bare => word.clone(),
                Value::Word(word) => format!("{axis} {word}"),
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// The name of a cost for people, where only its name is known: `pipe.self@size=4KiB` for `pipe.self@size=4096`.
pub fn typed_name(name: &str) -> Cow<'_, str> {
    let Some((operation, point)) = name.rsplit_once('@') else { return name.into() };
    let typed = |part: &str| match part.split_once('=').map(|(axis, value)| (axis, value.parse())) {
        Some((axis, Ok(number))) if BYTE_AXES.contains(&axis) => format!("{axis}={}", typed_size(number)),
        _ => part.to_string(),
    };
    let each: Vec<String> = point.split(',').map(typed).collect();
    format!("{operation}@{}", each.join(",")).into()
}

/// Axes of words that are understood without the axis's name, and those of bytes if the point has no other number.
const SELF_EVIDENT: [&str; 9] = ["distance", "state", "order", "path", "precision", "class", "clock", "mode", "set"];
const PLAIN_SIZES: [&str; 3] = ["size", "set", "resident"];

impl fmt::Display for Point {
    /// As typed on the command line: `@size=64,distance=other`. Empty for the empty point.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (axis, value)) in self.0.iter().enumerate() {
            out.write_str(if index == 0 { "@" } else { "," })?;
            write!(out, "{axis}={value}")?;
        }
        Ok(())
    }
}

/// The part of a data cache that a word of an axis names, and the cache's level: `most-l2` is three quarters of the second.
pub fn part_of_cache(word: &str) -> Option<(f64, u32)> {
    let (part, level) = word.rsplit_once("-l")?;
    let share = match part {
        "quarter" => 0.25,
        "half" => 0.5,
        "most" => 0.75,
        "all" => 1.0,
        "twice" => 2.0,
        _ => return None,
    };
    Some((share, level.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_shows_and_is_not_compared() {
        let counted = Point::default().with("block", Value::Number(4096));
        let bytes = Point::default().with("block", Value::Bytes(4096));
        assert_eq!((counted.values(), bytes.values()), ("block 4096".into(), "block 4 KiB".into()));
        assert_eq!(counted, bytes);
        assert_eq!(serde_json::to_string(&bytes).expect("JSON"), r#"{"block":4096}"#);
        let [less, more, word] = [Value::Bytes(2), Value::Number(3), Value::Word("2")];
        assert!(less < more && more < word);
    }

    #[test]
    fn a_name_s_sizes_have_their_unit() {
        let names = [
            ("pipe.self@size=4096", "pipe.self@size=4KiB"),
            ("pipe.roundtrip@distance=other,size=26", "pipe.roundtrip@distance=other,size=26"),
            ("read.ahead@ahead=2097152,file=1536,tasks=4096", "read.ahead@ahead=2MiB,file=1536,tasks=4096"),
            ("syscall.getppid", "syscall.getppid"),
            ("command: tool a@b 4096", "command: tool a@b 4096"),
        ];
        for (name, typed) in names {
            assert_eq!(typed_name(name), typed);
        }
    }

    #[test]
    fn points_print_for_people_and_for_the_command_line() {
        let point =
            Point::default().with("size", Value::Number(4096)).with("distance", Value::Word("other CPU".into()));
        assert_eq!(point.values(), "other CPU, 4 KiB");
        assert_eq!(point.to_string(), "@distance=other CPU,size=4096");
        assert_eq!(Point::default().with("width", Value::Number(64)).values(), "width 64");
        for (axis, number, text) in [
            ("tasks", 2, "2 tasks"),
            ("tasks", 1, "1 task"),
            ("entries", 1, "1 entry"),
            ("cpus", 1, "1 CPU"),
            ("file", 1 << 28, "file 256 MiB"),
            ("set", 1 << 20, "1 MiB"),
        ] {
            assert_eq!(Point::default().with(axis, Value::Number(number)).values(), text);
        }
        let sizes = [("ahead", 2 << 20), ("file", 256 << 20), ("record", 4096)];
        let point = sizes.iter().fold(Point::default(), |point, (axis, size)| point.with(axis, Value::Number(*size)));
        assert_eq!(point.values(), "ahead 2 MiB, file 256 MiB, record 4 KiB");
        let point = point.with("state", Value::Word("cold".into())).with("sync", Value::Word("none".into()));
        assert_eq!(point.values(), "ahead 2 MiB, file 256 MiB, record 4 KiB, cold, sync none");
        assert_eq!((Point::default().to_string(), Point::default().typed()), (String::new(), String::new()));
        let point = point.with("size", Value::Number(1536)).with("block", Value::Bytes(1 << 40));
        assert_eq!(point.typed(), "@ahead=2MiB,block=1TiB,file=256MiB,record=4KiB,size=1536,state=cold,sync=none");
        for value in point.0.values().filter_map(Value::number).filter(|number| number.is_multiple_of(1024)) {
            assert_eq!(crate::units::bytes_of(&typed_size(value)), Some(value), "what is printed is read");
        }
    }
}
