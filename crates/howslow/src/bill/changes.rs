//! `howslow bill A.json B.json`: what changed between two bills.

use std::path::Path;

use analysis::bill::changes as changes_of;
use record::{Observation, printable};
use report::document::BillChanges;
use serde::Deserialize;

use crate::output::{self, Misuse, Outcome};

/// Longer documents are no bills.
const MOST_BYTES: u64 = 64 << 20;

/// What is read of a bill's document.
#[derive(Deserialize)]
struct WrittenBill {
    seen: Observation,
    rows: Vec<WrittenRow>,
}

#[derive(Deserialize)]
struct WrittenRow {
    what: String,
    count: u64,
    cpu_ns: Option<f64>,
    #[serde(default)]
    lacking: f64,
}

impl WrittenBill {
    fn rows(&self) -> Vec<(String, u64, Option<f64>)> {
        self.rows
            .iter()
            .map(|row| (printable(&row.what), row.count, row.cpu_ns.filter(|_| row.lacking == 0.0)))
            .collect()
    }
}

pub(super) fn changes(before: &Path, after: &Path, json: bool) -> anyhow::Result<Outcome> {
    let (one, other) = (read(before)?, read(after)?);
    let rows = changes_of(&one.rows(), &other.rows());
    let names = [printable(&one.seen.what), printable(&other.seen.what)];
    let names = [names[0].as_str(), names[1].as_str()];
    let charged = [one.seen.usage.cpu_ns, other.seen.usage.cpu_ns];
    if json {
        output::print_document(&BillChanges::of(names, &rows, charged))?;
    } else {
        output::print_page(&report::bill_changes(names, &rows, charged, output::style()))?;
    }
    Ok(Outcome::Done)
}

fn read(path: &Path) -> Result<WrittenBill, Misuse> {
    let shown = printable(&path.display().to_string());
    let text = record::read_input(path, MOST_BYTES)
        .map_err(|error| Misuse(format!("cannot read the bill {shown}: {error}")))?;
    serde_json::from_slice(&text).map_err(|error| {
        Misuse(format!("{shown} is no bill: {error}; `howslow bill -o {shown} -- COMMAND` writes one"))
    })
}
