//! Shared by the tests: performing operations in separate processes, and comparing the state before and after.

use std::cell::Cell;
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once};

use operation::{Failure, Loop, Setting};
use record::{Point, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// One forked process at a time: two would share a CPU, hold each other's pipes open, and see each other's objects.
static ONE: Mutex<()> = Mutex::new(());

/// True in a forked process, which may fork again.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Has a panic in a forked process print nothing: another thread of the tests may have held the lock of what prints when it was forked,
/// and would never give it back.
static QUIET: Once = Once::new();

thread_local! {
    /// Where a forked process panicked.
    static PLACE: Cell<String> = const { Cell::new(String::new()) };
}

fn panic_quietly() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| match (FORKED.load(Ordering::Relaxed), panic.location()) {
        (true, place) => PLACE.set(place.map_or_else(String::new, |place| format!("{place}: "))),
        (false, _) => usual(panic),
    }));
}

/// Runs `work` in a forked process, as for a round. Returns its result, or an error that says how the process ended instead.
pub fn in_a_process<T: Serialize + DeserializeOwned>(work: impl FnOnce() -> T) -> Result<T, String> {
    let _one = match FORKED.load(Ordering::Relaxed) {
        true => None,
        false => Some(ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())),
    };
    QUIET.call_once(panic_quietly);
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    // SAFETY: the child keeps to itself and leaves by `_exit`; the C library keeps its allocator usable in it.
    let pid = unsafe { libc::fork() };
    assert_ne!(pid, -1, "no fork");
    if pid == 0 {
        FORKED.store(true, Ordering::Relaxed);
        drop(reader);
        let panicked = |payload: Box<dyn std::any::Any + Send>| match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(other) => other.downcast_ref::<&str>().copied().unwrap_or("it panicked").to_string(),
        };
        let end =
            catch_unwind(AssertUnwindSafe(work)).map_err(|payload| format!("{}{}", PLACE.take(), panicked(payload)));
        let reported = serde_json::to_vec(&end).is_ok_and(|text| writer.write_all(&text).is_ok());
        // SAFETY: leaves without running the parent's destructors.
        unsafe { libc::_exit(i32::from(!reported)) }
    }
    drop(writer);
    let mut text = Vec::new();
    let read = reader.read_to_end(&mut text);
    let mut status = 0;
    // SAFETY: the process is our own child; the status is written to our own variable.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
    read.map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).unwrap_or_else(|_| Err(format!("it ended with status {status:#x}")))
}

/// Ends this process after this number of seconds, if it hangs.
pub fn give_up_after(seconds: u32) {
    // SAFETY: the alarm ends only this process.
    unsafe { libc::alarm(seconds) };
}

/// Runs `work` in a forked process with a scratch folder on this package's disk. A panic in it becomes a panic here.
pub fn apart<T: Serialize + DeserializeOwned>(work: impl FnOnce(&Path) -> T) -> T {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch folder");
    let done = in_a_process(|| {
        give_up_after(60);
        work(scratch.path())
    });
    done.unwrap_or_else(|why| panic!("{why}"))
}

/// CPU 1, if the machine has it.
pub fn other_cpu() -> Option<u32> {
    std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1).then_some(1)
}

/// A point of a reader that goes through a file in this state from its beginning to its end.
pub fn in_sequence(state: &str, numbers: &[(&str, u64)]) -> Point {
    let words = [("state", state), ("order", "sequential")].map(|(axis, word)| (axis.into(), Value::Word(word.into())));
    Point(numbers.iter().map(|(axis, number)| ((*axis).into(), Value::Number(*number))).chain(words).collect())
}

/// A setting on CPU 0, with CPU 1 as the other one.
pub fn setting(point: Point, scratch: &Path) -> Setting {
    Setting::new(point, scratch.into(), 0, Some(1), 1)
}

/// A setting at a point that the operation must have, such as `@cpus=2`.
pub fn setting_at(id: &str, scratch: &Path, at: &str) -> Setting {
    let point = points(id).into_iter().find(|point| point.to_string() == at);
    setting(point.unwrap_or_else(|| panic!("{id} has no point {at}")), scratch)
}

pub fn points(id: &str) -> Vec<Point> {
    howslow_catalogue::find(id).unwrap_or_else(|| panic!("there is no {id}")).points(false)
}

/// An operation's loop, or the reason for a skip. Anything else fails the test.
pub fn prepared(id: &str, setting: &Setting) -> Result<Loop, String> {
    // A round runs on one CPU, and so does what is compared with it.
    operation::pin(setting.cpu()).expect("CPU 0");
    let operation = howslow_catalogue::find(id).unwrap_or_else(|| panic!("there is no {id}"));
    operation.set_up(setting).map_err(|failure| match failure.into_skip() {
        Failure::Skip { reason, .. } => reason,
        failure => panic!("{id}: {failure}"),
    })
}

/// An operation's loop; `None` if it is skipped, with a message.
pub fn looped(id: &str, setting: &Setting) -> Option<Loop> {
    prepared(id, setting).map_err(|reason| testing::left_out!("{id}: {reason}")).ok()
}

/// Whether an operation did its work. A skip is named, anything else fails the test.
pub fn did(name: &str, done: Result<(), Failure>) -> bool {
    match done {
        Ok(()) => return true,
        Err(Failure::Skip { reason, remedy }) => testing::left_out!("{name}: {reason}; {remedy}"),
        // Memory is fragmented at the moment; a run loses this round.
        Err(Failure::Wrong(reason)) if reason.contains("huge page") => testing::left_out!("{name}: {reason}"),
        Err(failure) => panic!("{name}: {failure}"),
    }
    false
}

/// The value of a line in the kernel's status of this process.
pub fn status(name: &str) -> String {
    let text = std::fs::read_to_string("/proc/self/status").expect("the kernel tells of processes");
    text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned()
}

/// The number of processes that this process has started and not reaped.
pub fn children() -> Vec<i32> {
    let text = std::fs::read_to_string("/proc/thread-self/children").expect("the kernel lists children");
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// The state after each iteration must differ from the state before: a call that changes nothing is detected.
pub fn changes_each_time(id: &str, look: impl Fn(&Path) -> Option<String>) {
    apart(|scratch| {
        let setting = setting_at(id, scratch, "");
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
