//! Patterns: which operations, at which points, the text of a pattern selects.

use std::collections::BTreeSet;

use operation::{Item, Operation, Refused};
use record::units::bytes_of;
use record::{Point, Value};

use crate::output::Misuse;

/// An id, its first words, or a glob over ids, and the values that the point must have on some axes.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    id: glob::Pattern,
    /// The operations of the heading with this name, or those that time the system call with it, if the name is no id's.
    others: Vec<&'static str>,
    at: Vec<WantedAxis>,
}

/// What the point must be on one axis.
#[derive(Debug)]
struct WantedAxis {
    axis: String,
    value: glob::Pattern,
    /// The number that was typed, which may be one of the user's own.
    number: Option<u64>,
}

impl WantedAxis {
    fn is_met(&self, point: &Point) -> bool {
        point.0.get(&self.axis).is_some_and(|at| self.value.matches(&at.to_string()))
    }
}

impl Pattern {
    /// Reads `memory.copy`, `pipe`, `syscall.*`, `pipe.*@size=4 KiB,distance=other`, `system calls`, `address-space`,
    /// `openat2`, `call.openat2`, `syscall:openat2`, `syscall:437`, `437`.
    pub(crate) fn parse(text: &str) -> Result<Pattern, Misuse> {
        let bad = |why: String| Misuse(format!("cannot read the pattern '{}': {why}", record::printable(text)));
        let glob = |part: &str| glob::Pattern::new(part).map_err(|error| bad(error.msg.into()));
        let (id, point) = text.split_once('@').map_or((text, None), |(id, point)| (id, Some(point)));
        let mut at = Vec::new();
        for choice in point.into_iter().flat_map(|point| point.split(',')) {
            let pair = choice.split_once('=').filter(|(axis, value)| !axis.is_empty() && !value.is_empty());
            let (axis, value) = pair.ok_or_else(|| bad("a point is AXIS=VALUE,..., such as @size=64".into()))?;
            let number = bytes_of(value).or_else(|| value.parse().ok());
            let value = glob(number.map(|number| number.to_string()).as_deref().unwrap_or(value))?;
            at.push(WantedAxis { axis: axis.to_string(), value, number });
        }
        let mut pattern = Pattern { text: text.into(), id: glob(id)?, others: Vec::new(), at };
        if !catalogue::all().any(|operation| pattern.names(operation.id)) {
            pattern.others = below_heading(id).unwrap_or_else(|| timing(id));
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

    /// True if it names exactly what it means: ids, families, headings, points, `syscall:NAME`. A bare word that happens to
    /// be a system call's name may as well be a word to search for.
    pub(crate) fn is_of_ids(&self) -> bool {
        let id = self.id.as_str();
        let exact = id.starts_with("syscall:") || id.starts_with("call.") || !self.at.is_empty();
        // No word that people search for has a dot or a star in it.
        let exact = exact || id.contains(['.', '*']);
        exact || catalogue::all().any(|operation| self.names(operation.id)) || below_heading(id).is_some()
    }

    /// True if it selects this operation at this point. Axes that it does not name are free.
    pub(crate) fn means(&self, id: &str, point: &Point) -> bool {
        self.means_id(id) && (point.0.is_empty() || self.means_point(point))
    }

    /// True if it selects an operation at any point.
    pub(crate) fn selects_any(&self) -> bool {
        catalogue::all().any(|operation| !self.points(operation, true).is_empty())
    }

    /// True if it selects this operation at some point.
    pub(crate) fn selects(&self, operation: &Operation) -> bool {
        self.means_id(operation.id)
    }

    fn means_id(&self, id: &str) -> bool {
        self.names(id) || self.others.contains(&id)
    }

    /// True if it is this id or its first words, or a glob that matches the id.
    pub(crate) fn names(&self, id: &str) -> bool {
        self.matches(id) || id.strip_prefix(self.id.as_str()).is_some_and(|rest| rest.starts_with('.'))
    }

    fn means_point(&self, point: &Point) -> bool {
        self.at.iter().all(|wanted| wanted.is_met(point))
    }

    /// The points of an operation that it selects. Axes that it does not name take their headline values, or all values. A
    /// number that is none of an axis's values but within its bounds makes a point of the user's own.
    fn points(&self, operation: &Operation, full: bool) -> Vec<Point> {
        if !self.means_id(operation.id) {
            return Vec::new();
        }
        let own: Vec<(&WantedAxis, u64)> = self.own(operation).collect();
        let headline = if full { Vec::new() } else { operation.points(true) };
        let usual = |point: &Point| {
            let free = point.0.iter().filter(|(axis, _)| !self.at.iter().any(|spoken| spoken.axis == **axis));
            free.into_iter().all(|(axis, value)| headline.iter().any(|usual| usual.0.get(axis) == Some(value)))
        };
        let taken = operation.points(false).into_iter().filter(|point| full || usual(point)).map(|point| {
            own.iter().fold(point, |point, (wanted, number)| {
                let unit = operation.axis(&wanted.axis).map(|axis| axis.unit).unwrap_or_default();
                point.with(&wanted.axis, Value::Number(*number).in_unit(unit))
            })
        });
        let mut points: Vec<Point> = taken.filter(|point| self.means_point(point)).collect();
        if !own.is_empty() {
            let mut known = BTreeSet::new();
            points.retain(|point| known.insert(point.clone()));
        }
        points
    }

    /// The numbers of the user's own that it has, on axes of this operation that take them.
    fn own<'a>(&'a self, operation: &'a Operation) -> impl Iterator<Item = (&'a WantedAxis, u64)> {
        self.at.iter().filter_map(|wanted| {
            let (axis, number) = (operation.axis(&wanted.axis)?, wanted.number?);
            let listed = axis.values.contains(&Value::Number(number));
            (!listed && axis.takes(number).is_ok()).then_some((wanted, number))
        })
    }

    /// Why the first of the numbers that it has is none of this operation.
    fn refused(&self, operation: &Operation) -> Option<Refused> {
        self.at.iter().find_map(|wanted| operation.axis(&wanted.axis)?.takes(wanted.number?).err())
    }

    fn matches_nothing(&self) -> Misuse {
        let named: Vec<&Operation> = catalogue::all().filter(|operation| self.means_id(operation.id)).collect();
        let text = record::printable(&self.text);
        let Some(first) = named.first() else {
            return Misuse(match untimed(self.id.as_str()) {
                Some(reason) => format!("no operation times the system call '{text}': {reason}"),
                None => {
                    let found = crate::find::hint(self.id.as_str());
                    let near = nearest(self.id.as_str());
                    format!("no operation is called '{text}'; {near}{found}`howslow list` shows all")
                }
            });
        };
        let outside = |operation: &&Operation| match self.refused(operation) {
            Some(why @ Refused::Outside { .. }) => Some(format!("{}: {why}", operation.id)),
            _ => None,
        };
        let no_point = || format!("no point matches '{text}'; {} is measured {}", first.id, points_of(first));
        Misuse(named.iter().find_map(outside).unwrap_or_else(no_point))
    }
}

/// The points of an operation in a sentence: `at @size=1 @size=64`.
pub(crate) fn points_of(operation: &Operation) -> String {
    let points: Vec<String> = operation.points(false).iter().map(Point::typed).collect();
    let shown = few(&points, 8, " ");
    if shown.trim().is_empty() { "without a point".into() } else { format!("at {shown}") }
}

/// The first of these texts, and dots if there are more.
pub(crate) fn few(all: &[impl AsRef<str>], most: usize, gap: &str) -> String {
    let dots = (all.len() > most).then_some("...");
    all.iter().take(most).map(AsRef::as_ref).chain(dots).collect::<Vec<&str>>().join(gap)
}

/// The operations that patterns select, in the order of the registry. Without a pattern: every operation.
/// Refuses a pattern that selects nothing, with the nearest names.
pub(crate) fn choose(patterns: &[Pattern], full: bool) -> Result<Vec<Item>, Misuse> {
    if patterns.is_empty() && full {
        return Ok(catalogue::all().flat_map(Item::all_of).collect());
    }
    let everything = patterns.is_empty().then(|| Pattern::parse("*")).transpose()?;
    let patterns: Vec<&Pattern> = patterns.iter().chain(&everything).collect();
    for pattern in &patterns {
        if !pattern.selects_any() {
            return Err(pattern.matches_nothing());
        }
    }
    let mut items = Vec::new();
    for operation in catalogue::all() {
        let meant: Vec<Point> = patterns.iter().flat_map(|pattern| pattern.points(operation, full)).collect();
        let listed = operation.points(false);
        let own: BTreeSet<Point> = meant.iter().filter(|point| !listed.contains(point)).cloned().collect();
        let points = listed.into_iter().filter(|point| meant.contains(point)).chain(own);
        items.extend(points.map(|point| Item { operation, point }));
    }
    Ok(items)
}

/// The operations below the heading with this name: as it is shown, or with dashes for blanks.
fn below_heading(name: &str) -> Option<Vec<&'static str>> {
    let plain =
        |text: &str| text.to_lowercase().replace(['-', ','], " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let family = catalogue::FAMILIES.iter().find(|family| plain(family.title) == plain(name))?;
    Some(family.operations().map(|operation| operation.id).collect())
}

/// The operations that time the system call with this name.
fn timing(id: &str) -> Vec<&'static str> {
    catalogue::timing(called(id)).map(|operation| operation.id).collect()
}

/// The system call that `openat2`, `call.openat2`, `syscall:openat2`, `syscall:437` and `437` name.
fn called(id: &str) -> &str {
    let named = id.strip_prefix("syscall:").or_else(|| id.strip_prefix("call.")).unwrap_or(id);
    let numbered = |number: i32| catalogue::every_call().into_iter().find(|call| call.number == number);
    named.parse().ok().and_then(numbered).map_or(named, |call| call.name)
}

/// Why no operation times the system call with this name; `None` if there is no such call.
fn untimed(id: &str) -> Option<&'static str> {
    let call = catalogue::every_call().into_iter().find(|call| call.name == called(id))?;
    call.operation.is_none().then_some(call.reason.unwrap_or("howslow has no operation for it"))
}

/// Like [`nearest_of`], among operations, families and timed system calls.
fn nearest(wanted: &str) -> String {
    let named =
        |operation: &'static Operation| [operation.id, operation.family()].into_iter().chain(operation.system_calls());
    nearest_of(wanted, catalogue::all().flat_map(named).collect())
}

/// How many slips of the keyboard turn one word into the other, if they are near in spelling.
pub(crate) fn slips(wanted: &str, name: &str) -> Option<usize> {
    /// A slip changes one letter of this many, and seldom the first.
    const LETTERS: usize = 5;
    let slips = strsim::osa_distance(wanted, name);
    let near = slips <= (wanted.chars().count() / LETTERS).max(1) && name.chars().next() == wanted.chars().next();
    near.then_some(slips)
}

/// `did you mean pipe.self or pipe.roundtrip? `, or nothing if no name is near in spelling.
pub(crate) fn nearest_of(wanted: &str, mut names: Vec<&str>) -> String {
    names.sort_unstable();
    names.dedup();
    let mut near: Vec<(usize, &str)> =
        names.into_iter().filter_map(|name| slips(wanted, name).map(|slips| (slips, name))).collect();
    near.sort_unstable();
    let near: Vec<&str> = near.iter().take(3).map(|(_, name)| *name).collect();
    if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use operation::{size, word};

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
    fn a_number_of_the_user_s_own_is_a_point_within_the_bounds_of_its_axis() {
        const FREE: Operation = Operation {
            axes: &[
                PIPE.axes[0],
                size(&[Value::Number(1), Value::Number(64)]).headline(&[Value::Number(64)]).in_steps(4, 4, 4096),
            ],
            has_point: |point| point.word("distance") == Some("same") || point.number("size") == Some(1),
            ..PIPE
        };
        let points_of = |text: &str, full: bool| -> Vec<String> {
            let pattern = Pattern::parse(text).expect("a pattern");
            pattern.points(&FREE, full).iter().map(Point::to_string).collect()
        };
        let points = |text: &str| points_of(text, false);
        assert_eq!(points("pipe@size=100"), ["@distance=same,size=100"], "the other axes take their headline values");
        assert_eq!(points_of("pipe@size=100", true), ["@distance=same,size=100", "@distance=other,size=100"]);
        assert_eq!(points("pipe@size=1KiB,distance=same"), ["@distance=same,size=1024"]);
        assert_eq!(points("pipe@size=64"), ["@distance=same,size=64"], "its own points are as they were");
        for outside in ["pipe@size=8192", "pipe@size=6", "pipe@size=0", "pipe@distance=7", "pipe@tasks=4"] {
            assert!(points(outside).is_empty(), "{outside}");
        }
        let pattern = Pattern::parse("pipe@size=8192").expect("a pattern");
        let why = pattern.refused(&FREE).expect("refused").to_string();
        assert!(why.contains("from 4 B to 4 KiB"), "{why}");
    }

    #[test]
    fn a_heading_means_what_is_below_it() {
        for family in catalogue::FAMILIES {
            let dashed = family.title.replace(", ", "-").replace(' ', "-");
            for text in [family.title, &dashed, &family.title.to_uppercase()] {
                let items =
                    choose(&[Pattern::parse(text).expect("a pattern")], true).unwrap_or_else(|why| panic!("{why}"));
                let means = |id: &str| items.iter().any(|item| item.operation.id == id);
                // The name of a family of ids comes first.
                let is_family = catalogue::all().any(|operation| operation.family() == text);
                assert!(is_family || family.operations().all(|operation| means(operation.id)), "{text}");
            }
        }
    }

    #[test]
    fn a_suggestion_is_near_in_spelling() {
        for text in ["huge", "wake", "uring", "lat_ctx", "database", "xyz"] {
            assert_eq!(nearest(text), "", "{text}");
        }
    }

    #[test]
    fn a_system_call_means_what_times_it() {
        let chosen = |text: &str| -> Vec<&str> {
            let items = choose(&[Pattern::parse(text).expect("a pattern")], false).expect(text);
            items.iter().map(|item| item.operation.id).collect()
        };
        let ids = chosen("openat");
        assert!(ids.contains(&"syscall.open.close") && ids.contains(&"call.openat"), "{ids:?}");
        let opens = |id: &Operation| id.system_calls().any(|call| call == "openat");
        assert!(ids.iter().all(|id| catalogue::find(id).is_some_and(opens)));
        assert_eq!(chosen("call.openat"), ["call.openat"]);
        assert_eq!(chosen("syscall:openat"), ids);
        let number = catalogue::every_call().into_iter().find(|call| call.name == "openat").expect("a call").number;
        assert_eq!((chosen(&format!("syscall:{number}")), chosen(&number.to_string())), (ids.clone(), ids));
        // A family or an id takes precedence over calls with similar names.
        assert!(chosen("pipe").iter().all(|id| id.starts_with("pipe.")));
        for text in ["opena*", "openat@size=1"] {
            let wanted = choose(&[Pattern::parse(text).expect("a pattern")], false);
            assert!(wanted.is_err() || text.contains('*'), "{text}");
        }
    }
}
