//! What was meant, where a word is no verb.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::pattern::{Pattern, slips};

/// Prints the error of a command line and ends the program: with status 0 for help and version, else with 2.
pub(super) fn exit(mut error: clap::Error) -> ! {
    if let Some(text) = operation(&error) {
        crate::output::print_note(&text);
        std::process::exit(2);
    }
    keep_near(&mut error);
    std::process::exit(crate::output::finish_usage(&error));
}

/// Leaves out suggestions that are not near in spelling, nor what was begun.
fn keep_near(error: &mut clap::Error) {
    /// Shorter beginnings begin too much.
    const BEGUN: usize = 3;
    let kinds = [
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
    ];
    for (invalid, suggested) in kinds {
        let Some(ContextValue::String(wanted)) = error.get(invalid) else { continue };
        let wanted = wanted.trim_start_matches('-').to_string();
        let is_near = |name: &String| {
            let name = name.trim_start_matches('-');
            slips(&wanted, name).is_some() || (wanted.len() >= BEGUN && name.starts_with(&wanted))
        };
        let near = match error.get(suggested) {
            Some(ContextValue::String(name)) => is_near(name).then(|| ContextValue::String(name.clone())),
            Some(ContextValue::Strings(names)) => {
                let near: Vec<String> = names.iter().filter(|name| is_near(name)).cloned().collect();
                (!near.is_empty()).then_some(ContextValue::Strings(near))
            }
            _ => continue,
        };
        error.remove(suggested);
        if let Some(near) = near {
            error.insert(suggested, near);
        }
    }
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
