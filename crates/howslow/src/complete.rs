//! What a shell completes while a command line is typed: operations, families and headings, runs and books.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use clap_complete::CompletionCandidate;
use store::Store;

/// Operations, the first words of their ids, and headings with dashes.
pub(crate) fn operations(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let ids = operations::all().map(|operation| (operation.id.to_string(), operation.summary.to_string()));
    let families: BTreeSet<String> = operations::all().map(|operation| operation.family().to_string()).collect();
    let families = families.into_iter().map(|family| (family, "a family".to_string()));
    let headings = operations::FAMILIES
        .iter()
        .map(|family| (family.title.replace(", ", "-").replace(' ', "-"), format!("all {}", family.title)));
    let mut known = BTreeSet::new();
    let all = ids.chain(families).chain(headings);
    all.filter(|(name, _)| name.starts_with(&*typed) && known.insert(name.clone())).map(candidate).collect()
}

/// Kept runs by their names and ids, and books. Files are completed by the shell.
pub(crate) fn runs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let heads = Store::of_user().and_then(|store| store.list()).unwrap_or_default();
    let kept = heads.into_iter().zip(1..).flat_map(|(head, place)| {
        let about = format!("{} {}", head.started, head.model);
        [(format!("@{place}"), about.clone()), (head.id, about)]
    });
    let books = store::book_names().map(|name| (name.to_string(), "a book".to_string()));
    kept.chain(books).filter(|(name, _)| name.starts_with(&*typed)).map(candidate).collect()
}

fn candidate((name, help): (String, String)) -> CompletionCandidate {
    CompletionCandidate::new(name).help(Some(help.into()))
}
