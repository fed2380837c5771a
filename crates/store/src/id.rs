//! Ids of runs.

use crate::error::StoreError;

/// Checks that an id is harmless as a file name anywhere. Fails if it is not.
pub(crate) fn check_id(id: &str) -> Result<(), StoreError> {
    if is_id(id) { Ok(()) } else { Err(StoreError::Id(record::printable(id))) }
}

/// True for a plain name that is not long.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() <= 100 && record::is_plain_name(id)
}
