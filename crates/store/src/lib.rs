//! Keeps runs in SQLite, PostgreSQL or files, and finds them again by name: a file, `@1` for the newest run, a label, the
//! beginning of an id, or a book, which comes with the program. Shows their costs as rows of one long table. Also remembers
//! the best speed of each processor and the figures of earlier runs. Does not know what a run means.
//!
//! ```
//! let store = howslow_store::Store::in_folder(&std::env::temp_dir().join("howslow-example"));
//! assert!(store.list()?.is_empty());
//! assert!(store.open("@1").is_err());
//! let run = howslow_store::Store::open_any("pdp-11-24")?;
//! assert!(run.costs.iter().any(|cost| cost.operation == "rsx.null"));
//! # Ok::<(), howslow_store::StoreError>(())
//! ```
#![forbid(unsafe_code)]

mod address;
mod backend;
mod books;
mod calibration;
mod database;
mod entry;
mod error;
pub mod exchange;
mod figures;
mod files;
mod folder;
mod head;
mod held;
mod id;
mod import;
#[cfg(feature = "team")]
mod in_postgres;
#[cfg(feature = "database")]
mod in_sqlite;
mod label;
mod machines;
mod names;
mod page;
mod postgres_url;
mod prices;
mod rows;
mod runs;
mod schema;
mod waiting;
mod write;

pub use address::{Address, choose};
pub use backend::when_locked;
pub use books::{book_names, reference_names, references};
pub use calibration::{BestSpeed, Calibration};
pub use entry::{Document, DocumentCost, digest};
pub use error::{STORE_VARIABLE, StoreError, VARIABLE};
pub use figures::{Earlier, FigureHistory, OfRun, RunKind};
pub use files::read_documents;
pub use folder::{data_folder, make_folder};
pub use head::Head;
pub use label::check_label;
pub use names::{book, open_file};
pub use page::{RUN_TYPE, packed};
pub use postgres_url::PostgresUrl;
pub use prices::{PriceBook, PriceSource};
pub use rows::{CostTable, Filter, Row, Series};
pub use runs::{Kept, Store, Taken};
pub use write::{check_writable, write_run, write_whole};
