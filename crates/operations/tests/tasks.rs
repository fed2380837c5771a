//! Every operation that involves more than one task does its work at every point, or says why it cannot here, and
//! leaves nothing behind: no child, no System V object, no POSIX queue.

use std::io::Read;
use std::os::fd::FromRawFd;
use std::path::Path;

use operation::{Failure, Operation, Setting};

/// The first operation that other operations of a family are about; a family without it would be tested in vain.
const FAMILIES: [(&str, &str); 6] = [
    ("messages", "pipe.self"),
    ("asynchronous completion", "async.read.plain"),
    ("signals", "signal.deliver"),
    ("switches", "switch.process"),
    ("threads", "thread.create.join"),
    ("processes", "process.fork"),
];

/// Each operation has a process of its own, as in a round, because handlers, masks and namespaces are the process's.
#[test]
fn operations_between_tasks_do_their_work_and_leave_nothing() {
    leaving_no_object("tasks", |scratch| {
        for (title, known) in FAMILIES {
            let family = operations::FAMILIES.iter().find(|family| family.title == title).expect(title);
            assert!(family.operations().any(|operation| operation.id == known), "{known} is missing");
            for operation in family.operations() {
                let done = in_a_process(|| {
                    perform(operation, scratch);
                    // SAFETY: asks whether any child is left, without taking its status.
                    let left = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
                    assert_eq!(left, -1, "{} left a child behind", operation.id);
                    String::new()
                });
                assert!(done.is_some(), "{} did not do its work", operation.id);
            }
        }
    });
}

/// An operation whose process is killed in the midst of it leaves no object either.
#[test]
fn operations_that_are_killed_leave_no_object() {
    leaving_no_object("killed", |scratch| {
        for id in ["mq.posix.roundtrip", "mq.systemv.self", "mq.systemv.roundtrip", "semaphore.systemv.roundtrip"] {
            let operation = operations::find(id).expect(id);
            let killed = in_a_process(|| {
                let point = operation.points(false).remove(0);
                let setting = Setting::new(point, scratch.into(), 0, other_cpu(), 1);
                let _work = (operation.prepare)(&setting);
                // SAFETY: ends this thread's process alone, with its objects in use.
                unsafe { libc::raise(libc::SIGKILL) };
                String::new()
            });
            assert_eq!(killed, None, "{id} was not killed");
        }
    });
}

/// Runs `work` with a scratch folder, and checks that the same System V objects and POSIX queues are there before and
/// after. They are counted in a namespace of our own where we may have one, for other programs make some too.
fn leaving_no_object(name: &str, work: impl FnOnce(&Path)) {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&scratch).expect("the target folder can be written");
    let done = in_a_process(|| {
        // SAFETY: concerns this process's view of such objects alone.
        let _ = unsafe { libc::unshare(libc::CLONE_NEWIPC) };
        let before = objects(&scratch);
        work(&scratch);
        assert_eq!(objects(&scratch), before, "an operation left a System V object or a POSIX queue behind");
        String::new()
    });
    std::fs::remove_dir_all(&scratch).expect("the test's own folder can be removed");
    assert!(done.is_some(), "see above");
}

fn perform(operation: &Operation, scratch: &Path) {
    // As a round is: what two tasks do on one CPU is nothing they do on two.
    operation::pin(0).expect("CPU 0 may be used");
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

/// The System V objects and POSIX queues there are, as text. Queues are seen only where root may mount their file
/// system, which happens in a namespace of mounts that ends at once.
fn objects(scratch: &Path) -> String {
    let mut objects = String::new();
    for kind in ["msg", "sem", "shm"] {
        let table = std::fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        // Key and id name an object; the rest of its line changes with its use.
        for line in table.lines().skip(1) {
            let name: Vec<&str> = line.split_whitespace().take(2).collect();
            objects.push_str(&format!("{kind} {}\n", name.join(" ")));
        }
    }
    let queues = in_a_process(|| {
        // SAFETY: concerns this process's view of mounts alone.
        if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
            return "queues are not seen".to_owned();
        }
        let (none, root, kind) = (c"none".as_ptr(), c"/".as_ptr(), c"mqueue".as_ptr());
        // SAFETY: all strings end in zeros; later mounts stay in this namespace.
        unsafe { libc::mount(none, root, std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE, std::ptr::null()) };
        let folder = std::ffi::CString::new(scratch.as_os_str().as_encoded_bytes()).expect("a path without a zero");
        // SAFETY: all strings end in zeros.
        if unsafe { libc::mount(none, folder.as_ptr(), kind, 0, std::ptr::null()) } != 0 {
            return "queues are not seen".to_owned();
        }
        let files = std::fs::read_dir(scratch).expect("the queues can be listed");
        files.flatten().map(|file| format!("queue {}\n", file.file_name().display())).collect()
    });
    objects + &queues.expect("a process that lists queues")
}

/// Runs `work` in a forked process, and returns the text it ends with; `None` if it panicked or was killed.
fn in_a_process(work: impl FnOnce() -> String) -> Option<String> {
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0, "no pipe");
    // SAFETY: the child does what a test does; nobody else holds a lock, for the harness only waits.
    let child = unsafe { libc::fork() };
    assert_ne!(child, -1, "no fork");
    if child == 0 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        let text = done.as_deref().unwrap_or_default();
        // SAFETY: the text is valid for its length.
        unsafe { libc::write(ends[1], text.as_ptr().cast(), text.len()) };
        // SAFETY: leaves without the parent's destructors.
        unsafe { libc::_exit(i32::from(done.is_err())) };
    }
    // SAFETY: the child has its own copy.
    unsafe { libc::close(ends[1]) };
    // SAFETY: the descriptor is open and nobody else's.
    let mut from = unsafe { std::fs::File::from_raw_fd(ends[0]) };
    let mut text = String::new();
    let _ = from.read_to_string(&mut text);
    let mut status = 0;
    // SAFETY: waits for our own child.
    unsafe { libc::waitpid(child, &mut status, 0) };
    (status == 0).then_some(text)
}
