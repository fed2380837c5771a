//! The memory of a reader does not grow with the file, and files larger than memory are read completely.

use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use howslow_catalogue::reading::UserFile;
use operation::Setting;

use crate::support::{did, in_a_process, in_sequence, status};

const MIB: u64 = 1 << 20;

/// One pass over a file of holes, beginning with nothing of it in memory.
fn passes_over(id: &str, path: &Path) {
    let given: &'static UserFile = Box::leak(Box::new(UserFile::read(path).expect("a file")));
    pass_over(id, path, given);
}

fn pass_over(id: &str, path: &Path, given: &'static UserFile) {
    let operation = howslow_catalogue::find(id).expect(id);
    let point = in_sequence("cold", &[("record", 128 << 10), ("file", given.length()), ("depth", 16)]);
    let scratch = path.parent().expect("a folder").into();
    let setting = Setting::new(point, scratch, 0, None, 1).with_argument(Some(given));
    let done = operation.set_up(&setting).and_then(|mut passes| passes.perform(1));
    did(&format!("{id} over {} bytes", given.length()), done);
}

/// A file of this size that occupies no space.
fn holes(folder: &Path, length: u64) -> PathBuf {
    let path = folder.join("holes");
    File::create(&path).and_then(|file| file.set_len(length)).expect("a sparse file");
    path
}

/// A line of `/proc/self/status`, in KiB.
fn kib(name: &str) -> u64 {
    status(name).trim_matches([':', '\t', ' ', 'k', 'B']).parse().expect("a number")
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for id in ["read.read", "read.pread", "read.direct", "read.uring", "read.stdio", "read.mmap"] {
        // In a separate process, because it examines the whole memory of the process.
        let (grown, peaks) = in_a_process(|| grows(id, folder.path())).unwrap_or_else(|why| panic!("{id}: {why}"));
        eprintln!("{id}: RssAnon grew by {grown} KiB, VmHWM {peaks:?} KiB");
        assert!(grown < 2048, "{id}: RssAnon grew by {grown} KiB");
        // The pages of a mapping belong to the page cache.
        assert!(id == "read.mmap" || peaks[1] < peaks[0] + 4096, "{id}: {peaks:?} KiB");
    }
}

/// How much the process grew between reading a small and a large file, and its peak for both, in KiB.
fn grows(id: &str, folder: &Path) -> (u64, [u64; 2]) {
    // The first pass loads the code and the libraries' buffers.
    passes_over(id, &holes(folder, 16 * MIB));
    let before = kib("RssAnon");
    let peaks = [16, 256].map(|mib| {
        std::fs::write("/proc/self/clear_refs", "5").expect("the peak is forgotten");
        passes_over(id, &holes(folder, mib * MIB));
        kib("VmHWM")
    });
    (kib("RssAnon").saturating_sub(before), peaks)
}

/// The size in MiB of the file that is larger than memory, unless the variable gives another.
const SIZE: (&str, u64) = ("HOWSLOW_TEST_FILE_MIB", 65_536);

/// With less memory than the file has bytes, in a control group of this test.
#[test]
fn files_larger_than_memory_are_read_to_their_end() {
    const LIMIT: u64 = 96 * MIB;
    let group = match Group::limited_to(LIMIT) {
        Ok(group) => group,
        Err(error) => return testing::not_tested!("no control group limits memory here ({error}); run as root"),
    };
    let mut reader = Command::new(std::env::current_exe().expect("this program"));
    reader
        .args(["--exact", "large::a_file_of_64_gib_is_read_to_its_end", "--ignored", "--nocapture"])
        .env(SIZE.0, "512");
    let mut procs = File::options().write(true).open(group.0.join("cgroup.procs")).expect("a control group");
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe { reader.pre_exec(move || procs.write_all(b"0")) };
    let output = reader.output().expect("it starts");
    let stated = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stated}", output.status);
    assert_eq!(stated.matches(": whole;").count(), READERS.len(), "{stated}");
    let most = group.most_used();
    assert!((LIMIT / 2..=LIMIT).contains(&most), "{most} bytes were used: the file was not larger than memory");
}

/// A control group whose processes share this number of bytes of memory, including the page cache. Dropping it removes it.
struct Group(PathBuf);

impl Group {
    /// Below this process's own group, with either version of control groups.
    fn limited_to(bytes: u64) -> std::io::Result<Group> {
        let of_this = std::fs::read_to_string("/proc/self/cgroup")?;
        let path = |controller: &str| {
            let line = of_this.lines().find_map(|line| line.split_once(controller)?.1.strip_prefix('/'));
            line.map(str::to_string).ok_or(std::io::ErrorKind::NotFound)
        };
        let name = format!("howslow-test-{}", std::process::id());
        let first = path(":memory:").map(|path| Path::new("/sys/fs/cgroup/memory").join(path).join(&name));
        let second = || path("0::").map(|path| Path::new("/sys/fs/cgroup").join(path).join(&name));
        let group = Group(first.or_else(|_| second())?);
        std::fs::create_dir(&group.0)?;
        let limits = ["memory.limit_in_bytes", "memory.max"].map(|name| group.0.join(name));
        let limit = limits.iter().find(|path| path.exists()).ok_or(std::io::ErrorKind::Unsupported)?;
        std::fs::write(limit, bytes.to_string())?;
        Ok(group)
    }

    fn most_used(&self) -> u64 {
        let files = ["memory.max_usage_in_bytes", "memory.peak"];
        let reported = files.iter().find_map(|name| std::fs::read_to_string(self.0.join(name)).ok());
        reported.and_then(|bytes| bytes.trim().parse().ok()).expect("the kernel tells what was used")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

const READERS: [&str; 3] = ["read.read", "read.mmap", "read.uring"];

#[test]
#[ignore = "reads 64 GiB of holes seven times, which takes minutes; to be run with --release --ignored"]
fn a_file_of_64_gib_is_read_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mib = std::env::var(SIZE.0).map_or(SIZE.1, |mib| mib.parse().expect("MiB"));
    let path = holes(folder.path(), mib * MIB);
    let given: &'static UserFile = Box::leak(Box::new(UserFile::read(&path).expect("a file")));
    for id in READERS {
        pass_over(id, &path, given);
        eprintln!("{id}: whole; RssAnon {} KiB, VmHWM {} KiB", kib("RssAnon"), kib("VmHWM"));
    }
}
