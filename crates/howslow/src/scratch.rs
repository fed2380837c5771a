//! The folder for scratch files.

use std::path::PathBuf;

use rustix::fs::Access;

use crate::output::Misuse;

/// The folder for scratch files, which must exist.
pub(crate) fn folder() -> Result<PathBuf, Misuse> {
    let scratch = root();
    if scratch.is_dir() {
        return Ok(scratch);
    }
    let text = format!("TMPDIR: {} is not a folder; set it to one for scratch files", scratch.display());
    Err(Misuse(record::printable(&text)))
}

/// The folder for scratch files: TMPDIR, or /var/tmp, which unlike /tmp is on a disk on most systems. Where neither can be written, as in
/// a container whose files are read-only, it is memory.
pub(crate) fn root() -> PathBuf {
    if let Some(folder) = std::env::var_os("TMPDIR").filter(|folder| !folder.is_empty()) {
        return folder.into();
    }
    let mut folders = ["/var/tmp", "/tmp", "/dev/shm"].into_iter();
    folders.find(|folder| rustix::fs::access(*folder, Access::WRITE_OK).is_ok()).unwrap_or("/tmp").into()
}
