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
        self.change(Change::Added, other);
    }

    /// Takes an earlier state of the same counts off. What is zero then is left out.
    pub fn subtract(&mut self, earlier: &Counts) {
        self.change(Change::TakenOff, earlier);
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

/// How counts change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Added,
    /// An earlier state of the same counts.
    TakenOff,
}

/// What can be added and taken off.
trait Countable {
    fn change(&mut self, how: Change, other: &Self);

    /// True if nothing was counted.
    fn is_nothing(&self) -> bool {
        false
    }
}

/// Changes every field of a structure: one that is not named does not compile.
macro_rules! change_each {
    ($all:ident, $how:ident, $other:ident, $($field:ident),* $(,)?) => {
        let Self { $($field),* } = $other;
        $($all.$field.change($how, $field);)*
    };
}

impl Countable for Counts {
    fn change(&mut self, how: Change, other: &Counts) {
        change_each!(
            self, how, other, calls, errors, pairs, wakes, near, objects, huge, copied, given_back, waits, samples,
            faults, fault_kinds, signals, requests, forks, execs, creates, writing, truncating, attributes_first,
            names, modes, in_program,
        );
    }
}

impl Countable for Lengths {
    fn change(&mut self, how: Change, other: &Lengths) {
        change_each!(self, how, other, total_ns, lengths, went_on, squares);
    }

    fn is_nothing(&self) -> bool {
        self.lengths.is_empty()
    }
}

impl Countable for Times {
    fn change(&mut self, how: Change, other: &Times) {
        self.count.change(how, &other.count);
        self.results = match how {
            Change::Added => self.results.wrapping_add(other.results),
            Change::TakenOff => self.results.wrapping_sub(other.results),
        };
    }

    fn is_nothing(&self) -> bool {
        self.count == 0
    }
}

impl Countable for u64 {
    fn change(&mut self, how: Change, other: &u64) {
        match how {
            Change::Added => *self += other,
            Change::TakenOff => *self = self.saturating_sub(*other),
        }
    }

    fn is_nothing(&self) -> bool {
        *self == 0
    }
}

impl<K: Ord + Copy, T: Countable + Default> Countable for BTreeMap<K, T> {
    fn change(&mut self, how: Change, other: &BTreeMap<K, T>) {
        for (key, part) in other {
            self.entry(*key).or_default().change(how, part);
        }
        if how == Change::TakenOff {
            self.retain(|_, part| !part.is_nothing());
        }
    }
}

impl<T: Countable, const SIZE: usize> Countable for [T; SIZE] {
    fn change(&mut self, how: Change, other: &[T; SIZE]) {
        self.iter_mut().zip(other).for_each(|(part, other)| part.change(how, other));
    }
}

impl Countable for FaultKinds {
    fn change(&mut self, how: Change, other: &FaultKinds) {
        match how {
            Change::Added => self.add(*other),
            Change::TakenOff => *self = self.since(*other),
        }
    }
}

impl Countable for Sketch {
    fn change(&mut self, how: Change, other: &Sketch) {
        match how {
            Change::Added => self.add(other),
            Change::TakenOff => self.subtract(other),
        }
    }
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
