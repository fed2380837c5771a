//! What the fuzzers share: what must hold of every text, whatever was read.
#![forbid(unsafe_code)]

use analysis::compare::{CompareOptions, Versions, differences};
use record::Run;
use report::{Detail, Style};

/// The input as text.
pub fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}

/// # Panics
/// If the text holds what controls a terminal, other than line ends.
pub fn is_plain(text: &str) {
    let found = text.chars().find(|c| record::steers_terminal(*c) && *c != '\n');
    assert!(found.is_none(), "{found:?} in {text:?}");
}

/// Prints a run on every page that shows one run or two.
///
/// # Panics
/// If a page panics.
pub fn print(run: &Run) {
    let style = Style::PLAIN.with_detail(Detail::Full);
    report::page(run, style);
    report::explanations(run, &analysis::explain::explain_all(run), style);
    let how = CompareOptions { unit: None, threshold: 0.03, margin: 0.03, versions: Versions::Kept };
    let runs = [run.clone(), run.clone()];
    let comparison = analysis::compare::compare(&runs, &how);
    let names = ["one".to_string(), "other".to_string()];
    let view = report::ComparisonView { names: &names, sort: report::Sort::Family, shown: report::Shown::All };
    report::comparison(&comparison, &differences(&runs), &view, style);
}
