//! Every operation with more than one task does its work at every point, or says why it cannot here, and leaves nothing behind: no
//! child, no System V object, no POSIX queue.

use std::path::Path;

use operation::{Failure, Operation, Setting};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};

use crate::support::{did, in_a_process, other_cpu};

/// The first operation of each tested family. A family without it would be tested without effect.
const FAMILIES: [(&str, &str); 8] = [
    ("messages", "pipe.self"),
    ("asynchronous completion", "async.read.plain"),
    ("signals", "signal.deliver"),
    ("switches", "switch.process"),
    ("contention", "contention.lock"),
    ("work of several CPUs", "scaling.open"),
    ("threads", "thread.create.join"),
    ("processes", "process.fork"),
];

/// Each operation runs in a separate process, as in a round, because handlers, masks and namespaces belong to the process.
#[test]
fn operations_between_tasks_do_their_work_and_leave_nothing() {
    leaving_no_object("tasks", |scratch| {
        for (title, known) in FAMILIES {
            let family = howslow_catalogue::FAMILIES.iter().find(|family| family.title == title).expect(title);
            assert!(family.operations().any(|operation| operation.id == known), "{known} is missing");
            for operation in family.operations() {
                let done = in_a_process(|| {
                    perform(operation, scratch);
                    // SAFETY: checks whether any child is left, without reaping it.
                    let left = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
                    assert_eq!(left, -1, "{} left a child behind", operation.id);
                });
                done.unwrap_or_else(|why| panic!("{} did not do its work: {why}", operation.id));
            }
        }
    });
}

/// An operation whose process is killed while it runs leaves no object either.
#[test]
fn operations_that_are_killed_leave_no_object() {
    leaving_no_object("killed", |scratch| {
        for id in ["mq.posix.roundtrip", "mq.systemv.self", "mq.systemv.roundtrip", "semaphore.systemv.roundtrip"] {
            let operation = howslow_catalogue::find(id).expect(id);
            let killed = in_a_process(|| {
                let point = operation.points(false).remove(0);
                let setting = Setting::new(point, scratch.into(), 0, other_cpu(), 1);
                let _work = operation.set_up(&setting);
                // SAFETY: ends only this thread's process, while its objects are in use.
                unsafe { libc::raise(libc::SIGKILL) };
            });
            assert_eq!(killed, Err("it ended with status 0x9".into()), "{id} was not killed");
        }
    });
}

/// Runs `work` with a scratch folder, and checks that the same System V objects and POSIX queues exist before and after. They are
/// counted in a separate namespace if that is allowed, because other programs create some too.
fn leaving_no_object(name: &str, work: impl FnOnce(&Path)) {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&scratch).expect("the target folder can be written");
    let done = in_a_process(|| {
        // SAFETY: concerns this process's view of such objects alone.
        let _ = unsafe { libc::unshare(libc::CLONE_NEWIPC) };
        let before = objects(&scratch);
        work(&scratch);
        assert_eq!(objects(&scratch), before, "an operation left a System V object or a POSIX queue behind");
    });
    std::fs::remove_dir_all(&scratch).expect("the test's own folder can be removed");
    done.unwrap_or_else(|why| panic!("{why}"));
}

fn perform(operation: &Operation, scratch: &Path) {
    // As in a round: two tasks on one CPU behave differently from two tasks on two CPUs.
    operation::pin(0).expect("CPU 0 may be used");
    for point in operation.points(false) {
        let setting = Setting::new(point.clone(), scratch.into(), 0, other_cpu(), 1);
        let done = operation
            .set_up(&setting)
            .and_then(|mut work| [1, 3, 20].into_iter().try_for_each(|times| work.perform(times)));
        did(&format!("{}{point}", operation.id), done.map_err(Failure::into_skip));
    }
}

/// The existing System V objects and POSIX queues, as text. Queues are visible only if root may mount their file system, which is
/// done in a mount namespace that ends at once.
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
        // Later mounts stay in this namespace.
        let _ = mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE);
        if mount("none", scratch, "mqueue", MountFlags::empty(), None).is_err() {
            return "queues are not seen".to_owned();
        }
        let files = std::fs::read_dir(scratch).expect("the queues can be listed");
        files.flatten().map(|file| format!("queue {}\n", file.file_name().display())).collect()
    });
    objects + &queues.expect("a process that lists queues")
}
