//! Which operations price a call. Programs make their calls through a library, and go through many names and files, so the
//! calls they make most are priced by the family `called`; all others by the operation that times them alone.

use record::{CallCount, Point, Requests, Term, Value, WaitReason, smallest_first};

use super::list::{OperationFacts, PriceList};
use super::memory;

/// At which points of an operation a call is priced.
#[derive(Clone, Copy)]
pub(super) enum Among<'a> {
    /// Those with the most files, or with the fewest, where an operation has several.
    Files { many: bool },
    /// Those with this word of this axis.
    Word(&'a str, &'a str),
}

/// How many files the calls of a program are taken to meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// One, which stays in the caches.
    One,
    /// Another each time.
    Many,
    /// What the counts suggest: many if names are looked up more often than this.
    AsCounted,
}

/// More bytes than this that are read on and on come from memory, not from the private caches.
const STREAM: u64 = 16 << 20;

/// More files than this, with all that the kernel keeps of them, leave a core's private caches of 1 to 2 MiB.
const MANY: u64 = 1024;

/// Calls that look up a name, and calls that open one.
const LOOKS: &[&str] =
    &["stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat"];
pub(super) const OPENS: &[&str] = &["open", "openat", "openat2", "creat"];
pub(super) const ACCEPTS: &[&str] = &["accept", "accept4"];
pub(super) const FILE_WRITES: &[&str] = &["write", "pwrite64", "writev", "pwritev", "pwritev2"];
/// Files that the kernel writes when they are read.
pub(super) const WRITTEN_ANEW: [&str; 2] = ["proc", "sys"];
const LISTS: &[&str] = &["getdents", "getdents64"];
pub(super) const REMOVES: &[&str] = &["unlink", "unlinkat"];
pub(super) const RENAMES: &[&str] = &["rename", "renameat", "renameat2"];
/// Calls that close what another descriptor was, and put a copy in its place.
pub(super) const COPIES: &[&str] = &["dup2", "dup3"];
/// What prices opening a file to write it anew, closing it then, and replacing one by another.
pub(super) const EMPTIED: &str = "called.open.truncate";
const REWRITTEN: &str = "called.close.rewritten";
pub(super) const REPLACED: &str = "called.rename.over";
/// Calls that are priced by one operation at its only point.
const SINGLE: &[(&str, &str)] = &[
    ("fstat", "called.fstat"),
    ("fcntl", "called.fcntl"),
    ("lseek", "called.lseek"),
    ("mmap", "called.mmap"),
    ("munmap", "called.munmap"),
    ("accept", "called.accept"),
    ("accept4", "called.accept"),
];
/// Calls whose price grows with the bytes that they move, with the operation whose points show how.
const SIZED: &[(&str, &str)] = &[
    ("read", "called.read"),
    ("pread64", "called.read"),
    ("readv", "called.read"),
    ("preadv", "called.read"),
    ("preadv2", "called.read"),
    ("recvfrom", "called.receive"),
    ("recvmsg", "called.receive"),
];
pub(super) const MISSING: &str = "ENOENT";
/// Operations without files, and those that meet one.
pub(super) const ONE: Among = Among::Files { many: false };

/// What was asked for in all, and what prices the calls among it.
pub(super) struct Rules<'a> {
    pub list: &'a PriceList,
    pub requests: &'a Requests,
    pub met: Met,
}

impl Rules<'_> {
    /// What prices a call: by its objects as far as they are known, else by its name.
    pub(super) fn call(&self, call: &CallCount) -> Vec<Term> {
        let (mut terms, rest) = self.by_object(call);
        if rest.count > 0 {
            terms.extend(self.by_name(&rest));
        }
        terms.extend(memory::freed(self.list, call, self.requests));
        terms
    }

    fn by_name(&self, call: &CallCount) -> Vec<Term> {
        let name = call.call.as_str();
        match name {
            "socket" => self.sockets(call),
            "futex" => self.futexes(call),
            _ if self.is_send(call) => self.sends(call),
            "read" if self.is_receive(call) => self.receives(call),
            "shutdown" if self.answered(ACCEPTS) > 0 => {
                [self.at("called.shutdown", &[], call.count as f64), self.wakes(call)].concat()
            }
            _ if LOOKS.contains(&name) => self.look(call),
            _ if OPENS.contains(&name) => self.open(call),
            _ if LISTS.contains(&name) => self.listing(call),
            _ if REMOVES.contains(&name) => self.removal(call),
            _ if FILE_WRITES.contains(&name) && call.bytes.is_some() => self.writes(call),
            "copy_file_range" if call.bytes.is_some() => self.copies(call),
            "close" => self.closes(call),
            "dup2" | "dup3" => [self.alone(call), self.at(REWRITTEN, &[], self.rewritten_closed_by(call))].concat(),
            _ if RENAMES.contains(&name) => self.renames(call),
            _ => {
                match (SINGLE.iter().find(|line| line.0 == name), SIZED.iter().find(|line| line.0 == name), call.bytes)
                {
                    (Some((_, id)), ..) => self.at(id, &[], call.count as f64),
                    (_, Some((_, id)), Some(bytes)) => self.by_share(self.read_share(call), |many, share| {
                        self.sized(&[id], (call.count as f64 * share, bytes as f64 * share), Among::Files { many })
                    }),
                    _ => [self.alone(call), self.wakes(call)].concat(),
                }
            }
        }
    }

    /// A call without a price of its own: the operation that times it alone in a loop, or with others that each are priced by the
    /// same part of it.
    pub(super) fn alone(&self, call: &CallCount) -> Vec<Term> {
        let operation = self.list.alone.get(call.call.as_str()).map(|place| &self.list.operations[*place]);
        operation.map_or_else(Vec::new, |operation| {
            self.at(operation.id, &[], call.count as f64 / operation.calls.len() as f64)
        })
    }

    /// The C library asks for the attributes of an open file by a look-up of nothing, right after it has opened it.
    fn look(&self, call: &CallCount) -> Vec<Term> {
        let open: u64 = if call.call == "newfstatat" {
            let pairs = self.requests.pairs.iter();
            let after = |first: &str| OPENS.contains(&first) || ACCEPTS.contains(&first);
            pairs.filter(|pair| after(&pair.first) && pair.then == call.call).map(|pair| pair.count).sum()
        } else {
            0
        };
        // A look-up may also follow an open that failed.
        let opened = self.answered(OPENS) + self.answered(ACCEPTS);
        let open = open.min(opened).min(call.count - failed(call, MISSING));
        [self.named(call, "called.stat", open), self.at("called.fstat", &[], open as f64)].concat()
    }

    /// Files that are there, to be read or written, and files that are created.
    fn open(&self, call: &CallCount) -> Vec<Term> {
        // Files of /proc and /sys are priced by what they are, and are not created.
        let anew = OPENS.iter().flat_map(|open| WRITTEN_ANEW.map(|kind| self.on_objects(open, kind))).sum::<u64>();
        let opened = self.answered(OPENS).saturating_sub(anew).max(1);
        let own = call.count.saturating_sub(call.failed());
        let part = |of: u64, most: u64| ((of as f64 * own as f64 / opened as f64).round() as u64).min(most);
        let created = part(self.requests.creates, own);
        let written = part(self.requests.writing, own - created);
        let emptied = part(self.requests.truncating, written);
        [
            self.named(call, "called.open", created + written),
            self.at("called.create", &[], created as f64),
            self.at(EMPTIED, &[], emptied as f64),
            self.at("called.open.write", &[], (written - emptied) as f64),
        ]
        .concat()
    }

    /// A call that finds a name or does not, less those that look up nothing.
    fn named(&self, call: &CallCount, id: &str, without: u64) -> Vec<Term> {
        let missing = failed(call, MISSING);
        let found = call.count.saturating_sub(missing + without) as f64;
        let looks = self.by_share(self.first_share(), |many, share| {
            self.at(id, &[("files", Value::Number(if many { 4096 } else { 1 }))], found * share)
        });
        [looks, self.at("called.stat.missing", &[], missing as f64)].concat()
    }

    /// Each opened file is closed by its only descriptor, and so is each connection; what is left were copies.
    fn closes(&self, call: &CallCount) -> Vec<Term> {
        let answered = call.count - call.failed().min(call.count);
        // Ends that are known to be sockets are priced as such already. One that was accepted and only closed is not known.
        let known: u64 = ["tcp", "unix"].iter().map(|kind| self.on_objects("close", kind)).sum();
        let ends = self.answered(ACCEPTS) + self.on_objects("connect", "tcp");
        let connections = ends.saturating_sub(known).min(self.answered(ACCEPTS)).min(answered);
        let files = self.answered(OPENS).min(answered - connections);
        let written = files.min(self.requests.creates + self.requests.writing);
        let by_copies: f64 = self.of(COPIES).map(|copy| self.rewritten_closed_by(copy)).sum();
        let rewritten = (self.requests.truncating as f64 - by_copies).clamp(0.0, written as f64);
        [
            self.closed(connections as f64, self.on_objects("close", "tcp") as f64),
            self.at(REWRITTEN, &[], rewritten),
            self.at("called.close.write", &[], written as f64 - rewritten),
            self.at("called.close", &[], (files - written) as f64),
            self.at("called.close.copy", &[], (call.count - connections - files) as f64),
            self.wakes(call),
        ]
        .concat()
    }

    /// The last call of each listing finds its end: the one that the same call does not follow.
    fn listing(&self, call: &CallCount) -> Vec<Term> {
        let pairs = self.requests.pairs.iter();
        let again: u64 =
            pairs.filter(|pair| pair.first == call.call && pair.then == call.call).map(|pair| pair.count).sum();
        let lists = again.clamp(call.count.div_ceil(2), call.count);
        let ends = self.at("called.list", &[("entries", Value::Number(0))], (call.count - lists) as f64);
        [ends, self.sized(&["called.list"], (lists as f64, call.bytes.unwrap_or(0) as f64), ONE)].concat()
    }

    pub(super) fn of<'c>(&'c self, calls: &'c [&str]) -> impl Iterator<Item = &'c CallCount> {
        self.requests.calls.iter().filter(|call| calls.contains(&call.call.as_str()))
    }

    pub(super) fn answered(&self, calls: &[&str]) -> u64 {
        self.of(calls).map(|call| call.count.saturating_sub(call.failed())).sum()
    }

    /// How often these were called, whether they succeeded or failed.
    pub(super) fn calls(&self, calls: &[&str]) -> u64 {
        self.of(calls).map(|call| call.count).sum()
    }

    pub(super) fn slept(&self, call: &str) -> u64 {
        let waits = self.requests.waits.iter().filter(|wait| wait.call.as_deref() == Some(call));
        waits.filter(|wait| wait.reason == WaitReason::Kernel).map(|wait| wait.count).sum()
    }

    /// The share of look-ups that find nothing of a name in the private caches: the first of each name, and all if the names
    /// are too many to stay there. Where distinct names were not counted, all of them or none.
    fn first_share(&self) -> f64 {
        let looks = (self.calls(LOOKS) + self.calls(OPENS)).max(1);
        match (self.met, self.requests.distinct_names) {
            (Met::One, _) => 0.0,
            (Met::Many, _) => 1.0,
            (Met::AsCounted, Some(names)) if names > MANY => 1.0,
            (Met::AsCounted, Some(names)) => (names as f64 / looks as f64).min(1.0),
            (Met::AsCounted, None) => f64::from(self.answered(LOOKS) + self.answered(OPENS) > MANY),
        }
    }

    /// The share of reads whose bytes are not in the private caches: all if more is read, on and on, than these hold, if no
    /// name was looked up twice, or if names are too many to stay there; else one for each file that is opened for the first time.
    fn read_share(&self, call: &CallCount) -> f64 {
        let goes_on = call.call == "read" && 2 * self.calls(&["lseek"]) < call.count;
        match self.met {
            Met::One => 0.0,
            Met::Many => 1.0,
            Met::AsCounted if goes_on && call.bytes.is_some_and(|bytes| bytes > STREAM) => 1.0,
            Met::AsCounted => {
                let first = self.first_share();
                let opened = self.answered(OPENS) as f64 * first / call.count.max(1) as f64;
                if first < 1.0 { opened.min(1.0) } else { first }
            }
        }
    }

    /// The lines of the share that meets many files, and of the share that meets one.
    fn by_share(&self, many: f64, lines: impl Fn(bool, f64) -> Vec<Term>) -> Vec<Term> {
        let shares = [(true, many), (false, 1.0 - many)].into_iter().filter(|(_, share)| *share > 0.0);
        shares.flat_map(|(many, share)| lines(many, share)).collect()
    }

    pub(super) fn at(&self, id: &str, at: &[(&str, Value)], times: f64) -> Vec<Term> {
        self.list.at(id, at, times)
    }

    /// A straight line through the two nearest measured sizes, at the mean of the bytes: so many times the one, so many times
    /// the other. The price is linear between them, so the mean is all that matters. Beyond the largest it is proportional to
    /// the bytes.
    pub(super) fn sized(&self, ids: &[&str], (times, bytes): (f64, f64), among: Among) -> Vec<Term> {
        let mean = if times > 0.0 { bytes / times } else { 0.0 };
        let points = self.sizes(ids, mean, among);
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
            // What moves nothing has one price.
            (None, Some(last)) => vec![term(last, if last.0 > 0.0 { times * mean / last.0 } else { times })],
            (None, None) => Vec::new(),
        }
    }

    /// The measured sizes, the smallest first. A line may leave out sizes that the run does not have, but nothing is known of
    /// sizes below its first one, nor beyond its last one where larger ones can be measured: so many times one byte is no price.
    fn sizes(&self, ids: &[&str], mean: f64, among: Among) -> Vec<(f64, &'static str, Point)> {
        let mut points: Vec<(f64, &'static str, Point)> = Vec::new();
        for operation in ids.iter().filter_map(|id| self.list.places.get(id)).map(|place| &self.list.operations[*place])
        {
            let mine = operation.points.iter().filter(|point| is_met(operation, point, among));
            points.extend(mine.map(|(point, bytes)| (*bytes as f64, operation.id, point.clone())));
        }
        smallest_first(&mut points, |one| one.0);
        let known: Vec<_> =
            points.iter().filter(|(_, id, point)| self.list.price(id, point).is_some()).cloned().collect();
        let begins = known.first().is_some_and(|(size, ..)| *size <= mean.max(1.0));
        let largest = points.last().map(|(size, ..)| *size);
        let reaches = known.last().is_some_and(|(size, ..)| *size >= mean || Some(*size) == largest);
        if begins && reaches { known } else { points }
    }
}

/// True for the points with the word of an axis that is asked for. Else for points without an axis `files`, and for the one at their
/// size that fits best: with the most files or the fewest.
fn is_met(operation: &OperationFacts, (point, bytes): &(Point, u64), among: Among) -> bool {
    let many = match among {
        Among::Word(axis, word) => return point.word(axis) == Some(word),
        Among::Files { many } => many,
    };
    let Some(files) = point.number("files") else { return true };
    let same = operation.points.iter().filter(|(_, others)| others == bytes);
    let of_size = same.filter_map(|(other, _)| other.number("files"));
    let best = if many { of_size.max() } else { of_size.min() };
    best == Some(files)
}

pub(super) fn failed(call: &CallCount, error: &str) -> u64 {
    call.errors.iter().filter(|counted| counted.name == error).map(|counted| counted.count).sum::<u64>().min(call.count)
}
