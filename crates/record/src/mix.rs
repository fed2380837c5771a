//! A mix: how often one unit of a program's work performs each operation, as TOML. Knows no run and no operation.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::point::{Point, Value};
use crate::read::printable;
use crate::term::Term;
use crate::units::{bytes_of, time_of};

/// A longer text is not a mix.
const MOST_BYTES: usize = 1 << 20;
/// More lines than operations exist.
const MOST_LINES: usize = 2000;
/// More often than a CPU does anything in a year.
const MOST_TIMES: f64 = 1e18;

/// A mix that leaves out more than this many times its sum shows nothing.
const MOST_LEFT_OUT: f64 = 1000.0;

/// The reasons why a text is not a mix.
#[derive(Debug, thiserror::Error)]
pub enum MixError {
    /// It is larger than any mix.
    #[error("the mix is larger than {} MiB, so it is not a mix", MOST_BYTES >> 20)]
    TooLarge,
    /// It is not TOML, or TOML without the fields of a mix.
    #[error("not a mix: {0}")]
    Malformed(String),
    /// It has no operation, or every count is zero.
    #[error("the mix is empty: it names no operation that is done more than 0 times")]
    Empty,
    /// It has more operations than are read.
    #[error("the mix has {0} operations, at most {MOST_LINES} are read")]
    TooMany(usize),
    /// One of its lines has an impossible value.
    #[error("{line}: {why}")]
    Line {
        /// The operation, or the name of the measured time.
        line: String,
        /// What is wrong.
        why: String,
    },
}

/// How often one unit of work performs each operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Its name.
    pub name: String,
    /// What one unit of work is: `command`, `request`, `interaction`.
    pub unit: String,
    /// Where the counts come from.
    pub source: Option<String>,
    /// The operation whose cost, in the same run, is compared with the sum.
    pub whole: Option<String>,
    /// Which figure of that cost.
    pub whole_as: WholeAs,
    /// The number of units of work in that cost.
    pub whole_units: f64,
    /// The measured time of one unit, as text, by run.
    pub measured: BTreeMap<String, String>,
    /// How many different names of files one unit of work looks up, if that was counted.
    pub distinct_names: Option<u64>,
    /// What the sum of the lines left out, or had too much, where the work was counted, as a share of the sum; if it was measured there.
    pub left_out: Option<f64>,
    /// The operations.
    pub lines: Vec<MixLine>,
}

/// Which figure of a cost is compared with the sum of a mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WholeAs {
    /// With its terms subtracted. For a command: its time beyond starting a program that does nothing.
    #[default]
    Net,
    /// As timed. For a command: including its start.
    Gross,
}

/// One operation of a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct MixLine {
    /// Its id, or a name that a paper gives it; the axes it speaks of, of which the others are free; how often one unit of
    /// work performs it, where a fraction is allowed.
    pub term: Term,
    /// What it is added up with.
    pub family: String,
    /// The reason why it is in the mix.
    pub note: Option<String>,
}

impl MixLine {
    /// Id and point as the mix writes them.
    pub fn name(&self) -> String {
        self.term.name()
    }

    /// The same for people, with sizes as a page shows them.
    pub fn typed(&self) -> String {
        self.term.typed()
    }
}

/// A mix as written in TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: String,
    unit: String,
    source: Option<String>,
    whole: Option<String>,
    #[serde(default)]
    whole_as: WholeAs,
    whole_units: Option<f64>,
    distinct_names: Option<u64>,
    left_out: Option<f64>,
    #[serde(default)]
    measured: BTreeMap<String, String>,
    #[serde(default)]
    operation: Vec<WrittenLine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLine {
    operation: String,
    times: f64,
    family: Option<String>,
    note: Option<String>,
}

impl Mix {
    /// Reads and checks a mix.
    ///
    /// # Errors
    /// If the text is too long, is no mix, has no operations, or contains impossible values.
    pub fn from_toml(text: &str) -> Result<Mix, MixError> {
        if text.len() > MOST_BYTES {
            return Err(MixError::TooLarge);
        }
        let written: Written =
            toml::from_str(text).map_err(|error| MixError::Malformed(printable(&one_line(error.message()))))?;
        if written.operation.len() > MOST_LINES {
            return Err(MixError::TooMany(written.operation.len()));
        }
        let lines = written.operation.iter().map(line).collect::<Result<Vec<_>, _>>()?;
        if !lines.iter().any(|line| line.term.times > 0.0) {
            return Err(MixError::Empty);
        }
        let (name, unit) = (shown(&written.name), shown(&written.unit));
        for (what, text) in [("name", &name), ("unit", &unit)] {
            if text.is_empty() {
                return Err(MixError::Malformed(format!("its {what} is empty")));
            }
        }
        let whole_units = written.whole_units.unwrap_or(1.0);
        if !(whole_units.is_finite() && (1e-9..=MOST_TIMES).contains(&whole_units)) {
            return Err(MixError::Malformed(format!("whole_units = {whole_units}; say how many units the whole is")));
        }
        if let Some(left_out) = written.left_out.filter(|share| !(0.0..=MOST_LEFT_OUT).contains(share)) {
            return Err(MixError::Malformed(format!("left_out = {left_out}; say a share of the sum, such as 0.1")));
        }
        let measured = written.measured.iter().map(|(run, time)| {
            time_of(time).map(|_| (shown(run), time.clone())).ok_or_else(|| MixError::Line {
                line: format!("measured on {}", shown(run)),
                why: format!("'{}' is no time; say one such as \"1.2ms\"", shown(time)),
            })
        });
        Ok(Mix {
            name,
            unit,
            source: written.source.as_deref().map(shown),
            whole: written.whole.as_deref().map(shown),
            whole_as: written.whole_as,
            whole_units,
            distinct_names: written.distinct_names,
            left_out: written.left_out,
            measured: measured.collect::<Result<_, _>>()?,
            lines,
        })
    }
}

fn line(written: &WrittenLine) -> Result<MixLine, MixError> {
    let wrong = |why: String| MixError::Line { line: format!("operation '{}'", shown(&written.operation)), why };
    let times = written.times;
    if !times.is_finite() || times < 0.0 {
        return Err(wrong(format!("times = {times}; say how often one unit does it: a number of 0 or more")));
    }
    if times > MOST_TIMES {
        return Err(wrong(format!("times = {times:e}, which is more often than a CPU does anything in a year")));
    }
    let text = shown(&written.operation);
    // A command's own text may contain an @. A command is measured without a point.
    let (id, point) = match text.split_once('@') {
        Some((id, point)) if !id.contains([' ', '/']) || !id.contains(':') => (id, Some(point)),
        _ => (text.as_str(), None),
    };
    if id.is_empty() {
        return Err(wrong("it names no operation; say an id such as \"syscall.getppid\"".into()));
    }
    let at = point.map_or(Ok(Point::default()), point_of).map_err(wrong)?;
    let family = written.family.as_deref().map(shown).filter(|family| !family.is_empty());
    Ok(MixLine {
        term: Term { times, operation: id.into(), at },
        family: family.unwrap_or_else(|| family_of(id).into()),
        note: written.note.as_deref().map(shown),
    })
}

/// `size=4KiB,distance=other` as a point.
fn point_of(text: &str) -> Result<Point, String> {
    let mut point = Point::default();
    for choice in text.split(',') {
        let pair = choice.split_once('=').map(|(axis, value)| (axis.trim(), value.trim()));
        let Some((axis, value)) = pair.filter(|(axis, value)| !axis.is_empty() && !value.is_empty()) else {
            return Err("a point is @AXIS=VALUE,..., such as @size=64".into());
        };
        if point.0.contains_key(axis) {
            return Err(format!("its point names {axis} twice"));
        }
        let number = value.parse().ok().or_else(|| bytes_of(value));
        point = point.with(axis, number.map_or_else(|| Value::Word(value.into()), Value::Number));
    }
    Ok(point)
}

/// The first word of an id; `command` for `command: sort x`; otherwise the name itself.
fn family_of(id: &str) -> &str {
    let end = id.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    end.filter(|&end| end > 0 && matches!(id.as_bytes()[end], b'.' | b':')).map_or(id, |end| &id[..end])
}

fn shown(text: &str) -> String {
    one_line(&printable(text.trim()))
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
        name = "echo"
        unit = "request"
        source = "strace -c"
        whole = "command: ./serve"
        [measured]
        "@1" = "1.2ms"
        [[operation]]
        operation = "pipe.roundtrip@distance=other,size=4KiB"
        times = 2
        [[operation]]
        operation = "syscall.getppid"
        times = 0.5
        note = "every other request"
        [[operation]]
        operation = "eapbp*"
        family = "pointers"
        times = 0
    "#;

    #[test]
    fn a_mix_is_read() {
        let mix = Mix::from_toml(SMALL).expect("a mix");
        assert_eq!((mix.name.as_str(), mix.unit.as_str(), mix.whole_as), ("echo", "request", WholeAs::Net));
        assert_eq!(mix.measured["@1"], "1.2ms");
        let shown: Vec<_> = mix.lines.iter().map(|line| (line.name(), line.term.times, line.family.as_str())).collect();
        let expected = [
            ("pipe.roundtrip@distance=other,size=4096", 2.0, "pipe"),
            ("syscall.getppid", 0.5, "syscall"),
            ("eapbp*", 0.0, "pointers"),
        ];
        assert_eq!(shown, expected.map(|(name, times, family)| (name.to_string(), times, family)));
    }

    #[test]
    fn families_are_first_words() {
        for (id, family) in [
            ("syscall.stat", "syscall"),
            ("command: sort a.txt", "command"),
            ("SDAT/RCVD flag", "SDAT/RCVD flag"),
            ("./mine.so:sum", "./mine.so:sum"),
            ("ada", "ada"),
        ] {
            assert_eq!(family_of(id), family);
        }
        let mix = SMALL.replace("syscall.getppid", "command: mail a@b.c");
        assert_eq!(Mix::from_toml(&mix).expect("a mix").lines[1].term.operation, "command: mail a@b.c");
    }

    #[test]
    fn a_bad_mix_is_one_clear_sentence() {
        for (from, to, why) in [
            ("name = \"echo\"", "", "missing field `name`"),
            ("name = \"echo\"", "name = \" \"", "its name is empty"),
            ("unit = \"request\"", "", "missing field `unit`"),
            ("[[operation]]", "[[operation", "not a mix"),
            ("times = 2", "times = -2", "times = -2"),
            ("times = 2", "times = nan", "times = NaN"),
            ("times = 2", "times = inf", "times = inf"),
            ("times = 2", "times = 1e19", "more often"),
            ("times = 2", "times = \"2\"", "not a mix"),
            ("times = 2", "", "missing field `times`"),
            ("times = 2", "time = 2", "unknown field"),
            ("\"1.2ms\"", "\"soon\"", "'soon' is no time"),
            ("\"1.2ms\"", "1.2", "not a mix"),
            ("size=4KiB", "size", "AXIS=VALUE"),
            ("size=4KiB", "distance=same", "twice"),
            ("syscall.getppid", "@size=1", "names no operation"),
            ("whole =", "whole_units = 0\nwhole =", "whole_units = 0"),
            ("whole =", "whole_units = nan\nwhole =", "whole_units = NaN"),
            ("whole =", "whole_as = \"best\"\nwhole =", "unknown variant"),
        ] {
            let error = Mix::from_toml(&SMALL.replacen(from, to, 1)).expect_err(why).to_string();
            assert!(error.contains(why) && error.lines().count() == 1, "{error}");
        }
        assert!(matches!(Mix::from_toml("name = \"x\"\nunit = \"y\""), Err(MixError::Empty)));
        let nothing = SMALL.replace("times = 2", "times = 0").replace("0.5", "0.0");
        assert!(matches!(Mix::from_toml(&nothing), Err(MixError::Empty)));
        assert!(matches!(Mix::from_toml(&"#".repeat(MOST_BYTES + 1)), Err(MixError::TooLarge)));
        let many = "[[operation]]\noperation = \"a\"\ntimes = 1\n".repeat(MOST_LINES + 1);
        assert!(matches!(Mix::from_toml(&format!("name = \"x\"\nunit = \"y\"\n{many}")), Err(MixError::TooMany(_))));
    }
}
