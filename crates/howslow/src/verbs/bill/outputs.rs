//! What a bill is written and printed as: the page, the document, the mix, folded stacks, metrics.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use record::{MixLine, Observation, printable};
use report::chart::Flame;
use report::document::BillDocument;
use report::{BillView, Detail, Weight};
use store::exchange::BillMetrics;

use super::args::{BillArgs, BillFormat};
use super::changes::{unit_name, work_unit};
use super::mix;
use super::place::style;
use crate::output::{self, Misuse};

/// The ends of the names of files, which say what is written.
const ENDS: [&str; 5] = ["toml", "json", "folded", "svg", "prom"];

fn end(path: &Path) -> &str {
    path.extension().and_then(OsStr::to_str).unwrap_or_default()
}

/// Checks the names of files before anything is watched.
pub(super) fn check(args: &BillArgs) -> Result<(), Misuse> {
    if let Some(path) = args.output.iter().find(|path| !ENDS.contains(&end(path))) {
        let shown = output::shown(path);
        return Err(Misuse(format!(
            "-o {shown}: say FILE.toml for the mix, FILE.json for the document, FILE.folded for stacks of a flame graph, \
             FILE.svg for the graph, or FILE.prom for metrics"
        )));
    }
    let is_drawn = |path: &PathBuf| ["folded", "svg"].contains(&end(path));
    let has_stacks = args.format == Some(BillFormat::Folded) || args.output.iter().any(is_drawn);
    if args.weigh.is_some() && !has_stacks {
        return Err(Misuse("--weigh is of stacks: add --format folded, -o FILE.folded or -o FILE.svg".into()));
    }
    output::check_writable(&args.output)
}

/// A bill that is to be written.
pub(super) struct PricedBill<'a> {
    /// Of this stretch of time.
    pub view: &'a BillView<'a>,
    /// The mix of the stretch.
    pub lines: &'a [MixLine],
    /// Metrics of all the time until now, which are priced only if they are wanted.
    pub metrics: &'a dyn Fn(BillMetrics) -> String,
}

/// Writes the files. Returns the text to be printed.
pub(super) fn write_files(bill: &PricedBill, args: &BillArgs) -> anyhow::Result<String> {
    for path in &args.output {
        let text = match end(path) {
            "toml" => mix::text(bill.view.seen, bill.view.bill, bill.lines, units(bill.view.seen, args)),
            "json" => output::document_text(&BillDocument::of(bill.view))?,
            "folded" => folded(bill.view, args),
            "svg" => picture(bill.view, args),
            "prom" => (bill.metrics)(BillMetrics::Prometheus),
            _ => continue,
        };
        write(path, &text)?;
    }
    match args.format {
        _ if args.json => output::document_text(&BillDocument::of(bill.view)),
        Some(BillFormat::Json) => output::document_text(&BillDocument::of(bill.view)),
        Some(BillFormat::Folded) => Ok(folded(bill.view, args)),
        Some(BillFormat::Openmetrics) => Ok((bill.metrics)(BillMetrics::OpenMetrics)),
        None => {
            let style = style(args).with_detail(if args.all { Detail::Full } else { Detail::Folded });
            let units = args.per.is_some() || !args.units.is_empty();
            let unit = work_unit(args);
            let each = || report::bill_per_unit(bill.view, (&unit, unit_name(args)), style);
            // Two of them are compared, each unit of its own.
            let page = match units && args.against.is_none() {
                true if args.every.is_some() => each(),
                true => report::bill(bill.view, style) + "\n" + &each(),
                false => report::bill(bill.view, style),
            };
            Ok(style.fitted(&page))
        }
    }
}

/// What a unit of work is, and how many there were; without any, the mix is of the whole.
fn units<'a>(seen: &Observation, args: &'a BillArgs) -> (&'a str, f64) {
    match work_unit(args).of(1, &seen.repetition()) {
        units if units > 0.0 => (unit_name(args), units),
        _ => ("command", 1.0),
    }
}

/// Replaces a file in one step, so that a reader finds the old text or the new one. A device or pipe is written to.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if std::fs::metadata(path).map_or(true, |metadata| metadata.is_file()) {
        return Ok(store::write_whole(path, text.as_bytes())?);
    }
    std::fs::write(path, text).map_err(|error| anyhow::anyhow!("cannot write {}: {error}", output::shown(path)))
}

fn folded(view: &BillView, args: &BillArgs) -> String {
    report::folded(view.seen, view.bill, weight(args))
}

fn weight(args: &BillArgs) -> Weight {
    args.weigh.unwrap_or(Weight::Count)
}

/// The stacks as a flame graph.
fn picture(view: &BillView, args: &BillArgs) -> String {
    let what = if matches!(weight(args), Weight::Count) { "calls" } else { "ns of calls" };
    Flame::from_folded(&folded(view, args)).svg(&format!("Calls of {}", printable(&view.seen.what)), what)
}
