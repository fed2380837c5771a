//! What a shell completes while a command line is typed: operations and their points, families and headings, runs and
//! books, mixes and plans.

mod bash;

use std::collections::BTreeSet;
use std::ffi::OsStr;

use clap_complete::CompletionCandidate;
use clap_complete::env::{Elvish, EnvCompleter, Fish, Powershell, Shells, Zsh};
use operation::Operation;
use store::Store;

use crate::pattern::Pattern;

/// The shells that request completions.
pub(crate) const SHELLS: Shells<'static> = {
    let bash: &dyn EnvCompleter = &bash::Bash;
    Shells(&[bash, &Elvish, &Fish, &Powershell, &Zsh])
};

/// Operations, the first words of their ids, and headings with dashes; behind an `@` the axes and their values.
pub(crate) fn operations(typed: &OsStr) -> Vec<CompletionCandidate> {
    if let Some((id, point)) = typed.to_string_lossy().split_once('@') {
        return points(id, point);
    }
    let ids = catalogue::all().map(|operation| (operation.id.to_string(), operation.summary.to_string()));
    let families: BTreeSet<String> = catalogue::all().map(|operation| operation.family().to_string()).collect();
    let families = families.into_iter().map(|family| (family, "a family".to_string()));
    let dashed = |title: &str| title.replace(", ", "-").replace(' ', "-");
    let titles = catalogue::FAMILIES.iter().map(|family| family.title);
    let headings = titles.map(|title| (dashed(title), format!("all {title}")));
    beginning(typed, ids.chain(families).chain(headings))
}

/// The axes of the operations that `id` names, each with `=`, and the values of one whose name is complete.
fn points(id: &str, point: &str) -> Vec<CompletionCandidate> {
    let Ok(pattern) = Pattern::parse(id) else { return Vec::new() };
    let meant: Vec<&Operation> = catalogue::all().filter(|operation| pattern.selects(operation)).collect();
    let axes = || meant.iter().flat_map(|operation| operation.axes);
    let (before, last) =
        point.rsplit_once(',').map_or((String::new(), point), |(before, last)| (format!("{before},"), last));
    let mut known = BTreeSet::new();
    let mut ends: Vec<(String, String)> = match last.split_once('=') {
        Some((name, _)) => {
            let values = axes()
                .filter(|axis| axis.name == name)
                .flat_map(|axis| axis.values.iter().map(|value| value.value().in_unit(axis.unit).typed(axis.name)));
            values.map(|value| (format!("{name}={value}"), String::new())).collect()
        }
        None => {
            let taken: Vec<&str> = before.split(',').filter_map(|one| Some(one.split_once('=')?.0)).collect();
            let free = axes().filter(|axis| !taken.contains(&axis.name));
            free.map(|axis| (format!("{}=", axis.name), "an axis".into())).collect()
        }
    };
    ends.retain(|(end, _)| end.starts_with(last) && known.insert(end.clone()));
    ends.into_iter().map(|(end, help)| candidate((format!("{id}@{before}{end}"), help))).collect()
}

/// Kept runs by their names, labels and ids, and books. Files are completed by the shell.
pub(crate) fn runs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let heads = Store::of_user().and_then(|store| store.list()).unwrap_or_default();
    let kept = heads.into_iter().zip(1..).flat_map(|(head, place)| {
        let about = format!("{} {}", head.started, head.model);
        let label = head.label.map(|label| (label, about.clone()));
        [(format!("@{place}"), about.clone()), (head.id, about)].into_iter().chain(label)
    });
    let books = store::book_names().map(|name| (name.to_string(), "a book".to_string()));
    beginning(typed, kept.chain(books))
}

/// The mixes that come with howslow.
pub(crate) fn mixes(typed: &OsStr) -> Vec<CompletionCandidate> {
    beginning(typed, crate::verbs::predict::mixes::mix_names().map(|name| (name.into(), "a mix".into())))
}

/// The plans that come with howslow.
pub(crate) fn plans(typed: &OsStr) -> Vec<CompletionCandidate> {
    beginning(typed, load::SHIPPED.iter().map(|(name, _)| ((*name).into(), "a plan".into())))
}

/// Those whose name begins with what is typed, each name once.
fn beginning(typed: &OsStr, all: impl Iterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let mut known = BTreeSet::new();
    all.filter(|(name, _)| name.starts_with(&*typed) && known.insert(name.clone())).map(candidate).collect()
}

fn candidate((name, help): (String, String)) -> CompletionCandidate {
    CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.into()))
}
