//! What a task, a process or a whole command requested of the kernel, by number. Knows no source of counts.

use std::collections::BTreeMap;

use record::{FaultKinds, WaitReason};

use crate::naming::takes_name;
use crate::sketch::Sketch;

/// A system call by its number in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Of this architecture.
    Native(u16),
    /// Of a 32-bit program.
    Narrow(u16),
    /// Of a program with short pointers (x32): bit 30 is set.
    Short(u16),
    /// A number that is no call's.
    Unknown(u16),
}

impl Call {
    /// A call that is not among the native ones, by its whole number.
    pub(crate) fn beyond(number: u32) -> Call {
        const SHORT: u32 = 1 << 30;
        match number {
            _ if number & 0xffff_0000 == SHORT => Call::Short(number as u16),
            _ => Call::Unknown(number as u16),
        }
    }

    /// True if it is known to take the name of a file.
    pub(crate) fn takes_name(self) -> bool {
        matches!(self, Call::Native(number) if takes_name(number))
    }
}

/// How often a call was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// How often, whether it succeeded or failed.
    pub count: u64,
    /// The sum of all results that are not negative: bytes, if it is a call that moves bytes.
    pub results: u64,
}

/// Lengths of time: their sum, and how many of each length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// The sum in ns.
    pub total_ns: u64,
    /// How many, by four times the logarithm of their ns to the base of two.
    pub lengths: BTreeMap<u8, u64>,
    /// The same of what the kernel did for some of them afterwards, which is in the sum.
    pub went_on: BTreeMap<u8, u64>,
    /// The sum of the squares of the weights of those that were timed; the others are those for which they stand. 0 if all were.
    pub squares: u64,
}

impl Lengths {
    pub(crate) fn add(&mut self, other: &Lengths) {
        self.total_ns += other.total_ns;
        self.squares += other.squares;
        add(&mut self.lengths, &other.lengths);
        add(&mut self.went_on, &other.went_on);
    }

    pub(crate) fn subtract(&mut self, earlier: &Lengths) {
        self.total_ns = self.total_ns.saturating_sub(earlier.total_ns);
        self.squares = self.squares.saturating_sub(earlier.squares);
        subtract(&mut self.lengths, &earlier.lengths);
        subtract(&mut self.went_on, &earlier.went_on);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.lengths.values().sum()
    }

    /// The length in ns that this share of them does not exceed, within an eighth; `None` if there are none.
    pub fn quantile_ns(&self, share: f64) -> Option<f64> {
        let rank = (share * self.count() as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let bucket = self.lengths.iter().find(|(_, count)| {
            below += **count;
            below >= rank
        });
        bucket.map(|(bucket, _)| middle_ns(*bucket))
    }

    /// As many equal samples would show as much (L. Kish, Survey sampling, 1965).
    pub fn samples(&self) -> f64 {
        let count = self.count() as f64;
        if self.squares > 0 { count * count / self.squares as f64 } else { count }
    }

    /// The mean and its standard error in ns, by the lengths; the mean is exact.
    pub fn mean_ns(&self) -> Option<(f64, f64)> {
        let count = self.count() as f64;
        let mean = (count > 0.0).then(|| self.total_ns as f64 / count)?;
        // What did not go on took no time afterwards.
        let variance = |lengths: &BTreeMap<u8, u64>| {
            let each = || lengths.iter().map(|(bucket, times)| (middle_ns(*bucket), *times as f64));
            let centre = each().map(|(ns, times)| ns * times).sum::<f64>() / count;
            let others = count - each().map(|(_, times)| times).sum::<f64>();
            (each().map(|(ns, times)| (ns - centre).powi(2) * times).sum::<f64>() + centre.powi(2) * others) / count
        };
        Some((mean, ((variance(&self.lengths) + variance(&self.went_on)) / self.samples()).sqrt()))
    }
}

/// The middle of the lengths with this logarithm, in ns.
fn middle_ns(bucket: u8) -> f64 {
    let (exponent, quarter) = (i32::from(bucket >> 2), f64::from(bucket & 3));
    2_f64.powi(exponent) * (1.125 + quarter / 4.0)
}

/// All counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Every call.
    pub calls: BTreeMap<Call, Times>,
    /// Failed calls, by errno.
    pub errors: BTreeMap<(Call, u16), u64>,
    /// A call and the one that the same task made right after it.
    pub pairs: BTreeMap<(Call, Call), u64>,
    /// Sleeping tasks that were woken, by the call that was being made.
    pub wakes: BTreeMap<Call, u64>,
    /// Those of them that were last on the same CPU.
    pub near: BTreeMap<Call, u64>,
    /// Calls by the kind of what they were made on, a place of `objects::KINDS`.
    pub objects: BTreeMap<(Call, u8), Times>,
    /// Huge pages that were given at a first touch.
    pub huge: u64,
    /// Pages that processes had of their own when they were copied.
    pub copied: u64,
    /// Pages of their own that calls gave back, by samples.
    pub given_back: BTreeMap<Call, u64>,
    /// Times off the CPU, by the call in which it was, if any, and the reason.
    pub waits: BTreeMap<(Option<Call>, WaitReason), Lengths>,
    /// Times of calls on the CPU, by samples.
    pub samples: BTreeMap<Call, Lengths>,
    /// Times of page faults in user mode on the CPU, by samples.
    pub faults: Lengths,
    /// What the sampled ones were, as often as they stand for others.
    pub fault_kinds: FaultKinds,
    /// Delivered signals by number.
    pub signals: BTreeMap<u16, u64>,
    /// Requests to an io_uring by operation code.
    pub requests: BTreeMap<u16, u64>,
    /// Processes and threads that were created.
    pub forks: u64,
    /// Programs that were executed.
    pub execs: u64,
    /// Files that were opened and, if there were none, created.
    pub creates: u64,
    /// Regular files that were there and were opened to be written.
    pub writing: u64,
    /// Those of them that were emptied.
    pub truncating: u64,
    /// Opens right after the same task had requested the attributes of the same name.
    pub attributes_first: u64,
    /// The names that were looked up.
    pub names: Sketch,
    /// Samples that found its tasks in their program and in the kernel, for each period of `modes::PERIODS`.
    pub modes: [[u64; 2]; 2],
    /// What the program at each call took to count sampled ones, in ns, and how many; both as often as these stand for others.
    pub in_program: [u64; 2],
}

impl Counts {
    /// Adds other counts.
    pub fn add(&mut self, other: &Counts) {
        add_times(&mut self.calls, &other.calls);
        add_times(&mut self.objects, &other.objects);
        self.huge += other.huge;
        self.copied += other.copied;
        add(&mut self.given_back, &other.given_back);
        add(&mut self.near, &other.near);
        add(&mut self.errors, &other.errors);
        add(&mut self.pairs, &other.pairs);
        add(&mut self.wakes, &other.wakes);
        add_lengths(&mut self.waits, &other.waits);
        add_lengths(&mut self.samples, &other.samples);
        self.faults.add(&other.faults);
        self.fault_kinds.add(other.fault_kinds);
        add(&mut self.signals, &other.signals);
        add(&mut self.requests, &other.requests);
        self.forks += other.forks;
        self.execs += other.execs;
        self.creates += other.creates;
        self.writing += other.writing;
        self.truncating += other.truncating;
        self.attributes_first += other.attributes_first;
        self.names.add(&other.names);
        let modes = self.modes.as_flattened_mut().iter_mut().zip(other.modes.as_flattened());
        modes.for_each(|(sum, count)| *sum += count);
        self.in_program.iter_mut().zip(other.in_program).for_each(|(sum, ns)| *sum += ns);
    }

    /// Takes an earlier state of the same counts off. What is zero then is left out.
    pub fn subtract(&mut self, earlier: &Counts) {
        subtract_times(&mut self.calls, &earlier.calls);
        subtract_times(&mut self.objects, &earlier.objects);
        self.huge = self.huge.saturating_sub(earlier.huge);
        self.copied = self.copied.saturating_sub(earlier.copied);
        subtract(&mut self.given_back, &earlier.given_back);
        subtract(&mut self.near, &earlier.near);
        subtract(&mut self.errors, &earlier.errors);
        subtract(&mut self.pairs, &earlier.pairs);
        subtract(&mut self.wakes, &earlier.wakes);
        subtract_lengths(&mut self.waits, &earlier.waits);
        subtract_lengths(&mut self.samples, &earlier.samples);
        self.faults.subtract(&earlier.faults);
        self.fault_kinds = self.fault_kinds.since(earlier.fault_kinds);
        subtract(&mut self.signals, &earlier.signals);
        subtract(&mut self.requests, &earlier.requests);
        self.forks = self.forks.saturating_sub(earlier.forks);
        self.execs = self.execs.saturating_sub(earlier.execs);
        self.creates = self.creates.saturating_sub(earlier.creates);
        self.writing = self.writing.saturating_sub(earlier.writing);
        self.truncating = self.truncating.saturating_sub(earlier.truncating);
        self.attributes_first = self.attributes_first.saturating_sub(earlier.attributes_first);
        self.names.subtract(&earlier.names);
        let modes = self.modes.as_flattened_mut().iter_mut().zip(earlier.modes.as_flattened());
        modes.for_each(|(rest, count)| *rest = rest.saturating_sub(*count));
        self.in_program.iter_mut().zip(earlier.in_program).for_each(|(rest, ns)| *rest = rest.saturating_sub(ns));
    }

    /// What the program at each call took to count one on the mean, in ns; `None` without samples.
    pub(crate) fn in_program_ns(&self) -> Option<f64> {
        let [ns, calls] = self.in_program;
        (calls > 0).then(|| ns as f64 / calls as f64)
    }

    /// All calls together.
    pub fn total(&self) -> u64 {
        self.calls.values().map(|times| times.count).sum()
    }
}

fn add_times<K: Ord + Copy>(to: &mut BTreeMap<K, Times>, from: &BTreeMap<K, Times>) {
    for (key, times) in from {
        let all = to.entry(*key).or_default();
        all.count += times.count;
        all.results = all.results.wrapping_add(times.results);
    }
}

fn subtract_times<K: Ord>(from: &mut BTreeMap<K, Times>, earlier: &BTreeMap<K, Times>) {
    from.retain(|key, times| {
        let before = earlier.get(key).copied().unwrap_or_default();
        times.count = times.count.saturating_sub(before.count);
        times.results = times.results.wrapping_sub(before.results);
        times.count > 0
    });
}

fn add<K: Ord + Copy>(to: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *to.entry(*key).or_default() += count;
    }
}

fn add_lengths<K: Ord + Copy>(to: &mut BTreeMap<K, Lengths>, from: &BTreeMap<K, Lengths>) {
    from.iter().for_each(|(key, lengths)| to.entry(*key).or_default().add(lengths));
}

fn subtract_lengths<K: Ord>(from: &mut BTreeMap<K, Lengths>, earlier: &BTreeMap<K, Lengths>) {
    from.retain(|key, lengths| {
        if let Some(earlier) = earlier.get(key) {
            lengths.subtract(earlier);
        }
        !lengths.lengths.is_empty()
    });
}

fn subtract<K: Ord>(from: &mut BTreeMap<K, u64>, earlier: &BTreeMap<K, u64>) {
    from.retain(|key, count| {
        *count = count.saturating_sub(earlier.get(key).copied().unwrap_or(0));
        *count > 0
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(count: u64) -> Counts {
        let call = Call::Native(0);
        Counts {
            calls: BTreeMap::from([(call, Times { count, results: 10 * count })]),
            errors: BTreeMap::from([((call, 2), count)]),
            pairs: BTreeMap::from([((call, call), count)]),
            forks: count,
            ..Counts::default()
        }
    }

    #[test]
    fn counts_are_added_by_key() {
        let mut sum = counts(3);
        sum.add(&counts(4));
        assert_eq!(sum, counts(7));
        sum.subtract(&counts(4));
        assert_eq!(sum, counts(3));
        sum.subtract(&counts(3));
        assert_eq!(sum, Counts::default());
    }
}
