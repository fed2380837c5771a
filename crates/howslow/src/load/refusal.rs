//! Which failures of an experiment are misuses.

use ::load::LoadError;

use crate::output::Misuse;

/// What the plan or the machine does not allow is a misuse.
pub(super) fn refused(error: LoadError) -> anyhow::Error {
    if error.is_misuse() { Misuse(error.to_string()).into() } else { error.into() }
}
