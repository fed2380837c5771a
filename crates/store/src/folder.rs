//! The folder in which a user's data lies.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::error::{StoreError, VARIABLE};
use crate::write::OpenFolder;

/// The user's data folder: `HOWSLOW_DATA`, else `howslow` in `XDG_DATA_HOME`, else in `~/.local/share`. Nothing is created.
///
/// # Errors
/// If none of these is known.
pub fn data_folder() -> Result<PathBuf, StoreError> {
    if let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
        return Ok(folder.into());
    }
    let base = etcetera::base_strategy::Xdg::new().map_err(|_| StoreError::NoHome)?.data_dir();
    // An empty HOME would otherwise put data below the current directory.
    if base.is_absolute() { Ok(base.join("howslow")) } else { Err(StoreError::NoHome) }
}

/// Checks that root does not write into the data folder of another user, as with `sudo` that keeps HOME. A folder that the user named
/// for this program is his choice.
///
/// # Errors
/// If root would.
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

/// Makes a folder below the data folder `base`: not as root in another user's, and through no link of another user.
///
/// # Errors
/// If that is where it would be, or it cannot be made.
pub fn make_folder(base: &Path, below: &Path) -> Result<PathBuf, StoreError> {
    check_owner(base)?;
    OpenFolder::create(base, below)?;
    Ok(base.join(below))
}
