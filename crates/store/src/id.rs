//! Ids of runs.

use crate::error::StoreError;

/// Longer ids are refused.
pub(crate) const LONGEST: usize = 100;

/// Checks that an id is harmless as a file name anywhere. Fails if it is not.
pub(crate) fn check_id(id: &str) -> Result<(), StoreError> {
    let is_id = id.len() <= LONGEST && record::is_plain_name(id);
    if is_id { Ok(()) } else { Err(StoreError::Id(record::printable(id))) }
}
