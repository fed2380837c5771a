//! Calls on files that a program creates, writes anew, copies, replaces and removes.

use record::{CallCount, Term, Value};

use super::rules::{COPIES, FILE_WRITES, MISSING, ONE, REMOVES, REPLACED, Rules, failed};

/// A copied or removed file of these sizes is known.
const PAGE: f64 = 4096.0;
const LARGE: f64 = 65536.0;
const FILE_COPIES: &[&str] = &["copy_file_range"];
/// Objects that hold what is written to them.
const FILES: [&str; 2] = ["file", "tmpfs"];

impl Rules<'_> {
    /// As many writes as files were created, or emptied, write the first block of one; others go on.
    pub(super) fn writes(&self, call: &CallCount) -> Vec<Term> {
        let mean = call.bytes.unwrap_or(0) as f64 / call.count.max(1) as f64;
        let (all, _) = self.written(FILE_WRITES);
        let share = call.count as f64 / all.max(call.count).max(1) as f64;
        let first = (self.requests.creates as f64 * share).floor().min(call.count as f64);
        let again = (self.requests.truncating as f64 * share).floor().min(call.count as f64 - first);
        let rest = call.count as f64 - first - again;
        [
            self.sized(&["called.fill"], (first, first * mean), ONE),
            self.sized(&["called.refill"], (again, again * mean), ONE),
            self.sized(&["syscall.write.null", "called.append"], (rest, rest * mean), ONE),
            self.wakes(call),
        ]
        .concat()
    }

    /// How often these calls wrote to files, and how many bytes, as far as it is known what they wrote to.
    fn written(&self, calls: &[&str]) -> (u64, u64) {
        self.of(calls).fold((0, 0), |(count, bytes), call| {
            let others = call.objects.iter().filter(|object| !FILES.contains(&object.object.as_str()));
            let (times, moved) =
                others.fold((0, 0), |sum, object| (sum.0 + object.count, sum.1 + object.bytes.unwrap_or(0)));
            (count + call.count.saturating_sub(times), bytes + call.bytes.unwrap_or(0).saturating_sub(moved))
        })
    }

    /// The last call for each file finds its end.
    pub(super) fn copies(&self, call: &CallCount) -> Vec<Term> {
        let first = call.count.min(self.requests.creates.max(1));
        let copied = self.sized(&["called.copy"], (first as f64, call.bytes.unwrap_or(0) as f64), ONE);
        [copied, self.alone(&CallCount { count: call.count - first, ..call.clone() })].concat()
    }

    /// Removed files were created by the program itself, or are older: then they are taken as files of a page that the device
    /// holds, too. Where removing such a file waits for the device, as many were there as calls slept.
    pub(super) fn removal(&self, call: &CallCount) -> Vec<Term> {
        let missing = failed(call, MISSING);
        let found = (call.count - missing) as f64;
        let (created, removed) = (self.requests.creates, self.answered(REMOVES));
        let own = 2 * created >= removed && created > 0;
        let written = self.written(FILE_WRITES).1 + self.written(FILE_COPIES).1;
        let mean = if own { written as f64 / created as f64 } else { PAGE };
        let knows = !self.requests.waits.is_empty() && self.list.removal_sleeps();
        let slept = knows.then(|| (self.slept(&call.call) as f64 / found.max(1.0)).min(1.0));
        let there = slept.unwrap_or(if own { 0.0 } else { 1.0 });
        let at = |size: f64, times: f64| {
            let there = if size == 0.0 { 0.0 } else { there };
            let unlinked = |content: &str, times: f64| {
                let point = [("size", Value::Number(size as u64)), ("content", Value::Word(content.into()))];
                self.at("called.unlink", &point, times)
            };
            [unlinked("new", times * (1.0 - there)), unlinked("written", times * there)].concat()
        };
        let mut terms = match mean {
            0.0 => at(0.0, found),
            // A file that holds anything holds a page.
            _ if mean <= PAGE => at(PAGE, found),
            _ if mean <= LARGE => {
                let part = (mean - PAGE) / (LARGE - PAGE);
                [at(PAGE, found * (1.0 - part)), at(LARGE, found * part)].concat()
            }
            _ => at(LARGE, found * mean / LARGE),
        };
        terms.extend(self.at("called.stat.missing", &[], missing as f64));
        terms
    }

    /// Files that were written anew and that these calls closed, as a shell's do: one puts a file in the place of a descriptor, another
    /// brings back what was there.
    pub(super) fn rewritten_closed_by(&self, call: &CallCount) -> f64 {
        let copies = self.calls(COPIES).max(1) as f64;
        let closed = (self.requests.truncating as f64).min(copies / 2.0);
        closed * call.count as f64 / copies
    }

    /// Unless replacing what the device holds is known not to wait for it, as many files were replaced as calls slept.
    pub(super) fn renames(&self, call: &CallCount) -> Vec<Term> {
        let slept =
            if self.list.sleeps(REPLACED, &[]) == Some(false) { 0 } else { self.slept(&call.call).min(call.count) };
        let rest = CallCount { count: call.count - slept, ..call.clone() };
        [self.at(REPLACED, &[], slept as f64), self.alone(&rest)].concat()
    }
}
