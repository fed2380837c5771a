//! Shared by the tests: operations, a plan, a check for leftovers.

use std::path::Path;
use std::time::{Duration, Instant};

use howslow_measure::{Measurement, Plan, measure};
use operation::{Item, Loop, Operation, Prepare, Registry, repeat};
use record::{Machine, Point, Settings};

pub const HARMLESS: Operation = Operation {
    id: "test.harmless",
    prepare: |_| Ok(repeat(|| Ok(()))),
    // Nothing of it takes longer, however busy the machine is.
    patience: 60.0,
    memory: 1 << 30,
    ..Operation::DEFAULT
};

/// Why a test failed.
pub type Failed = Box<dyn std::error::Error>;
/// A test and its name.
pub type Trial = (&'static str, fn() -> Result<(), Failed>);

/// Measures these operations, in some rounds also where the machine is busy, in their own scratch root, and checks that nothing is left
/// behind.
pub fn taken(operations: &'static [Operation]) -> Result<Measurement, Failed> {
    let root = tempfile::tempdir()?;
    let before = processes_of_ours();
    let taken = measure(order(operations, root.path()), &mut |_| {})?;
    nothing_left(root.path())?;
    equal(processes_of_ours(), before, "processes before and after")?;
    Ok(taken)
}

pub fn order<'a>(operations: &'static [Operation], scratch_root: &'a Path) -> Plan<'a> {
    let items = operations.iter().map(|operation| Item { operation, point: Point::default() }).collect();
    let settings = Settings {
        rounds: 6,
        precision: 0.05,
        budget_s: 5.0,
        seed: 7,
        batch_us: 200.0,
        tolerance: 0.06,
        ..Settings::default()
    };
    Plan {
        items,
        registry: Registry::EMPTY,
        machine: Machine::default(),
        settings,
        tailed: 0,
        paired: 0,
        width: None,
        program: None,
        scratch_root,
        check: None,
        recorded: None,
    }
}

pub fn nothing_left(root: &Path) -> Result<(), Failed> {
    let left: Vec<_> = std::fs::read_dir(root)?.flatten().map(|entry| entry.file_name()).collect();
    if left.is_empty() { Ok(()) } else { Err(format!("left in the scratch root: {left:?}").into()) }
}

/// The number of processes that run this test's own program.
pub fn processes_of_ours() -> usize {
    let own = std::fs::read_link("/proc/self/exe").ok();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter(|process| own.is_some() && std::fs::read_link(process.path().join("exe")).ok() == own).count()
}

/// The reason why every round of this operation was lost.
pub fn lost(taken: &Measurement, id: &str) -> Result<String, Failed> {
    let skip = taken.run.skipped.iter().find(|skip| skip.operation == id);
    skip.map(|skip| skip.reason.clone()).ok_or_else(|| format!("{id} was not skipped").into())
}

pub fn measured<'a>(taken: &'a Measurement, id: &str) -> Result<&'a record::Cost, Failed> {
    let cost = taken.run.costs.iter().find(|cost| cost.operation == id);
    cost.ok_or_else(|| format!("{id} was not measured: {:?}", taken.run.skipped).into())
}

/// The cost of an operation that is measured alone.
pub fn cost_of(prepare: Prepare) -> Result<record::Cost, Failed> {
    let taken = taken(vec![Operation { prepare, ..HARMLESS }].leak())?;
    measured(&taken, HARMLESS.id).cloned()
}

pub fn contains(text: &str, part: &str) -> Result<(), Failed> {
    if text.contains(part) { Ok(()) } else { Err(format!("{text:?} does not say {part:?}").into()) }
}

pub fn equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T, what: &str) -> Result<(), Failed> {
    if found == expected { Ok(()) } else { Err(format!("{what}: found {found:?}, expected {expected:?}").into()) }
}

/// Starts a child that does this work and ends with its status.
pub fn child(work: impl FnOnce() -> i32) -> libc::pid_t {
    // SAFETY: this process has one thread.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let status = work();
        // SAFETY: ends the child without running the test's destructors.
        unsafe { libc::_exit(status) }
    }
    pid
}

/// A loop that does something once and never returns.
pub fn never(work: fn()) -> Loop {
    repeat(move || {
        work();
        Ok(())
    })
}

pub fn spin() {
    loop {
        std::hint::spin_loop()
    }
}

pub fn sleep() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// Waits until something is so.
pub fn until(what: &str, mut so: impl FnMut() -> bool) -> Result<(), Failed> {
    let start = Instant::now();
    while !so() {
        if start.elapsed().as_secs() > 20 {
            return Err(format!("waited in vain for {what}").into());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}
