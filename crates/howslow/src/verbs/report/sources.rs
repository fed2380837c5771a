//! What a page is made of: runs by their names, documents in files, folders of a fleet. Names are removed here, before anything is
//! computed, so that no sentence can hold them.

use std::path::Path;

use analysis::fleet::{FleetOptions, found};
use record::{ReadError, Run};
use report::document::FleetReportDocument;
use report::{AnonymousDocument, Section, document_section};
use serde_json::Value;
use store::StoreError;

use crate::output::Misuse;
use crate::pattern::Pattern;
use crate::resolve;

/// Whether names stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privacy {
    /// They stay.
    Named,
    /// They are removed.
    Anonymous,
}

/// A run with what the page calls it.
pub(super) struct NamedRun {
    /// Its name on the page.
    pub name: String,
    /// As the page shows it.
    pub run: Run,
    /// As it was read.
    pub original: Run,
}

/// What a page is made of.
#[derive(Default)]
pub(super) struct PageSources {
    /// Its runs, the base first.
    pub runs: Vec<NamedRun>,
    /// The sections of fleets and documents.
    pub sections: Vec<Section>,
}

/// A file that is not a run, such as what `howslow bill --json` printed, is at most so large.
const MOST_DOCUMENT: u64 = 64 << 20;

/// So many documents fit on a page.
const MOST_DOCUMENTS: usize = 50;

/// Reads all of them; without any, the newest kept run.
/// Refuses a name that means nothing, and a file that is neither a run nor a document.
pub(super) fn read(names: &[String], privacy: Privacy) -> anyhow::Result<PageSources> {
    let newest = ["@1".to_string()];
    let names = if names.is_empty() { &newest[..] } else { names };
    let mut read = PageSources::default();
    let mut originals = Vec::new();
    for name in names {
        if Path::new(name).is_dir() {
            let table = crate::verbs::fleet::table(std::slice::from_ref(name))?;
            let found = found(&table, &FleetOptions::default());
            read.add(&serde_json::to_value(FleetReportDocument::of(&found, None))?, name, privacy)?;
            continue;
        }
        match resolve::run(name) {
            Ok(run) => originals.push((name, run)),
            Err(error) => match document(name, &error) {
                Some(document) => read.add(&document?, name, privacy)?,
                None => return Err(error),
            },
        }
    }
    let count = originals.len();
    let run = |(place, (name, original)): (usize, (&String, Run))| NamedRun {
        name: shown(name, &original, (place, count), privacy),
        run: if privacy == Privacy::Named { original.clone() } else { anonymous(&original) },
        original,
    };
    read.runs = originals.into_iter().enumerate().map(run).collect();
    Ok(read)
}

impl PageSources {
    fn add(&mut self, document: &Value, name: &str, privacy: Privacy) -> Result<(), Misuse> {
        let place = self.sections.len() + 1;
        if place > MOST_DOCUMENTS {
            return Err(Misuse(format!("a page has room for {MOST_DOCUMENTS} documents; name fewer")));
        }
        let clean = (privacy == Privacy::Anonymous).then(|| AnonymousDocument::of(document));
        let title = if privacy == Privacy::Named { record::printable(name) } else { format!("Document {place}") };
        self.sections.push(document_section(clean.as_ref().unwrap_or(document), &title, place));
        Ok(())
    }
}

/// The run without what identifies its host.
pub(super) fn anonymous(run: &Run) -> Run {
    let selects = |text: &str| Pattern::parse(text).is_ok_and(|pattern| pattern.selects_any());
    analysis::reference::anonymous(run, &|id| catalogue::find(id).is_some(), &selects)
}

/// What the page calls a run.
fn shown(name: &str, run: &Run, (place, count): (usize, usize), privacy: Privacy) -> String {
    if run.is_book() {
        return run.id.clone();
    }
    match (privacy, count) {
        (Privacy::Named, _) => run.settings.label.clone().unwrap_or_else(|| record::printable(name)),
        (Privacy::Anonymous, 1) => "this machine".into(),
        (Privacy::Anonymous, _) => format!("run {}", place + 1),
    }
}

/// The document in a file that is JSON and not a run; `None` if the file is something else.
fn document(name: &str, error: &anyhow::Error) -> Option<anyhow::Result<Value>> {
    let StoreError::Read { path, source: ReadError::NotARun } = error.downcast_ref()? else { return None };
    let read = || -> anyhow::Result<Value> {
        let text = record::read_text(path, MOST_DOCUMENT)?;
        Ok(serde_json::from_str(&text)?)
    };
    let shown = record::printable(name);
    Some(read().map_err(|why| anyhow::anyhow!("{shown}: neither a run nor a document of howslow: {why}")))
}
