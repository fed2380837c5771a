//! Parquet: the columns of the CSV with types. Text columns are UTF-8, figures are doubles, counts are 64-bit integers. An
//! axis with words at some points is a text column.

#[cfg(feature = "team")]
mod columns;

use std::io::Write;

use record::Run;

use super::exporter::{ExportError, Exporter};

/// The format.
pub(super) struct Parquet;

impl Exporter for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn summary(&self) -> &'static str {
        "the same columns with types: DuckDB, pandas, Spark"
    }

    fn ending(&self) -> &'static str {
        "parquet"
    }

    fn is_text(&self) -> bool {
        false
    }

    #[cfg(feature = "team")]
    fn write(&self, runs: &[Run], out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
        let library = |why: String| ExportError::Library { format: "parquet", why };
        let table = crate::exchange::costs::cost_table(runs);
        out.write_all(&columns::file(&table).map_err(|error| library(error.to_string()))?)?;
        Ok(Vec::new())
    }

    #[cfg(not(feature = "team"))]
    fn write(&self, _: &[Run], _: &mut dyn Write) -> Result<Vec<String>, ExportError> {
        Err(ExportError::Team("Parquet"))
    }
}
