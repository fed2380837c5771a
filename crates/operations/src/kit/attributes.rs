//! How the scheduler treats a task: class, nice value and time slice, set and read back (sched_setattr, sched_getattr).

use operation::Failure;

use super::check::exactly;
use super::invoke::call;

/// What the kernel is told of a task: the structure `sched_attr` of its first version.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Attributes {
    pub(crate) size: u32,
    pub(crate) policy: u32,
    pub(crate) flags: u64,
    pub(crate) nice: i32,
    pub(crate) priority: u32,
    /// The time slice in ns, of classes that share the CPU (Linux 6.12 and later). 0 asks for the usual one.
    pub(crate) runtime: u64,
    pub(crate) deadline: u64,
    pub(crate) period: u64,
}

impl Attributes {
    /// Of the calling task.
    ///
    /// # Errors
    /// If the kernel lacks the call.
    pub(crate) fn own() -> Result<Attributes, Failure> {
        let mut attributes = Attributes::default();
        exactly(0, call!(sched_getattr, 0, &raw mut attributes as usize, size_of::<Attributes>(), 0)?)?;
        Ok(attributes)
    }

    /// Has the calling task treated like this.
    ///
    /// # Errors
    /// If the class or the nice value is refused.
    pub(crate) fn set(self) -> Result<(), Failure> {
        let told = Attributes { size: size_of::<Attributes>() as u32, ..self };
        exactly(0, call!(sched_setattr, 0, &raw const told as usize, 0)?)
    }

    /// The same, and reads back that the kernel took the time slice.
    ///
    /// # Errors
    /// A skip if it takes none.
    pub(crate) fn set_slice(self) -> Result<(), Failure> {
        self.set()?;
        if Attributes::own()?.runtime == self.runtime {
            return Ok(());
        }
        Err(Failure::skip("this kernel does not take a time slice that a task asks for", "Linux 6.12 or later"))
    }
}

/// The time slice of the calling task in ns, if it is of the class that takes turns (SCHED_RR).
///
/// # Errors
/// If the kernel lacks the call.
pub(crate) fn turn() -> Result<u64, Failure> {
    let mut time = [0_u64; 2];
    exactly(0, call!(sched_rr_get_interval, 0, &mut time)?)?;
    Ok(time[0] * 1_000_000_000 + time[1])
}

/// A time slice by its name on an axis, in ns.
///
/// # Errors
/// If it names none.
pub(crate) fn slice(word: &str) -> Result<u64, Failure> {
    let unknown = || Failure::wrong(format!("{word} names no time slice"));
    let (number, unit) = match (word.strip_suffix("us"), word.strip_suffix("ms")) {
        (Some(number), _) => (number, 1_000),
        (_, Some(number)) => (number, 1_000_000),
        _ => return Err(unknown()),
    };
    number.parse::<u64>().map(|number| number * unit).map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_set_and_read_back_and_taken_back() {
        let thread = std::thread::spawn(|| {
            let usual = Attributes::own().expect("the kernel tells");
            match (Attributes { runtime: 7_000_000, ..usual }).set_slice() {
                Err(Failure::Skip { reason, remedy }) => testing::not_tested!("{reason}; {remedy}"),
                set => set.expect("a slice"),
            }
            assert_eq!(Attributes::own().expect("again").runtime, 7_000_000);
            Attributes { runtime: 0, ..usual }.set().expect("the usual one");
            assert_eq!(Attributes::own().expect("again").runtime, usual.runtime);
            // More than the kernel gives is not taken as asked.
            let long = Attributes { runtime: 3_000_000_000, ..usual };
            assert!(matches!(long.set_slice(), Err(Failure::Skip { .. })));
        });
        thread.join().expect("see above");
    }

    #[test]
    fn slices_are_named_in_two_units() {
        assert_eq!((slice("100us"), slice("10ms")), (Ok(100_000), Ok(10_000_000)));
        for nonsense in ["", "ms", "10", "10s", "-1ms"] {
            assert!(slice(nonsense).is_err(), "{nonsense}");
        }
    }
}
