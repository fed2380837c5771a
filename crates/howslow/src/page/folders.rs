//! A folder of runs as the document of `howslow fleet show`.

use analysis::fleet::{FleetOptions, found};
use report::document::FleetReportDocument;
use serde_json::Value;

/// What is found among the nodes of a folder. Fails if the folder cannot be read, or has no run.
pub(super) fn fleet(name: &str) -> anyhow::Result<Value> {
    let table = crate::fleet::table(&[name.to_string()])?;
    let found = found(&table, &FleetOptions::default());
    Ok(serde_json::to_value(FleetReportDocument::of(&found, None))?)
}
