//! Writes a file completely or not at all.

use std::io::Write;
use std::path::Path;

use record::Run;

use crate::error::StoreError;

/// Checks before a long measurement that [`write_whole`] can write there.
///
/// # Errors
/// If a folder is missing or cannot be written, or the path is not a file.
pub fn check_writable(path: &Path) -> Result<(), StoreError> {
    let io = |what, source| StoreError::Io { what, path: path.into(), source };
    // A device must not be replaced by a file of its name.
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(StoreError::NotAFile { path: path.into(), is: "a folder" }),
        Ok(found) if !found.is_file() => {
            return Err(StoreError::NotAFile { path: path.into(), is: "a device or pipe" });
        }
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(io("write", error)),
    }
    tempfile::Builder::new().prefix(".howslow-").tempfile_in(folder_of(path)).map_err(|error| io("write", error))?;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes `bytes` to `path` through a temporary file beside it, which is on the device before it gets the name.
///
/// # Errors
/// If a folder cannot be made or a file cannot be written. Nothing is left behind then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    // A link keeps its target. The file behind it is replaced.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let folder = folder_of(path);
    std::fs::create_dir_all(folder).map_err(|source| StoreError::Io {
        what: "create the folder",
        path: folder.into(),
        source,
    })?;
    let write = || -> std::io::Result<()> {
        // A temporary file is private to its owner. A run is as readable as the user's umask allows.
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        let mut file =
            tempfile::Builder::new().prefix(".howslow-").suffix(".part").permissions(readable).tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        // The name itself is on the device only after the folder is. If that is not possible, the file is complete
        // anyway.
        let _ = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    };
    write().map_err(|source| StoreError::Io { what: "write", path: path.into(), source })
}

/// A run's document.
///
/// # Errors
/// If the run could not be read again.
pub(crate) fn document_of(run: &Run) -> Result<Vec<u8>, StoreError> {
    let mut text = serde_json::to_vec(run).map_err(|error| StoreError::Unwritable(error.to_string()))?;
    // JSON cannot represent an infinite number. It is better to refuse it now than to find it unreadable in a year.
    record::run_from_bytes(&text).map_err(|error| StoreError::Unwritable(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

/// Writes a run's document to a file, completely or not at all. Creates the folder if it is missing.
///
/// # Errors
/// If the run could not be read again, or a folder or file cannot be written.
pub fn write_run(run: &Run, path: &Path) -> Result<(), StoreError> {
    write_whole(path, &document_of(run)?)
}
