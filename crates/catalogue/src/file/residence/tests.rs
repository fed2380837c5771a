//! Files in memory and out of it.

use super::*;
use crate::kit::library;
use crate::kit::mapping::Mapping;

#[test]
fn pages_that_stay_in_memory_are_found_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    std::fs::write(&path, [1; 10_000]).expect("a file");
    let file = std::fs::File::open(path).expect("the file");
    // A page that is mapped and accessed stays.
    let mapping = Mapping::shared(&file, 10_000).expect("a mapping");
    mapping.read(0);
    let Err(Failure::Skip { reason, .. }) = put_out_of_memory(&file) else { panic!("it is put out") };
    assert!(reason.contains("stay in memory"), "{reason}");
}

#[test]
fn reads_through_the_page_cache_are_found_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    std::fs::write(&path, [1; 10_000]).expect("a file");
    let file = std::fs::File::open(path).expect("the file");
    if can_be_cold(&file).is_err() || evict(&file).expect("evicted").resident > 0 {
        return testing::not_tested!("no file can be evicted here, set TMPDIR to a folder on a disk");
    }
    let read = || Ok(library::pread(&file, &mut [0; 8], 0).map(drop)?);
    assert!(matches!(is_past_memory(&file, read), Err(Failure::Skip { .. })));
    assert_eq!(is_past_memory(&file, || Ok(())), Ok(()));
}

#[test]
fn a_layered_file_system_in_memory_has_no_device() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().to_owned();
    let tried = std::thread::spawn(move || on_layers(&root)).join().expect("a thread");
    match tried {
        Ok(found) => assert!(matches!(found, Err(Failure::Skip { .. })), "{found:?}"),
        Err(error) => testing::not_tested!("overlayfs cannot be mounted here: {error}; run as root"),
    }
}

/// What is found of a new file on overlayfs over tmpfs, in namespaces of this thread alone.
fn on_layers(root: &Path) -> Result<Result<(), Failure>, Errno> {
    use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
    use rustix::thread::{UnshareFlags, unshare_unsafe};
    // SAFETY: the thread is a test's own, which shares no working folder that others rely on, and ends afterwards.
    unsafe { unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::FS)? };
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    mount("tmpfs", root, "tmpfs", MountFlags::empty(), None)?;
    let [lower, upper, work, merged] = ["lower", "upper", "work", "merged"].map(|name| root.join(name));
    for layer in [&lower, &upper, &work, &merged] {
        rustix::fs::mkdir(layer, Mode::RWXU)?;
    }
    let layers = format!("lowerdir={},upperdir={},workdir={}", lower.display(), upper.display(), work.display());
    let layers = std::ffi::CString::new(layers).map_err(|_| Errno::INVAL)?;
    mount("overlay", &merged, "overlay", MountFlags::empty(), Some(layers.as_c_str()))?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    let file = library::open(merged.join("file"), flags, Mode::RUSR | Mode::WUSR)?;
    assert!(!lives_in_memory(&file), "the kernel says what is below");
    let found = on_a_device(&file);
    assert_eq!(length(&file).ok(), Some(0), "as it was");
    Ok(found)
}
