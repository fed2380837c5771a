//! Documents that other verbs print with `--json`, as sections of a page. They come from files, so nothing in them is relied on.

mod anonymous;
mod bill;
mod fleet;
mod interference;
mod json;
mod load;
mod noise;
mod other;
mod prefetch;
mod study;
mod terminal;
mod watch;

use serde_json::Value;

use super::form::Section;

pub use anonymous::AnonymousDocument;

/// The section of a document. `name` is what it is called, `place` its number among those of the page.
pub fn document_section(document: &Value, name: &str, place: usize) -> Section {
    let id = |word: &str| format!("{word}-{place}");
    let has = |keys: &[&str]| keys.iter().all(|key| document.get(key).is_some());
    match () {
        () if has(&["seen", "rows", "explained"]) => bill::bill(document, id("bill")),
        () if has(&["bills", "figures", "rows"]) => bill::changes(document, id("bills")),
        () if has(&["cpus", "together", "machine"]) => noise::noise(document, id("noise")),
        () if has(&["victims", "cells"]) || has(&["kinds", "cells"]) => {
            interference::interference(document, id("interference"))
        }
        () if has(&["plan", "configurations"]) => load::load(document, id("load")),
        () if has(&["changes", "among"]) => watch::watch(document, id("watch")),
        () if has(&["slow", "classes"]) => fleet::fleet(document, id("fleet")),
        () if has(&["windows", "distances", "quantities"]) => prefetch::prefetch(document, id("prefetch")),
        () if document.get("prefetch").is_some_and(|inner| inner.get("windows").is_some()) => {
            prefetch::prefetch(&document["prefetch"], id("prefetch"))
        }
        () if has(&["paper", "findings", "tables"]) => study::study(document, id("study")),
        () if has(&["highest", "paced", "keystrokes"]) => terminal::terminal(document, id("terminal")),
        () => other::other(document, name, id("document")),
    }
}
