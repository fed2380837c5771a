//! Calls by what they are made on: a read of a pipe, of a file of /proc and of a file on a device have little in common.

use record::{CallCount, ObjectCount, Term, Value};

use super::list::PAIRS;
use super::rules::{ACCEPTS, ONE, OPENS, Rules, WRITTEN_ANEW};

/// Errors that say that nothing has come yet, or that there is no room.
const NOTHING_YET: [&str; 2] = ["EAGAIN", "EINPROGRESS"];
const READS: &[&str] = &["read", "pread64", "readv", "recvfrom", "recvmsg"];
const WRITES: &[&str] = &["write", "pwrite64", "writev", "sendto", "sendmsg"];
const SOCKETS: &[&str] = &["tcp", "udp", "unix", "socket"];

impl Rules<'_> {
    /// What prices a call whose objects are known, and the part of the call for which they are not.
    pub(super) fn by_object(&self, call: &CallCount) -> (Vec<Term>, CallCount) {
        let (mut rest, mut terms) = (call.clone(), Vec::new());
        for object in &call.objects {
            let sent = (object.object == "tcp" && WRITES.contains(&call.call.as_str())).then(|| {
                let none = self.nothing_yet(call, object);
                let (count, bytes) = (object.count - none.round() as u64, object.bytes);
                // Messages to tasks that sleep hold the wake-up: one each.
                let wakes = rest.wakes.min(count);
                rest.wakes -= wakes;
                rest.near_wakes = rest.near_wakes.min(rest.wakes);
                let sent = self.sends(&CallCount { count, bytes, wakes, errors: Vec::new(), ..call.clone() });
                [sent, self.at("called.receive.none", &[], none)].concat()
            });
            if let Some(priced) = sent.or_else(|| self.on(call, object)) {
                terms.extend(priced);
                rest.count = rest.count.saturating_sub(object.count);
                rest.bytes = rest.bytes.map(|bytes| bytes.saturating_sub(object.bytes.unwrap_or(0)));
            }
        }
        if !terms.is_empty() {
            let (wakes, near_wakes) = (rest.wakes, rest.near_wakes);
            terms.extend(self.wakes(&CallCount { wakes, near_wakes, ..call.clone() }));
            (rest.wakes, rest.near_wakes) = (0, 0);
            rest.errors.retain(|error| !NOTHING_YET.contains(&error.name.as_str()));
        }
        (terms, rest)
    }

    /// What prices this call on this object; `None` if it is priced by its name alone.
    fn on(&self, call: &CallCount, object: &ObjectCount) -> Option<Vec<Term>> {
        let (name, kind) = (call.call.as_str(), object.object.as_str());
        let (is_read, is_write) = (READS.contains(&name), WRITES.contains(&name));
        let (is_socket, is_anew) = (SOCKETS.contains(&kind), WRITTEN_ANEW.contains(&kind));
        let pair = PAIRS.iter().find(|pair| pair.0 == kind);
        let count = object.count as f64;
        let none = self.nothing_yet(call, object);
        let moved = (count - none, object.bytes.unwrap_or(0) as f64);
        let empty = |id: &str| self.at(id, &[], none);
        if let Some((_, id)) = pair.filter(|_| is_read || is_write) {
            let found = self.sized(&[id], (moved.0 / 2.0, moved.1 / 2.0), ONE);
            return Some([found, empty(if is_socket { "called.receive.none" } else { "called.read.none" })].concat());
        }
        Some(match name {
            _ if is_read && is_socket => {
                [self.sized(&["called.receive"], moved, ONE), empty("called.receive.none")].concat()
            }
            _ if is_read && is_anew && moved.1 > 0.0 => self.at("called.read.proc", &[], count),
            _ if is_read && kind == "random" => self.sized(&["called.read.random"], moved, ONE),
            _ if is_read && kind == "null" && moved.1 == 0.0 => self.at("syscall.read.null", &[], count),
            // What moves bytes is a read of zeros, as of a file that stays in the caches.
            _ if is_read && kind == "null" => self.sized(&["called.read"], moved, ONE),
            _ if is_write && kind == "null" => self.at("syscall.write.null", &[], count),
            "connect" if kind == "tcp" => self.at("called.connect", &[], count),
            "close" if kind == "tcp" => {
                let connected = self.on_objects("connect", "tcp") + self.answered(ACCEPTS);
                let connected = count.min(connected as f64);
                let rest = self.at("called.close.socket", &[], count - connected);
                [self.closed(connected, 0.0), rest].concat()
            }
            "close" if is_socket => self.at("called.close.socket", &[], count),
            _ if OPENS.contains(&name) && is_anew => self.at("called.open.proc", &[], count),
            _ => return None,
        })
    }

    /// Closed connections, after these others: of each that has both ends in the program, one end is closed last.
    pub(super) fn closed(&self, connections: f64, others: f64) -> Vec<Term> {
        let both = self.on_objects("connect", "tcp").min(self.answered(ACCEPTS)) as f64;
        let last = both.min((others + connections) / 2.0) - both.min(others / 2.0);
        let first = self.at("called.close.connection", &[], connections - last);
        [first, self.at("called.close.last", &[], last)].concat()
    }

    pub(super) fn on_objects(&self, call: &str, kind: &str) -> u64 {
        let calls =
            self.requests.calls.iter().filter(|counted| counted.call == call).flat_map(|counted| &counted.objects);
        calls.filter(|object| object.object == kind).map(|object| object.count).sum()
    }

    /// How often this call found nothing at this object: files always have an answer.
    fn nothing_yet(&self, call: &CallCount, object: &ObjectCount) -> f64 {
        let can = |kind: &str| SOCKETS.contains(&kind) || PAIRS.iter().any(|pair| pair.0 == kind);
        let all: u64 = call.objects.iter().filter(|other| can(&other.object)).map(|other| other.count).sum();
        let nothing_yet = call.errors.iter().filter(|error| NOTHING_YET.contains(&error.name.as_str()));
        let none: u64 = nothing_yet.map(|error| error.count).sum();
        if can(&object.object) { none.min(all) as f64 * object.count as f64 / all.max(1) as f64 } else { 0.0 }
    }

    /// TCP sockets, as many as were connected, and others.
    pub(super) fn sockets(&self, call: &CallCount) -> Vec<Term> {
        let connected = self.on_objects("connect", "tcp").min(call.count);
        let others = CallCount { count: call.count - connected, ..call.clone() };
        [self.at("called.socket", &[], connected as f64), self.alone(&others)].concat()
    }

    /// Wake-ups: of tasks of other CPUs, and of tasks that were last on this one, of which a price holds two.
    pub(super) fn wakes(&self, call: &CallCount) -> Vec<Term> {
        let near = call.near_wakes.min(call.wakes) as f64;
        let far = (self.woken(call) as f64 - near).max(0.0);
        let same = [("distance", Value::Word("same".into()))];
        [self.at("called.wakes", &same, near / 2.0), self.at("called.futex.waiting", &[], far)].concat()
    }
}
