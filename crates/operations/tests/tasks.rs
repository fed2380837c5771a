//! Every operation that involves more than one task does its work at every point, or says why it cannot here.

use std::path::Path;

use measure::{Failure, Operation, Setting};

/// The first operation that other operations of a family are about; a family without it would be tested in vain.
const FAMILIES: [(&str, &str); 5] = [
    ("messages", "pipe.self"),
    ("signals", "signal.deliver"),
    ("switches", "switch.process"),
    ("threads", "thread.create.join"),
    ("processes", "process.fork"),
];

/// One test, because the signal handlers are the process's, and a fork would take other tests' open files along.
#[test]
fn operations_between_tasks_do_their_work() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tasks");
    std::fs::create_dir_all(&scratch).expect("the target folder can be written");
    for (title, known) in FAMILIES {
        let family = operations::FAMILIES.iter().find(|family| family.title == title).expect(title);
        assert!(family.operations.iter().any(|operation| operation.id == known), "{known} is missing");
        for operation in family.operations {
            perform(operation, &scratch);
        }
    }
    std::fs::remove_dir_all(&scratch).expect("the test's own folder can be removed");
    // SAFETY: asks whether any child is left, without taking its status.
    let left = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
    assert_eq!(left, -1, "an operation left a child behind");
}

fn perform(operation: &Operation, scratch: &Path) {
    for point in operation.points(false) {
        let setting = Setting::new(point.clone(), scratch.into(), 0, other_cpu(), 1);
        let done = (operation.prepare)(&setting).and_then(|mut work| {
            work.perform(1)?;
            work.perform(3)?;
            work.perform(20)
        });
        match done.map_err(Failure::into_skip) {
            Ok(()) => {}
            Err(Failure::Skip { reason, remedy }) => {
                eprintln!("{}{point} skipped: {reason}; {remedy}", operation.id);
            }
            Err(failure) => panic!("{}{point}: {failure}", operation.id),
        }
    }
}

/// CPU 1, where it is there.
fn other_cpu() -> Option<u32> {
    std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1).then_some(1)
}
