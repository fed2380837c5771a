//! Calls that reach other tasks: those that send over connections, and those that wake whoever waits.

use record::{CallCount, Term};

use super::rules::{ACCEPTS, Among, ONE, OPENS, Rules};

/// Calls that send over a socket, and nothing else.
const SENDS: &[&str] = &["sendto", "sendmsg"];
/// Calls that receive over a socket, and nothing else.
const RECEIVES: &[&str] = &["recvfrom", "recvmsg"];
/// Calls that a server sends by over the connections that it accepted, if it makes them.
const SERVED: &[&str] = &["writev", "sendfile"];

impl Rules<'_> {
    /// True for calls that most likely send over a connection. The counts do not show what a descriptor is of. So `writev` and
    /// `sendfile` send in a program that accepted connections; and so does `write`, if that program created no file and has no other way
    /// to send, but for files as a whole.
    pub(super) fn is_send(&self, call: &CallCount) -> bool {
        let (name, seen) = (call.call.as_str(), self.requests);
        let serves = self.answered(ACCEPTS) > 0;
        SENDS.contains(&name)
            || serves && SERVED.contains(&name)
            || serves && name == "write" && seen.creates == 0 && self.calls(SENDS) + self.calls(&["writev"]) == 0
    }

    /// Messages to tasks that look for them, and as many as woke somebody to tasks that sleep. On a machine with one CPU no task is on
    /// another one.
    pub(super) fn sends(&self, call: &CallCount) -> Vec<Term> {
        let (count, bytes) = (call.count as f64, call.bytes.unwrap_or(0) as f64);
        if self.list.has_one_cpu {
            return self.sized(&["called.send"], (count, bytes), ONE);
        }
        let asleep = self.woken(call) as f64 / call.count.max(1) as f64;
        let by_receiver = |receiver, share: f64| {
            let part = (count * share, bytes * share);
            self.sized(&["called.send.other"], part, Among::Word("receiver", receiver))
        };
        [by_receiver("awake", 1.0 - asleep), by_receiver("asleep", asleep)].concat()
    }

    /// True for a `read` that most likely receives: in a program that accepted connections, has hardly another way to receive, and opened
    /// few files.
    pub(super) fn is_receive(&self, call: &CallCount) -> bool {
        let answered = call.count.saturating_sub(call.failed());
        self.answered(ACCEPTS) > 0 && 2 * self.answered(RECEIVES) < answered && 2 * self.answered(OPENS) < answered
    }

    /// Messages that wait, and looks that find none.
    pub(super) fn receives(&self, call: &CallCount) -> Vec<Term> {
        let failed = call.failed().min(call.count);
        let (count, bytes) = ((call.count - failed) as f64, call.bytes.unwrap_or(0) as f64);
        let received = self.sized(&["called.receive"], (count, bytes), ONE);
        [received, self.sized(&["called.read"], (failed as f64, 0.0), ONE)].concat()
    }

    /// Those that woke somebody, and those that found nobody or waited; waiting has a line of its own: switches.
    pub(super) fn futexes(&self, call: &CallCount) -> Vec<Term> {
        let others = (call.count - self.woken(call)) as f64;
        [self.at("called.futex", &[], others), self.wakes(call)].concat()
    }

    /// How many of these calls woke somebody, as far as there is a price of it: not on a machine with one CPU.
    pub(super) fn woken(&self, call: &CallCount) -> u64 {
        if self.list.has_one_cpu { 0 } else { call.wakes.min(call.count) }
    }
}
