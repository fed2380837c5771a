//! The folder for scratch files.

use std::path::PathBuf;

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

/// The folder for scratch files: TMPDIR, or /var/tmp, which unlike /tmp is on a disk on most systems.
pub(crate) fn root() -> PathBuf {
    let var_tmp = PathBuf::from("/var/tmp");
    match std::env::var_os("TMPDIR") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ if var_tmp.is_dir() => var_tmp,
        _ => std::env::temp_dir(),
    }
}
