//! What the formats in JSON share.

use std::io::Write;

use serde::Serialize;

use super::exporter::ExportError;

/// Writes a document, and a line end.
pub(super) fn document(value: &impl Serialize, out: &mut dyn Write) -> Result<(), ExportError> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(())
}
