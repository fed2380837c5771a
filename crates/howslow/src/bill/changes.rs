//! `howslow bill A.json B.json`: what changed between two bills.

use std::path::Path;

use analysis::bill::{WrittenBill, changes as changes_of};
use record::printable;
use report::document::BillChanges;

use crate::output::{self, Misuse, Outcome};

/// Longer documents are no bills.
const MOST_BYTES: u64 = 64 << 20;

pub(super) fn changes(before: &Path, after: &Path, json: bool) -> anyhow::Result<Outcome> {
    let (one, other) = (read(before)?, read(after)?);
    let rows = changes_of(&one, &other);
    let names = [one.name(), other.name()];
    let charged = [one.charged_ns(), other.charged_ns()];
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
    WrittenBill::read(&text).map_err(|error| {
        Misuse(format!("{shown} is no bill: {error}; `howslow bill -o {shown} -- COMMAND` writes one"))
    })
}
