//! Runs in the formats of other programs. An exporter writes runs, an importer reads what another tool measured as a run.
//! Knows nothing of the command line and of where runs are kept.
//!
//! A new format is one file in `export` or `import` and one line in its list, [`EXPORTERS`] or [`IMPORTERS`]. Help, the
//! choice by name and by file ending, and the tests walk these lists.
//!
//! ```
//! let run = record::Book::from_toml(include_str!("../../../books/pdp-11-24.toml"))?.run();
//! let csv = howslow_store::exchange::exporter("csv").expect("a format");
//! let mut text = Vec::new();
//! (csv.write)(&[run], &mut text)?;
//! assert!(text.starts_with(b"id,"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod costs;
mod export;
mod import;
mod rounds;
mod table;

pub use costs::cost_table;
pub use export::bill::bill_metrics;
pub use export::csv::csv;
pub use export::{Dialect as BillMetrics, EXPORTERS, ExportError, Exporter, exporter, exporter_for};
pub use import::criterion::gather;
pub use import::google::google_json;
pub use import::{IMPORTERS, ImportError, Importer, MOST_BYTES, import, importer};
pub use table::{Cell, Table, axis_columns};
