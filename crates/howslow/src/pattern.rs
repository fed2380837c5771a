//! Patterns: which operations, at which points, the text of a pattern selects.

use operation::{Item, Operation};
use record::Point;
use record::units::bytes_of;

use crate::output::Misuse;

/// An id, its first words, or a glob over ids, and the values that the point must have on some axes.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    id: glob::Pattern,
    /// The operation that times the system call with this name, if the name has no other meaning.
    timing: Vec<&'static str>,
    at: Vec<(String, glob::Pattern)>,
}

impl Pattern {
    /// Reads `memory.copy`, `pipe`, `syscall.*`, `pipe.*@size=4KiB,distance=other`, `openat2`, `call.openat2`.
    ///
    /// # Errors
    /// A glob or a point that cannot be read.
    pub(crate) fn parse(text: &str) -> Result<Pattern, Misuse> {
        let bad = |why: String| Misuse(format!("cannot read the pattern '{}': {why}", record::printable(text)));
        let glob = |part: &str| glob::Pattern::new(part).map_err(|error| bad(error.msg.into()));
        let (id, point) = text.split_once('@').map_or((text, None), |(id, point)| (id, Some(point)));
        let mut at = Vec::new();
        for choice in point.into_iter().flat_map(|point| point.split(',')) {
            let pair = choice.split_once('=').filter(|(axis, value)| !axis.is_empty() && !value.is_empty());
            let (axis, value) = pair.ok_or_else(|| bad("a point is AXIS=VALUE,..., such as @size=64".into()))?;
            let bytes = bytes_of(value).map(|bytes| bytes.to_string());
            at.push((axis.to_string(), glob(bytes.as_deref().unwrap_or(value))?));
        }
        let mut pattern = Pattern { text: text.into(), id: glob(id)?, timing: Vec::new(), at };
        if !operations::all().any(|operation| pattern.names(operation.id)) {
            pattern.timing = operations::timing(called(id)).map(|operation| operation.id).collect();
        }
        Ok(pattern)
    }

    /// The text of the pattern.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// True if it restricts the point.
    pub(crate) fn has_point(&self) -> bool {
        !self.at.is_empty()
    }

    /// True if this name is equal to its name, or matches its glob.
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.id.matches(name)
    }

    /// True if it names one operation or family, so that its absence from the run must be reported.
    pub(crate) fn is_by_name(&self) -> bool {
        !self.id.as_str().contains(['*', '?', '['])
    }

    /// True if it selects this operation at this point. Axes that it does not name are free.
    pub(crate) fn means(&self, id: &str, point: &Point) -> bool {
        self.means_id(id) && (point.0.is_empty() || self.means_point(point))
    }

    fn means_id(&self, id: &str) -> bool {
        self.names(id) || self.timing.contains(&id)
    }

    /// True if it is this id or its first words, or a glob that matches the id.
    pub(crate) fn names(&self, id: &str) -> bool {
        self.matches(id) || id.strip_prefix(self.id.as_str()).is_some_and(|rest| rest.starts_with('.'))
    }

    fn means_point(&self, point: &Point) -> bool {
        let meets =
            |axis: &str, wanted: &glob::Pattern| point.0.get(axis).is_some_and(|at| wanted.matches(&at.to_string()));
        self.at.iter().all(|(axis, wanted)| meets(axis, wanted))
    }

    /// The points of an operation that it selects. Axes that it does not name take their headline values, or all values.
    fn points(&self, operation: &Operation, full: bool) -> Vec<Point> {
        if !self.means_id(operation.id) {
            return Vec::new();
        }
        let headline = operation.points(true);
        let usual = |point: &Point| {
            let free = point.0.iter().filter(|(axis, _)| !self.at.iter().any(|(spoken, _)| spoken == *axis));
            free.into_iter().all(|(axis, value)| headline.iter().any(|usual| usual.0.get(axis) == Some(value)))
        };
        let all = operation.points(false).into_iter();
        all.filter(|point| self.means_point(point) && (full || usual(point))).collect()
    }

    fn matches_nothing(&self) -> Misuse {
        let named: Vec<&Operation> = operations::all().filter(|operation| self.means_id(operation.id)).collect();
        let text = record::printable(&self.text);
        match named.as_slice() {
            [] => Misuse(match untimed(self.id.as_str()) {
                Some(reason) => format!("no operation times the system call '{text}': {reason}"),
                None => {
                    format!("no operation is called '{text}'; {}`howslow list` shows all", nearest(self.id.as_str()))
                }
            }),
            [operation, ..] => {
                let points: Vec<String> = operation.points(false).iter().map(Point::to_string).collect();
                let shown = match points.len() {
                    0..=8 => points.join(" "),
                    _ => format!("{} ...", points[..8].join(" ")),
                };
                let shown = if shown.trim().is_empty() { "without a point".into() } else { format!("at {shown}") };
                Misuse(format!("no point matches '{text}'; {} is measured {shown}", operation.id))
            }
        }
    }
}

/// The operations that patterns select, in the order of the registry. Without a pattern: every operation.
///
/// # Errors
/// A pattern that selects nothing, with the nearest names.
pub(crate) fn choose(patterns: &[Pattern], full: bool) -> Result<Vec<Item>, Misuse> {
    let everything = patterns.is_empty().then(|| Pattern::parse("*")).transpose()?;
    let patterns: Vec<&Pattern> = patterns.iter().chain(&everything).collect();
    for pattern in &patterns {
        if !operations::all().any(|operation| !pattern.points(operation, true).is_empty()) {
            return Err(pattern.matches_nothing());
        }
    }
    let mut items = Vec::new();
    for operation in operations::all() {
        let meant: Vec<Point> = patterns.iter().flat_map(|pattern| pattern.points(operation, full)).collect();
        let points = operation.points(false).into_iter().filter(|point| meant.contains(point));
        items.extend(points.map(|point| Item { operation, point }));
    }
    Ok(items)
}

/// The system call that `openat2` and `call.openat2` name.
fn called(id: &str) -> &str {
    id.strip_prefix("call.").unwrap_or(id)
}

/// Why no operation times the system call with this name; `None` if there is no such call.
fn untimed(id: &str) -> Option<&'static str> {
    let call = operations::every_call().into_iter().find(|call| call.name == called(id))?;
    call.operation.is_none().then_some(call.reason.unwrap_or("howslow has no operation for it"))
}

/// Like [`nearest_of`], among operations, families and timed system calls.
fn nearest(wanted: &str) -> String {
    let named = |operation: &'static Operation| {
        [operation.id, operation.family()].into_iter().chain(operation.calls.iter().copied())
    };
    nearest_of(wanted, operations::all().flat_map(named).collect())
}

/// `did you mean pipe.self or pipe.roundtrip? `, or nothing if no name is near.
pub(crate) fn nearest_of(wanted: &str, mut names: Vec<&str>) -> String {
    names.sort_unstable();
    names.dedup();
    let mut near: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    let near: Vec<&str> = near.iter().take(3).map(|(_, name)| *name).collect();
    if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use operation::{Value, size, word};

    use super::*;

    const PIPE: Operation = Operation {
        id: "pipe.roundtrip",
        axes: &[
            word("distance", &[Value::Word("same"), Value::Word("other")]),
            size(&[Value::Number(1), Value::Number(64), Value::Number(4096)]).headline(&[Value::Number(64)]),
        ],
        ..Operation::DEFAULT
    };

    fn meant(text: &str, full: bool) -> Vec<String> {
        let pattern = Pattern::parse(text).expect("a pattern");
        pattern.points(&PIPE, full).iter().map(Point::to_string).collect()
    }

    #[test]
    fn a_pattern_means_ids_families_globs_and_points() {
        let headline = ["@distance=same,size=64", "@distance=other,size=64"];
        for text in ["pipe.roundtrip", "pipe", "pipe.*", "*", "p?pe.*", "*trip"] {
            assert_eq!(meant(text, false), headline, "{text}");
            assert_eq!(meant(text, true).len(), 6, "{text}");
        }
        for text in ["pip", "roundtrip", "pipe.roundtrip.x", "", "PIPE"] {
            assert!(meant(text, true).is_empty(), "{text}");
        }
        assert_eq!(meant("pipe@size=4KiB", false), ["@distance=same,size=4096", "@distance=other,size=4096"]);
        assert_eq!(meant("pipe@size=1,distance=other", false), ["@distance=other,size=1"]);
        assert_eq!(meant("pipe@size=*,distance=same", false).len(), 3);
        assert!(meant("pipe@size=2", true).is_empty());
        assert!(meant("pipe@tasks=2", true).is_empty());
    }

    #[test]
    fn a_pattern_that_cannot_be_read_says_why() {
        for text in ["pipe@", "pipe@size", "pipe@=1", "pipe@size=", "pipe[", "a***b", "pipe@size=[", "@@"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_unknown_name_brings_the_nearest() {
        let error = choose(&[Pattern::parse("loop.emtpy").expect("a pattern")], false).err().expect("unknown");
        assert!(error.0.contains("loop.empty"), "{error}");
        let error = choose(&[Pattern::parse("loop.empty@size=1").expect("a pattern")], false).err().expect("unknown");
        assert!(error.0.contains("without a point"), "{error}");
    }

    #[test]
    fn a_system_call_means_what_times_it() {
        let chosen = |text: &str| -> Vec<&str> {
            let items = choose(&[Pattern::parse(text).expect("a pattern")], false).expect(text);
            items.iter().map(|item| item.operation.id).collect()
        };
        let ids = chosen("openat");
        assert!(ids.contains(&"syscall.open.close") && ids.contains(&"call.openat"), "{ids:?}");
        assert!(ids.iter().all(|id| operations::find(id).is_some_and(|found| found.calls.contains(&"openat"))));
        assert_eq!(chosen("call.openat"), ["call.openat"]);
        // A family or an id takes precedence over calls with similar names.
        assert!(chosen("pipe").iter().all(|id| id.starts_with("pipe.")));
        for text in ["opena*", "openat@size=1"] {
            let wanted = choose(&[Pattern::parse(text).expect("a pattern")], false);
            assert!(wanted.is_err() || text.contains('*'), "{text}");
        }
    }
}
