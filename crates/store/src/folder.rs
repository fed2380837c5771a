//! The folder in which a user's data lies.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use crate::error::{StoreError, VARIABLE};

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
