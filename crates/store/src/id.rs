//! Ids of runs.

use crate::error::StoreError;

/// Checks that an id is harmless as a file name anywhere.
///
/// # Errors
/// If it is not.
pub(crate) fn check_id(id: &str) -> Result<(), StoreError> {
    if is_id(id) { Ok(()) } else { Err(StoreError::Id(record::printable(id))) }
}

/// True for letters, digits, '-', '_' and '.', not hidden, not long: harmless as a file name anywhere.
pub(crate) fn is_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.is_empty() && id.len() <= 100 && !id.starts_with('.') && !id.starts_with('-') && id.chars().all(allowed)
}
