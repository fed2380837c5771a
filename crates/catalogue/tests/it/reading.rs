//! Files that readers cannot use are reported, and pages in memory are counted correctly.

use std::path::Path;

use howslow_catalogue::reading::UserFile;
use howslow_catalogue::residence;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::param::page_size;

#[test]
fn a_file_of_64_gib_is_set_up_in_the_memory_of_a_round() {
    let root = tempfile::tempdir().expect("a folder");
    let path = root.path().join("sparse");
    let length = 64 << 30;
    if let Err(error) = std::fs::File::create(&path).and_then(|file| file.set_len(length)) {
        testing::not_tested!("no sparse file of 64 GiB ({error}); TMPDIR on a disk's file system");
        return;
    }
    let file = residence::open(&path).expect("open");
    let cached = residence::resident(&file).expect("counted");
    assert_eq!((cached.pages * page_size() as u64, cached.resident), (length, 0));
    assert_eq!(residence::resident_ranges(&file).expect("walked"), []);
    assert_eq!(residence::evict(&file).expect("nothing to evict").resident, 0);
}

#[test]
fn pages_in_memory_are_counted_where_they_are() {
    let root = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let path = root.path().join("file");
    std::fs::write(&path, vec![1; 1 << 20]).expect("written");
    let file = residence::open(&path).expect("open");
    if residence::lives_in_memory(&file) {
        testing::not_tested!("/var/tmp is in memory; mount it from a disk");
        return;
    }
    let pages = (1 << 20) / page_size() as u64;
    assert_eq!(residence::resident(&file).expect("counted").resident, pages);
    residence::sync(&file).expect("synced");
    assert_eq!(residence::resident(&file).expect("counted").dirty.unwrap_or(0), 0);
    assert_eq!(residence::evict(&file).expect("evicted").resident, 0);
    assert_eq!(residence::resident_ranges(&file).expect("walked"), []);
    assert_eq!(rustix::io::pread(&file, &mut [0], 500_000), Ok(1));
    let ranges = residence::resident_ranges(&file).expect("walked");
    let counted: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    assert_eq!(counted, residence::resident(&file).expect("counted").resident);
    assert!(ranges.iter().any(|range| range.contains(&(500_000 / page_size() as u64))), "{ranges:?}");
}

#[test]
fn what_is_no_readable_file_is_reported() {
    let root = tempfile::tempdir().expect("a folder");
    let reported = |path: &Path| UserFile::read(path).expect_err("not readable").to_string();
    assert!(reported(&root.path().join("missing")).contains("No such file"));
    assert!(reported(root.path()).contains("is a directory"));
    std::fs::write(root.path().join("empty"), "").expect("written");
    assert!(reported(&root.path().join("empty")).contains("is empty"));
    assert!(reported(Path::new("/dev/null")).contains("is a device"));
    let fifo = root.path().join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR, 0).expect("a FIFO");
    assert!(reported(&fifo).contains("is a FIFO"));
}
