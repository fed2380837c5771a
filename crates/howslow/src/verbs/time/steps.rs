//! `--setup` and `--cleanup`: what happens once for each command, before all rounds and after them.

use catalogue::command::shell;
use measure::Signals;
use record::printable;

use super::works::Work;

/// Sets all works up, in the order given, does what is to be done, and cleans up what was set up, also if a `--setup` fails or a
/// signal comes. Returns how it went, and the first `--cleanup` that failed.
pub(super) fn within<T>(
    works: &[Work],
    signals: &Signals,
    inner: impl FnOnce() -> anyhow::Result<T>,
) -> (anyhow::Result<T>, anyhow::Result<()>) {
    let sentence = |why: String| anyhow::anyhow!("{}", printable(&why));
    let (mut begun, mut set_up) = (0, Ok(()));
    while begun < works.len() && set_up.is_ok() && signals.come().is_none() {
        set_up = shell("--setup", works[begun].setup.as_deref());
        begun += 1;
    }
    let done = set_up.map_err(sentence).and_then(|()| inner());
    // What a `--setup` made before it failed is cleaned up as well, and all of them are, whichever fails.
    let cleaned: Vec<_> = works[..begun].iter().map(|work| shell("--cleanup", work.cleanup.as_deref())).collect();
    (done, cleaned.into_iter().collect::<Result<(), String>>().map_err(sentence))
}
