//! What was meant, where a word is no verb.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::pattern::Pattern;

/// Prints the error of a command line and ends the program: with status 0 for help and version, else with 2.
pub(super) fn exit(error: &clap::Error) -> ! {
    if let Some(told) = operation(error) {
        crate::output::say(&told);
        std::process::exit(2);
    }
    error.exit()
}

/// The command that measures an operation, a family or a system call that was given as a verb.
fn operation(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else { return None };
    let pattern = Pattern::parse(word).ok()?;
    let shown = record::printable(word);
    pattern.selects_any().then(|| format!("'{shown}' is no verb; it names what can be measured: howslow run {shown}"))
}
