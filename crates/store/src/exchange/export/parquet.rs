//! Parquet: the columns of the CSV with types. Text columns are UTF-8, figures are doubles, counts are 64-bit integers. An
//! axis with words at some points is a text column.

mod columns;
mod file;
mod thrift;

use std::io::Write;

use record::Run;

use super::exporter::{Exporter, Written};
use crate::exchange::costs::cost_table;

pub(super) const PARQUET: Exporter = Exporter {
    name: "parquet",
    summary: "the same columns with types: DuckDB, pandas, Spark",
    ending: "parquet",
    is_text: false,
    write,
};

fn write(runs: &[Run], out: &mut dyn Write) -> Written {
    out.write_all(&file::file(&cost_table(runs)))?;
    Ok(Vec::new())
}
