//! Resolves the names in arguments before a verb begins, by the same rules for every verb.

use record::{ReadError, Run};
use store::{Store, StoreError};

use crate::output::Misuse;
use crate::pattern::Pattern;

/// A run and the name it was called by.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub name: &'a str,
    pub run: &'a Run,
}

/// The run with this name. An unknown name is misuse; a run that cannot be read is a failure.
///
/// # Errors
/// Either of them.
pub(crate) fn run(name: &str) -> anyhow::Result<Run> {
    Store::open_any(name).map_err(|error| match &error {
        StoreError::Unknown { .. } | StoreError::Ambiguous { .. } => Misuse(error.to_string()).into(),
        StoreError::Read { source: ReadError::Io(why), .. } | StoreError::Io { source: why, .. }
            if why.kind() == std::io::ErrorKind::NotFound =>
        {
            Misuse(error.to_string()).into()
        }
        _ => error.into(),
    })
}

/// The runs with these names.
///
/// # Errors
/// Those of [`run`].
pub(crate) fn runs(names: &[String]) -> anyhow::Result<Vec<Run>> {
    names.iter().map(|name| run(name)).collect()
}

/// The runs with their names.
pub(crate) fn named<'a>(names: &'a [String], runs: &'a [Run]) -> Vec<Named<'a>> {
    names.iter().zip(runs).map(|(name, run)| Named { name, run }).collect()
}

/// Parses these texts as patterns.
///
/// # Errors
/// A pattern that cannot be read.
pub(crate) fn patterns(texts: &[String]) -> Result<Vec<Pattern>, Misuse> {
    texts.iter().map(|text| Pattern::parse(text)).collect()
}
