//! `--setup` and `--cleanup`: what happens once for each command, before all rounds and after them.

use catalogue::command::shell;
use record::printable;

use super::works::Work;

/// Cleans up after the commands that were set up, also when something fails in between.
pub(super) struct Steps<'w> {
    set_up: &'w [Work],
}

/// Sets all works up, in the order given. If a `--setup` fails, what was set up until then is cleaned up.
pub(super) fn set_up(works: &[Work]) -> anyhow::Result<Steps<'_>> {
    for (place, work) in works.iter().enumerate() {
        if let Err(why) = shell("--setup", work.setup.as_deref()) {
            // What it made before it failed is cleaned up as well.
            let _ = Steps { set_up: &works[..=place] }.clean_up();
            anyhow::bail!("{}", printable(&why));
        }
    }
    Ok(Steps { set_up: works })
}

impl Steps<'_> {
    /// Cleans up after all of them, whichever fails. The error is the first `--cleanup` that failed.
    pub(super) fn clean_up(self) -> anyhow::Result<()> {
        let failed = self.set_up.iter().map(|work| shell("--cleanup", work.cleanup.as_deref()));
        match failed.filter_map(Result::err).collect::<Vec<_>>().first() {
            Some(why) => anyhow::bail!("{}", printable(why)),
            None => Ok(()),
        }
    }
}
