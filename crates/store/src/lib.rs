//! Keeps runs in SQLite, PostgreSQL or files, and finds them again by name: a file, `@1` for the newest run, a label, the
//! beginning of an id, or a book, which comes with the program. Shows their costs as rows of one long table. Also remembers
//! the best speed of each processor and the figures of earlier runs. Does not know what a run means.
//!
//! ```
//! let store = store::Store::in_folder(&std::env::temp_dir().join("howslow-example"));
//! assert!(store.list()?.is_empty());
//! assert!(store.open("@1").is_err());
//! let run = store::Store::open_any("pdp-11-24")?;
//! assert!(run.costs.iter().any(|cost| cost.operation == "rsx.null"));
//! # Ok::<(), store::StoreError>(())
//! ```
#![forbid(unsafe_code)]

#[cfg_attr(not(feature = "database"), allow(dead_code, reason = "only a database needs all of it"))]
mod address;
#[cfg(feature = "database")]
mod backend;
mod books;
mod calibration;
#[cfg(feature = "database")]
mod database;
mod documents;
#[cfg_attr(not(feature = "database"), allow(dead_code, reason = "only a database needs all of it"))]
mod entry;
mod error;
mod figures;
mod files;
mod folder;
mod head;
#[cfg(feature = "database")]
mod held;
#[cfg(not(feature = "database"))]
#[path = "not_held.rs"]
mod held;
mod id;
#[cfg(feature = "database")]
mod import;
#[cfg(feature = "database")]
mod in_postgres;
#[cfg(all(feature = "database", not(target_env = "musl")))]
mod in_sqlite;
mod label;
#[cfg(feature = "database")]
mod machines;
mod names;
mod rows;
mod runs;
#[cfg(feature = "database")]
mod schema;
mod waiting;
mod write;

pub use address::{Address, choose};
pub use books::{book_names, reference_names, references};
pub use calibration::{BestSpeed, Calibration};
pub use documents::{Document, DocumentCost, read_documents};
pub use error::{STORE_VARIABLE, StoreError, VARIABLE};
pub use figures::{FigureHistory, OfRun};
pub use folder::data_folder;
pub use head::Head;
pub use label::check_label;
pub use names::{book, open_file};
pub use rows::{Filter, Row, Series, Table, serious};
pub use runs::{Kept, Store, Taken};
pub use write::{check_writable, write_run, write_whole};
