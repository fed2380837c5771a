//! Operations performed in processes of their own, with what is looked at before and after.

use std::io::{Read, Write};
use std::path::Path;

use operation::{Failure, Loop, Setting};
use record::{Point, Value};

/// Runs `work` in a forked process with a scratch folder on this package's disk; a panic in it is one here.
pub fn apart(work: impl FnOnce(&Path)) {
    counting(|scratch| {
        work(scratch);
        0
    });
}

/// The same, and brings back a number.
pub fn counting(work: impl FnOnce(&Path) -> u64) -> u64 {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch folder");
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    // SAFETY: the child keeps to itself and leaves by `_exit`; the C library keeps its allocator usable in it.
    let pid = unsafe { libc::fork() };
    assert_ne!(pid, -1, "no process is to be had");
    if pid == 0 {
        drop(reader);
        // SAFETY: the alarm ends this process alone.
        unsafe { libc::alarm(60) };
        let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(scratch.path())));
        let told = end.is_ok_and(|number| writer.write_all(&number.to_le_bytes()).is_ok());
        // SAFETY: leaves without running the parent's destructors.
        unsafe { libc::_exit(i32::from(!told)) }
    }
    drop(writer);
    let mut number = [0; 8];
    let read = reader.read_exact(&mut number);
    let mut status = 0;
    // SAFETY: the process is our own child; the status is written to our own variable.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert!(read.is_ok() && status == 0, "see above (status {status:#x})");
    u64::from_le_bytes(number)
}

/// What an axis of a point is set to.
pub trait At: Copy {
    /// As a point holds it.
    fn value(self) -> Value;
}

impl At for u64 {
    fn value(self) -> Value {
        Value::Number(self)
    }
}

impl At for &str {
    fn value(self) -> Value {
        Value::Word(self.into())
    }
}

/// A setting on CPU 0, beside CPU 1.
pub fn setting(point: Point, scratch: &Path) -> Setting {
    Setting::new(point, scratch.into(), 0, Some(1), 1)
}

/// A setting at a point that the operation must have.
pub fn setting_at<V: At>(id: &str, scratch: &Path, at: &[(&str, V)]) -> Setting {
    let point = at.iter().fold(Point::default(), |point, (axis, value)| point.with(axis, value.value()));
    assert!(points(id).contains(&point), "{id} has no point {point}");
    setting(point, scratch).with_axes(operations::find(id).map_or(&[], |operation| operation.axes))
}

/// All points of an operation.
pub fn points(id: &str) -> Vec<Point> {
    operations::find(id).unwrap_or_else(|| panic!("there is no {id}")).points(false)
}

/// An operation's loop, or why it is skipped; anything else is a failure.
pub fn prepared(id: &str, setting: &Setting) -> Result<Loop, String> {
    // A round runs on one CPU, and so does what is compared with it.
    operation::pin(setting.cpu()).expect("CPU 0");
    let operation = operations::find(id).unwrap_or_else(|| panic!("there is no {id}"));
    (operation.prepare)(setting).map_err(|failure| match failure.into_skip() {
        Failure::Skip { reason, .. } => reason,
        failure => panic!("{id}: {failure}"),
    })
}

/// An operation's loop; `None` where it is skipped, which is told.
pub fn looped(id: &str, setting: &Setting) -> Option<Loop> {
    prepared(id, setting).map_err(|reason| eprintln!("not tested: {id}: {reason}")).ok()
}

/// The processes that this one has started and not collected.
pub fn children() -> Vec<i32> {
    let text = std::fs::read_to_string("/proc/thread-self/children").expect("the kernel lists children");
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// What is looked at differs after each iteration from what it was before it: a call that leaves it alone is found out.
pub fn changes_each_time(id: &str, at: &[(&str, &str)], look: impl Fn(&Path) -> Option<String>) {
    apart(|scratch| {
        let setting = setting_at(id, scratch, at);
        let Some(mut work) = looped(id, &setting) else { return };
        let mut last = look(scratch);
        assert!(last.is_some(), "{id}: nothing is seen");
        for _ in 0..4 {
            work.perform(1).expect("an iteration");
            let now = look(scratch);
            assert_ne!(now, last, "{id} changed nothing");
            last = now;
        }
    });
}
