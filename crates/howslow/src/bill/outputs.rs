//! What a bill is written and printed as: the page, the document, the mix, folded stacks, metrics.

use std::io::Write;
use std::path::Path;

use exchange::{BillMetrics, bill_metrics};
use record::{MixLine, Observation, printable};
use report::document::BillDocument;
use report::{BillView, Weight};

use super::mix;
use crate::cli::{BillArgs, BillFormat, StackWeight};
use crate::output::{self, Misuse};

/// What a file is written as, told by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Mix,
    Document,
    Folded,
    Metrics,
}

fn written(path: &Path) -> Option<Written> {
    match path.extension()?.to_str()? {
        "toml" => Some(Written::Mix),
        "json" => Some(Written::Document),
        "folded" => Some(Written::Folded),
        "prom" => Some(Written::Metrics),
        _ => None,
    }
}

/// Checks the names of files before anything is watched.
pub(super) fn check(args: &BillArgs) -> Result<(), Misuse> {
    match args.output.iter().find(|path| written(path).is_none()) {
        Some(path) => {
            let shown = printable(&path.display().to_string());
            Err(Misuse(format!(
                "-o {shown}: say FILE.toml for the mix, FILE.json for the document, FILE.folded for stacks of a flame graph, \
                 or FILE.prom for metrics"
            )))
        }
        None => Ok(()),
    }
}

/// A bill that is to be told.
pub(super) struct Told<'a> {
    /// Of this stretch of time.
    pub view: &'a BillView<'a>,
    /// Of all the time until now.
    pub whole: &'a BillView<'a>,
    /// The mix of the stretch.
    pub lines: &'a [MixLine],
}

/// Writes the files, and prints.
pub(super) fn tell(told: &Told, args: &BillArgs) -> anyhow::Result<()> {
    for path in &args.output {
        let Some(kind) = written(path) else { continue };
        let text = match kind {
            Written::Mix => mix::text(told.view.seen, told.lines),
            Written::Document => document(told.view)?,
            Written::Folded => folded(told.view, args),
            Written::Metrics => bill_metrics(told.whole.seen, told.whole.bill, BillMetrics::Prometheus),
        };
        let shown = printable(&path.display().to_string());
        replace(path, &text).map_err(|error| anyhow::anyhow!("cannot write {shown}: {error}"))?;
    }
    match args.format {
        _ if args.json => output::print(&document(told.view)?),
        Some(BillFormat::Json) => output::print(&document(told.view)?),
        Some(BillFormat::Folded) => output::print(&folded(told.view, args)),
        Some(BillFormat::Openmetrics) => output::print(&metrics(told)),
        None if args.words.is_empty() => output::print(&report::bill(told.view, output::style())),
        None => {
            // The command's output is its own.
            let page = report::bill(told.view, output::error_style());
            let _ = std::io::stderr().write_all(page.as_bytes());
            Ok(())
        }
    }
}

/// True if a person reads what is printed.
pub(super) fn is_page(args: &BillArgs) -> bool {
    !args.json && args.format.is_none()
}

fn document(view: &BillView) -> anyhow::Result<String> {
    Ok(serde_json::to_string(&serde_json::to_value(BillDocument::of(view))?)? + "\n")
}

/// For a scraper that reads the output itself.
fn metrics(told: &Told) -> String {
    bill_metrics(told.whole.seen, told.whole.bill, BillMetrics::OpenMetrics)
}

fn folded(view: &BillView, args: &BillArgs) -> String {
    let weight = match args.weigh {
        StackWeight::Count => Weight::Count,
        StackWeight::Cost => Weight::Cost,
    };
    report::folded(view.seen, view.bill, weight)
}

/// Replaces a file in one step, so that a reader finds the old text or the new one. What is no plain file is written to.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let plain = std::fs::metadata(path).map_or(true, |it| it.is_file());
    let (Some(name), true) = (path.file_name(), plain) else { return std::fs::write(path, text) };
    let mut part = std::ffi::OsString::from(".");
    part.push(name);
    part.push(format!(".{}", std::process::id()));
    let part = path.with_file_name(part);
    let done = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    done
}

/// The observation that a page of no counted call is about.
pub(super) fn counted_nothing(seen: &Observation) -> bool {
    seen.source == observe::Source::Accounts.word()
}
