//! Putting a file out of memory, and making sure that it is.

use measure::Failure;
use rustix::fd::AsFd;
use rustix::fs::{Advice, fadvise};

use crate::page::Mapping;

/// Puts a file whose pages are all on the device out of memory; `length` bytes of it are looked at.
///
/// # Errors
/// A skip where pages of it stay: in a folder in memory, or where others have the file mapped.
pub(crate) fn put_out_of_memory(file: impl AsFd, length: usize) -> Result<(), Failure> {
    fadvise(&file, 0, None, Advice::DontNeed)?;
    match Mapping::shared(&file, length)?.resident()? {
        0 => Ok(()),
        resident => Err(Failure::skip(
            format!("{resident} pages of a file in the scratch folder stay in memory"),
            "set TMPDIR to a folder on a disk",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_stay_in_memory_are_found_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, [1; 10_000]).expect("a file");
        let file = std::fs::File::open(path).expect("the file");
        // A page that is mapped and touched stays.
        let mapping = Mapping::shared(&file, 10_000).expect("a mapping");
        mapping.read(0);
        let Err(Failure::Skip { reason, .. }) = put_out_of_memory(&file, 10_000) else { panic!("it is put out") };
        assert!(reason.contains("stay in memory"), "{reason}");
    }
}
