//! Which operations price a call. Programs make their calls through a library, and go through many names and files, so the
//! calls they make most are priced by the family `called`; all others by the operation that times them alone.

use analysis::bill::CALLS;
use operation::Operation;
use record::{CallCount, MixLine, Observation, Point, Term, Value};

use super::kept::Kept;

/// How many files the calls of a program are taken to meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// One, which stays in the caches.
    One,
    /// Another each time.
    Many,
    /// What the counts suggest: many if names are looked up more often than this.
    AsCounted,
}

/// More files than this, with all that the kernel keeps of them, leave a core's private caches of 1 to 2 MiB.
const MANY: u64 = 1024;

/// Calls that look up a name, and calls that open one.
const LOOKS: &[&str] =
    &["stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat"];
const OPENS: &[&str] = &["open", "openat", "openat2", "creat"];
const ACCEPTS: &[&str] = &["accept", "accept4"];
const LISTS: &[&str] = &["getdents", "getdents64"];
/// Calls that are priced by one operation at its only point.
const SINGLE: &[(&str, &str)] = &[
    ("fstat", "called.fstat"),
    ("fcntl", "called.fcntl"),
    ("lseek", "called.lseek"),
    // Threads that wait and are woken have their own line: switches.
    ("futex", "called.futex"),
    ("mmap", "called.mmap"),
    ("munmap", "called.munmap"),
    ("accept", "called.accept"),
    ("accept4", "called.accept"),
];
/// Calls whose price grows with the bytes that they move, with the operations whose points tell how.
const SIZED: &[(&str, &[&str])] = &[
    ("read", &["called.read"]),
    ("pread64", &["called.read"]),
    ("write", &["syscall.write.null", "called.append"]),
    ("pwrite64", &["syscall.write.null", "called.append"]),
    ("sendto", &["called.send"]),
    ("recvfrom", &["called.receive"]),
];
const MISSING: &str = "ENOENT";

/// The calls of an observation, and what prices them.
pub(super) struct Choice<'a> {
    pub kept: &'a Kept,
    pub seen: &'a Observation,
    pub met: Met,
}

impl Choice<'_> {
    /// What prices a call. Each line's note is the row of the bill that it belongs to.
    pub(super) fn call(&self, call: &CallCount) -> Vec<MixLine> {
        let name = call.call.as_str();
        let lines = match name {
            _ if LOOKS.contains(&name) => self.look(call),
            _ if OPENS.contains(&name) => self.named(call, "called.open", 0),
            _ if LISTS.contains(&name) => self.listing(call),
            "close" => self.closes(call),
            _ => match (SINGLE.iter().find(|it| it.0 == name), SIZED.iter().find(|it| it.0 == name), call.bytes) {
                (Some((_, id)), ..) => self.at(id, &[], call.count),
                (_, Some((_, ids)), Some(bytes)) => self.sized(ids, call.count as f64, bytes as f64),
                _ => self.alone(call),
            },
        };
        lines.into_iter().map(|term| MixLine { term, family: CALLS.into(), note: Some(name.into()) }).collect()
    }

    /// A call without a price of its own: the operation that times it alone, in a loop.
    fn alone(&self, call: &CallCount) -> Vec<Term> {
        let timing = operations::timing(&call.call).filter(|it| !it.refused && it.family() != "called");
        let Some(operation) = timing.min_by_key(|operation| operation.calls.len()) else { return Vec::new() };
        vec![Term { times: call.count as f64, operation: operation.id.into(), at: self.kept.point(operation) }]
    }

    /// The C library asks for the attributes of an open file by a look-up of nothing, right after it has opened it.
    fn look(&self, call: &CallCount) -> Vec<Term> {
        let open: u64 = if call.call == "newfstatat" {
            let pairs = self.seen.together.pairs.iter();
            let after = |first: &str| OPENS.contains(&first) || ACCEPTS.contains(&first);
            pairs.filter(|pair| after(&pair.first) && pair.then == call.call).map(|pair| pair.count).sum()
        } else {
            0
        };
        // A look-up may also follow an open that failed.
        let opened = self.answered(OPENS) + self.answered(ACCEPTS);
        let open = open.min(opened).min(call.count - failed(call, MISSING));
        let mut terms = self.named(call, "called.stat", open);
        terms.extend(self.at("called.fstat", &[], open));
        terms
    }

    /// A call that finds a name or does not, less those that look up nothing.
    fn named(&self, call: &CallCount, id: &str, without: u64) -> Vec<Term> {
        let missing = failed(call, MISSING);
        let found = call.count.saturating_sub(missing + without);
        let mut terms = self.at(id, &[self.files()], found);
        terms.extend(self.at("called.stat.missing", &[], missing));
        terms
    }

    /// Each opened file is closed by its only descriptor, and so is each connection; what is left were copies.
    fn closes(&self, call: &CallCount) -> Vec<Term> {
        let answered = call.count - call.failed().min(call.count);
        let connections = self.answered(ACCEPTS).min(answered);
        let files = self.answered(OPENS).min(answered - connections);
        let mut terms = self.at("called.close.connection", &[], connections);
        terms.extend(self.at("called.close", &[], files));
        terms.extend(self.at("called.close.copy", &[], call.count - connections - files));
        terms
    }

    /// The last call of each listing finds its end: the one that the same call does not follow.
    fn listing(&self, call: &CallCount) -> Vec<Term> {
        let pairs = self.seen.together.pairs.iter();
        let again: u64 = pairs.filter(|it| it.first == call.call && it.then == call.call).map(|it| it.count).sum();
        let lists = again.clamp(call.count.div_ceil(2), call.count);
        let mut terms = self.at("called.list", &[("entries", Value::Number(0))], call.count - lists);
        terms.extend(self.sized(&["called.list"], lists as f64, call.bytes.unwrap_or(0) as f64));
        terms
    }

    fn answered(&self, calls: &[&str]) -> u64 {
        let counts = self.seen.together.calls.iter().filter(|call| calls.contains(&call.call.as_str()));
        counts.map(|call| call.count.saturating_sub(call.failed())).sum()
    }

    /// The point of the axis `files` that fits.
    fn files(&self) -> (&'static str, Value) {
        let many = match self.met {
            Met::One => false,
            Met::Many => true,
            Met::AsCounted => self.answered(LOOKS) + self.answered(OPENS) > MANY,
        };
        ("files", Value::Number(if many { 4096 } else { 1 }))
    }

    /// An operation at the point with these values, if it is to be done at all.
    fn at(&self, id: &str, at: &[(&str, Value)], times: u64) -> Vec<Term> {
        let Some(operation) = operations::find(id).filter(|_| times > 0) else { return Vec::new() };
        let points = operation.points(false).into_iter().find(|point| has_values(point, at));
        vec![Term { times: times as f64, operation: id.into(), at: points.unwrap_or_default() }]
    }

    /// A straight line through the two nearest measured sizes, at the mean of the bytes: so many times the one, so many times
    /// the other. The price is linear between them, so the mean is all that matters. Beyond the largest it is proportional to
    /// the bytes.
    fn sized(&self, ids: &[&str], times: f64, bytes: f64) -> Vec<Term> {
        let mean = bytes / times.max(1.0);
        let points = self.sizes(ids, mean);
        let term = |(_, id, at): &(f64, &'static str, Point), times: f64| Term {
            times,
            operation: (*id).into(),
            at: at.clone(),
        };
        let above = points.iter().position(|(size, ..)| *size >= mean);
        match (above, points.last()) {
            _ if times == 0.0 => Vec::new(),
            (Some(0), _) => vec![term(&points[0], times)],
            (Some(above), _) => {
                let (small, large) = (&points[above - 1], &points[above]);
                let part = (mean - small.0) / (large.0 - small.0);
                let both = [term(small, times * (1.0 - part)), term(large, times * part)];
                both.into_iter().filter(|term| term.times > 0.0).collect()
            }
            (None, Some(last)) => vec![term(last, times * mean / last.0)],
            (None, None) => Vec::new(),
        }
    }

    /// The measured sizes, the smallest first. A line may leave out sizes that the run does not have, but nothing is told of
    /// sizes below its first one, nor beyond its last one where larger ones can be measured: so many times one byte is no price.
    fn sizes(&self, ids: &[&str], mean: f64) -> Vec<(f64, &'static str, Point)> {
        let mut points: Vec<(f64, &'static str, Point)> = Vec::new();
        for operation in ids.iter().filter_map(|id| operations::find(id)) {
            let all = operation.points(false);
            let mine = all.iter().filter(|point| self.is_met(operation, point, &all));
            points.extend(mine.map(|point| ((operation.moves)(point) as f64, operation.id, point.clone())));
        }
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let known: Vec<_> = points.iter().filter(|(_, id, point)| self.kept.has(id, point)).cloned().collect();
        let begins = known.first().is_some_and(|(size, ..)| *size <= mean.max(1.0));
        let largest = points.last().map(|(size, ..)| *size);
        let reaches = known.last().is_some_and(|(size, ..)| *size >= mean || Some(*size) == largest);
        if begins && reaches { known } else { points }
    }

    /// True for points without an axis `files`, and for the one at their size that fits best: with the fewest files or the most.
    fn is_met(&self, operation: &Operation, point: &Point, all: &[Point]) -> bool {
        let (axis, wanted) = self.files();
        let Some(files) = point.number(axis) else { return true };
        let same = all.iter().filter(|other| (operation.moves)(other) == (operation.moves)(point));
        let of_size = same.filter_map(|other| other.number(axis));
        let best = if wanted == Value::Number(1) { of_size.min() } else { of_size.max() };
        best == Some(files)
    }
}

fn has_values(point: &Point, at: &[(&str, Value)]) -> bool {
    at.iter().all(|(axis, value)| point.0.get(*axis) == Some(value))
}

/// How often a call failed with this error.
fn failed(call: &CallCount, error: &str) -> u64 {
    call.errors.iter().filter(|it| it.name == error).map(|it| it.count).sum::<u64>().min(call.count)
}

#[cfg(test)]
mod tests {
    use record::{NamedCount, PairCount, Requests};

    use super::*;

    fn call(name: &str, count: u64, missing: u64, bytes: Option<u64>) -> CallCount {
        let errors = vec![NamedCount { name: MISSING.into(), count: missing }];
        let errors = errors.into_iter().filter(|error| error.count > 0).collect();
        CallCount { call: name.into(), count, bytes, errors }
    }

    /// The lines of the first call, as names and times.
    fn chosen(calls: &[CallCount], pairs: &[(&str, &str, u64)], met: Met) -> Vec<(String, f64)> {
        let pair = |it: &(&str, &str, u64)| PairCount { first: it.0.into(), then: it.1.into(), count: it.2 };
        let pairs = pairs.iter().map(pair).collect();
        let together = Requests { calls: calls.to_vec(), pairs, ..Requests::default() };
        let seen = Observation { together, ..Observation::default() };
        let lines = Choice { kept: &Kept::nothing(), seen: &seen, met }.call(&calls[0]);
        assert!(lines.iter().all(|line| line.note.as_deref() == Some(calls[0].call.as_str())));
        lines.iter().map(|line| (line.name(), line.term.times)).collect()
    }

    fn lines(of: &[(&str, f64)]) -> Vec<(String, f64)> {
        of.iter().map(|(name, times)| ((*name).into(), *times)).collect()
    }

    #[test]
    fn look_ups_are_of_many_names_where_there_were_many() {
        let few = [call("newfstatat", 100, 0, None)];
        assert_eq!(chosen(&few, &[], Met::AsCounted), lines(&[("called.stat@files=1", 100.0)]));
        assert_eq!(chosen(&few, &[], Met::Many), lines(&[("called.stat@files=4096", 100.0)]));
        let many = [call("newfstatat", 900, 300, None), call("openat", 600, 50, None)];
        let expected =
            lines(&[("called.stat@files=4096", 100.0), ("called.stat.missing", 300.0), ("called.fstat", 500.0)]);
        assert_eq!(chosen(&many, &[("openat", "newfstatat", 500)], Met::AsCounted), expected);
        assert_eq!(chosen(&many, &[("openat", "newfstatat", 500)], Met::One)[0].0, "called.stat@files=1");
    }

    #[test]
    fn closes_are_those_of_connections_of_files_and_of_copies() {
        let calls = [call("close", 100, 0, None), call("openat", 60, 20, None), call("accept4", 10, 0, None)];
        let expected = [("called.close.connection", 10.0), ("called.close", 40.0), ("called.close.copy", 50.0)];
        assert_eq!(chosen(&calls, &[], Met::One), lines(&expected));
    }

    #[test]
    fn a_listing_ends_by_a_call_that_finds_its_end() {
        let calls = [call("getdents64", 30, 0, Some(20 * 304))];
        let twice = [("getdents64", "getdents64", 20)];
        let expected = [("called.list@entries=0", 10.0), ("called.list@entries=8", 20.0)];
        assert_eq!(chosen(&calls, &twice, Met::One), lines(&expected));
    }

    #[test]
    fn sizes_lie_on_a_line_and_one_byte_is_no_page() {
        let half = chosen(&[call("read", 10, 0, Some(10 * 2048))], &[], Met::One);
        assert_eq!(half, lines(&[("called.read@files=1,size=0", 5.0), ("called.read@files=1,size=4096", 5.0)]));
        let cold = chosen(&[call("read", 10, 0, Some(10 << 17))], &[], Met::Many);
        assert_eq!(cold, lines(&[("called.read@files=256,size=65536", 20.0)]));
        assert_eq!(chosen(&[call("write", 7, 0, Some(7))], &[], Met::One), lines(&[("syscall.write.null", 7.0)]));
    }

    #[test]
    fn a_run_that_has_one_byte_alone_prices_no_pages() {
        let book = crate::resolve::run("pdp-11-24").expect("a book");
        let one =
            record::Cost { operation: "syscall.write.null".into(), at: Point::default(), ..book.costs[0].clone() };
        let kept = Kept::of(record::Run { costs: vec![one], ..book });
        let seen = Observation::default();
        let choice = Choice { kept: &kept, seen: &seen, met: Met::One };
        let large = choice.call(&call("write", 3, 0, Some(3 * 40_000)));
        assert!(!large.is_empty() && large.iter().all(|line| line.term.operation != "syscall.write.null"), "{large:?}");
        let small = choice.call(&call("write", 7, 0, Some(7)));
        assert_eq!((small[0].term.operation.as_str(), small[0].term.times), ("syscall.write.null", 7.0));
    }

    #[test]
    fn other_calls_are_priced_by_what_times_them_alone() {
        assert_eq!(chosen(&[call("getppid", 3, 0, None)], &[], Met::Many)[0].1, 3.0);
        assert_eq!(chosen(&[call("mkdirat", 2, 0, None)], &[], Met::Many), lines(&[("call.mkdirat", 2.0)]));
    }
}
