//! Calls on files: attributes that change, names that are created and not deleted, writes of the device.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use operation::DeviceWrites;
use rustix::fs::inotify::{self, ReadFlags, WatchFlags};

use crate::support::{apart, changes_each_time, looped, points, prepared, setting};

/// The attribute that all operations on extended attributes use.
fn attribute(scratch: &Path) -> Option<String> {
    let mut value = [0_u8; 64];
    let length = rustix::fs::getxattr(scratch.join("file"), c"user.howslow", &mut value).ok()?;
    (length > 0).then(|| format!("{:?}", &value[..length]))
}

#[test]
fn extended_attributes_get_another_value_each_time() {
    for id in ["call.setxattr", "call.lsetxattr", "call.fsetxattr", "call.setxattrat"] {
        changes_each_time(id, attribute);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn files_get_another_owner_or_group_each_time() {
    for id in ["call.chown", "call.lchown", "call.fchown", "call.fchownat"] {
        changes_each_time(id, |scratch| {
            let file = std::fs::symlink_metadata(scratch.join("file")).ok()?;
            Some(format!("{} {}", file.uid(), file.gid()))
        });
    }
}

/// When the kernel last changed the file's attributes, which it records at every change that it carries out.
#[cfg(target_arch = "x86_64")]
#[test]
fn calls_on_attributes_change_the_file() {
    const IDS: [&str; 11] = [
        "call.chmod", "call.fchmod", "call.fchmodat", "call.fchmodat2", "call.utime", "call.utimes", "call.futimesat",
        "call.utimensat", "call.file_setattr", "call.truncate", "call.ftruncate",
    ];
    for id in IDS {
        changes_each_time(id, |scratch| {
            // Longer than the resolution of the clock for file times.
            std::thread::sleep(Duration::from_millis(12));
            let file = std::fs::metadata(scratch.join("file")).ok()?;
            Some(format!("{} {}", file.ctime(), file.ctime_nsec()))
        });
    }
}

/// A name deleted in a round makes the next one more expensive on some file systems.
#[test]
fn names_that_are_made_stay_until_the_round_ends() {
    let ids = ["mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "link", "linkat", "creat"];
    for id in ids.map(|name| format!("call.{name}")) {
        if howslow_catalogue::find(&id).is_none() {
            continue;
        }
        apart(|scratch| {
            let setting = setting(points(&id)[0].clone(), scratch);
            let mut work = looped(&id, &setting).expect("names can be made");
            [1, 5, 16].into_iter().for_each(|times| work.perform(times).expect("names"));
            let folders = std::fs::read_dir(scratch).expect("the scratch folder").flatten();
            let names = folders.flat_map(|folder| std::fs::read_dir(folder.path()).expect("a folder").flatten());
            let made = names.filter(|name| name.file_name().as_encoded_bytes().starts_with(b"new")).count();
            // One for the trial, and all others.
            assert_eq!(made, 1 + 1 + 5 + 16, "{id}: names that are there");
        });
    }
}

#[test]
fn calls_that_wait_for_the_device_have_it_write() {
    const TIMES: u64 = 50;
    for id in ["call.fsync", "call.fdatasync", "call.sync_file_range", "call.msync", "call.quotactl_fd"] {
        apart(|scratch| {
            let setting = setting(points(id)[0].clone(), scratch);
            let Some(mut work) = looped(id, &setting) else { return };
            let Some(writes) = DeviceWrites::of(File::open(scratch).expect("the scratch folder")) else {
                testing::left_out!("{id}: the kernel does not count the writes of {}", scratch.display());
                return;
            };
            (0..TIMES).for_each(|_| work.perform(1).expect("a write"));
            let (written, _) = writes.since().expect("writes");
            assert!(written >= TIMES, "{id}: the device wrote {written} times in {TIMES} calls");
        });
    }
}

#[test]
fn calls_that_wait_for_a_device_are_skipped_in_memory() {
    /// A file system in memory on almost every system.
    const IN_MEMORY: &str = "/dev/shm";
    let Ok(folder) = tempfile::tempdir_in(IN_MEMORY) else {
        testing::not_tested!("{IN_MEMORY} cannot be written");
        return;
    };
    let ids = ["fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "sync", "quotactl", "quotactl_fd"];
    for id in ids.map(|name| format!("call.{name}")) {
        apart(|_| {
            let setting = setting(points(&id)[0].clone(), folder.path());
            let reason = prepared(&id, &setting).err();
            assert!(reason.is_some(), "{id} waits for a device where there is none");
        });
    }
}

#[test]
fn what_writes_out_the_work_of_strangers_or_fills_the_log_is_requested_by_name() {
    for id in ["call.sync", "call.syncfs", "call.quotactl", "call.quotactl_fd", "call.acct"] {
        assert!(howslow_catalogue::find(id).expect(id).opt_in, "{id}");
    }
}

/// A namespace for each pair would be most of the cost: one process makes many pairs.
#[test]
fn accounting_begins_many_times_in_each_process() {
    const TIMES: u64 = 4;
    apart(|scratch| {
        let setting = setting(points("call.acct")[0].clone(), scratch);
        let Some(mut work) = looped("call.acct", &setting) else { return };
        let watch = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC).expect("a watch");
        let wanted = WatchFlags::OPEN | WatchFlags::CLOSE;
        inotify::add_watch(&watch, scratch.join("records"), wanted).expect("the records are watched");
        let mut opened = 0;
        for _ in 0..TIMES {
            work.perform(1).expect("pairs");
            opened += opens(&watch);
        }
        // Two openings that nothing separates are reported as one.
        assert!(opened >= TIMES * 32, "the kernel opened the records {opened} times for {TIMES} processes");
    });
}

/// The openings that this watch has seen since it was asked.
fn opens(watch: &OwnedFd) -> u64 {
    let mut room = [MaybeUninit::uninit(); 1 << 12];
    let (mut events, mut opens) = (inotify::Reader::new(watch, &mut room), 0);
    while let Ok(event) = events.next() {
        opens += u64::from(event.events().contains(ReadFlags::OPEN));
    }
    opens
}
