//! The folder in which a user's data lies.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{StoreError, VARIABLE};
use crate::write::OpenFolder;

/// The user's data folder: `HOWSLOW_DATA`, else `howslow` in `XDG_DATA_HOME`, else in `~/.local/share`. Nothing is created.
/// Fails if none of these is known.
pub fn data_folder() -> Result<PathBuf, StoreError> {
    if let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
        return Ok(folder.into());
    }
    // A relative path in XDG_DATA_HOME counts for nothing, as its specification says; an empty HOME would put data below the current
    // directory.
    let named = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let base = named.or_else(|| Some(std::env::home_dir()?.join(".local/share")));
    match base.filter(|base| base.is_absolute()) {
        Some(base) => Ok(base.join("howslow")),
        None => Err(StoreError::NoHome),
    }
}

/// Checks that root does not write into the data folder of another user, as with `sudo` that keeps HOME. A folder that the
/// user named for this program is his choice. Fails if root would.
pub(crate) fn check_owner(folder: &Path) -> Result<(), StoreError> {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root || std::env::var_os(VARIABLE).is_some_and(|named| !named.is_empty()) {
        return Ok(());
    }
    let existing = folder.ancestors().find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?.uid())));
    match existing {
        Some((folder, owner)) if owner != 0 => Err(StoreError::AnothersFolder { folder: folder.into(), owner }),
        _ => Ok(()),
    }
}

/// Makes a folder below the data folder `base`: not as root in another user's, and through no link of another user. Fails
/// if that is where it would be, or it cannot be made.
pub fn make_folder(base: &Path, below: &Path) -> Result<PathBuf, StoreError> {
    check_owner(base)?;
    OpenFolder::create(base, below)?;
    Ok(base.join(below))
}
