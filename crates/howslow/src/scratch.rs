//! Where scratch files go.

use std::path::PathBuf;

use crate::output::Misuse;

/// The folder for scratch files, which must be there.
pub(crate) fn folder() -> Result<PathBuf, Misuse> {
    let scratch = root();
    if scratch.is_dir() {
        return Ok(scratch);
    }
    let text = format!("TMPDIR: {} is no folder; name one for scratch files", scratch.display());
    Err(Misuse(record::printable(&text)))
}

/// Where scratch files go: where TMPDIR says, else /var/tmp, which unlike /tmp lies on a disk on most systems.
pub(crate) fn root() -> PathBuf {
    let var_tmp = PathBuf::from("/var/tmp");
    match std::env::var_os("TMPDIR") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ if var_tmp.is_dir() => var_tmp,
        _ => std::env::temp_dir(),
    }
}
