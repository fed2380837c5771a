//! Calls on files: attributes that change, names that are created and not deleted, writes of the device.

use std::ffi::CString;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::support::{apart, changes_each_time, looped, points, prepared, setting};

/// The attribute that all operations on extended attributes use.
fn attribute(scratch: &Path) -> Option<String> {
    let path = CString::new(scratch.join("file").as_os_str().as_encoded_bytes()).expect("a path");
    let mut value = [0_u8; 64];
    // SAFETY: the strings end in zeros, and the buffer has the given length.
    let length =
        unsafe { libc::getxattr(path.as_ptr(), c"user.howslow".as_ptr(), value.as_mut_ptr().cast(), value.len()) };
    (length > 0).then(|| format!("{:?}", &value[..length as usize]))
}

#[test]
fn extended_attributes_get_another_value_each_time() {
    for id in ["call.setxattr", "call.lsetxattr", "call.fsetxattr", "call.setxattrat"] {
        changes_each_time(id, &[], attribute);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn files_get_another_owner_or_group_each_time() {
    for id in ["call.chown", "call.lchown", "call.fchown", "call.fchownat"] {
        changes_each_time(id, &[], |scratch| {
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
        changes_each_time(id, &[], |scratch| {
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

/// The number of writes that this file's device has done; `None` if the kernel does not count them.
fn writes(file: &Path) -> Option<u64> {
    let device = std::fs::metadata(file).ok()?.dev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    let text = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).ok()?;
    text.split_whitespace().nth(4)?.parse().ok()
}

#[test]
fn calls_that_wait_for_the_device_have_it_write() {
    const TIMES: u64 = 50;
    for id in ["call.fsync", "call.fdatasync", "call.sync_file_range", "call.msync", "call.quotactl_fd"] {
        apart(|scratch| {
            let setting = setting(points(id)[0].clone(), scratch);
            let Some(mut work) = looped(id, &setting) else { return };
            let Some(before) = writes(scratch) else {
                testing::left_out!("{id}: the kernel does not count the writes of {}", scratch.display());
                return;
            };
            (0..TIMES).for_each(|_| work.perform(1).expect("a write"));
            let written = writes(scratch).expect("writes") - before;
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
        let records = CString::new(scratch.join("records").as_os_str().as_encoded_bytes()).expect("a path");
        // SAFETY: requests a descriptor.
        let watch = unsafe { libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC) };
        // SAFETY: the path ends in zero.
        let added = unsafe { libc::inotify_add_watch(watch, records.as_ptr(), libc::IN_OPEN | libc::IN_CLOSE) };
        assert!(watch >= 0 && added >= 0, "{}", std::io::Error::last_os_error());
        let mut opened = 0;
        for _ in 0..TIMES {
            work.perform(1).expect("pairs");
            opened += opens(watch);
        }
        // SAFETY: our own descriptor.
        unsafe { libc::close(watch) };
        // Two openings that nothing separates are reported as one.
        assert!(opened >= TIMES * 32, "the kernel opened the records {opened} times for {TIMES} processes");
    });
}

/// The openings that this watch has seen since it was asked.
fn opens(watch: i32) -> u64 {
    const HEADER: usize = size_of::<libc::inotify_event>();
    let (mut events, mut opens) = (vec![0_u8; 1 << 16], 0);
    loop {
        // SAFETY: the buffer has this length.
        let length = unsafe { libc::read(watch, events.as_mut_ptr().cast(), events.len()) };
        let Ok(length @ 1..) = usize::try_from(length) else { return opens };
        // The watch is of a file, so no event has a name. The mask is the second word.
        for event in events[..length].chunks_exact(HEADER) {
            let mask = u32::from_ne_bytes(event[4..8].try_into().expect("a word"));
            opens += u64::from(mask & libc::IN_OPEN != 0);
        }
    }
}
