//! What a reader takes of memory does not grow with the file, and files larger than memory are read whole. Alone in its
//! process, since it looks at the process' own memory.

use std::fs::File;
use std::path::Path;

use measure::Setting;
use operations::reading::Given;
use record::{Point, Value};

const MIB: u64 = 1 << 20;

/// One pass over a file of holes, from the state in which nothing of it is in memory.
fn passes_over(id: &str, path: &Path) {
    let given: &'static Given = Box::leak(Box::new(Given::read(path).expect("a file")));
    pass_over(id, path, given);
}

fn pass_over(id: &str, path: &Path, given: &'static Given) {
    let operation = operations::find(id).unwrap_or_else(|| panic!("there is no {id}"));
    let words = [("state", "cold"), ("order", "sequential")].map(|(axis, word)| (axis, Value::Word(word.into())));
    let numbers = [("record", 128 << 10), ("file", given.length()), ("depth", 16)];
    let values = words.into_iter().chain(numbers.map(|(axis, number)| (axis, Value::Number(number))));
    let point = values.fold(Point::default(), |point, (axis, value)| point.with(axis, value));
    let scratch = path.parent().expect("a folder").into();
    let setting = Setting::new(point, scratch, 0, None, 1).with_argument(Some(given));
    match (operation.prepare)(&setting).and_then(|mut passes| passes.perform(1)) {
        Ok(()) => {}
        Err(measure::Failure::Skip { reason, remedy }) => eprintln!("not tested: {id}: {reason}; {remedy}"),
        Err(failure) => panic!("{id} over {} bytes: {failure}", given.length()),
    }
}

/// A file of so many bytes that takes no room.
fn holes(folder: &Path, length: u64) -> std::path::PathBuf {
    let path = folder.join("holes");
    File::create(&path).and_then(|file| file.set_len(length)).expect("a sparse file");
    path
}

/// A line of `/proc/self/status`, in KiB.
fn kib(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("the line");
    line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse().expect("a number")
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for id in ["read.read", "read.pread", "read.direct", "read.uring", "read.stdio", "read.mmap"] {
        // The first pass brings in the code and the libraries' buffers.
        passes_over(id, &holes(folder.path(), 16 * MIB));
        let before = kib("RssAnon");
        let peaks = [16, 256].map(|mib| {
            std::fs::write("/proc/self/clear_refs", "5").expect("the peak is forgotten");
            passes_over(id, &holes(folder.path(), mib * MIB));
            kib("VmHWM")
        });
        let grown = kib("RssAnon").saturating_sub(before);
        eprintln!("{id}: RssAnon grew by {grown} KiB, VmHWM {peaks:?} KiB");
        assert!(grown < 2048, "{id}: RssAnon grew by {grown} KiB");
        // Pages of a mapping are the file's own, in memory for all.
        assert!(id == "read.mmap" || peaks[1] < peaks[0] + 4096, "{id}: {peaks:?} KiB");
    }
}

#[test]
#[ignore = "reads 64 GiB of holes seven times, which takes minutes; to be run with --release --ignored"]
fn files_larger_than_memory_are_read_to_their_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = holes(folder.path(), 65_536 * MIB);
    let given: &'static Given = Box::leak(Box::new(Given::read(&path).expect("a file")));
    for id in ["read.read", "read.mmap", "read.uring"] {
        pass_over(id, &path, given);
        eprintln!("{id}: whole; RssAnon {} KiB, VmHWM {} KiB", kib("RssAnon"), kib("VmHWM"));
    }
}
