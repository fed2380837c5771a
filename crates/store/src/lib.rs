//! Keeps runs as files in the user's data folder and finds them again by name: a file, `@1` for the newest run, the
//! beginning of an id, or a book, which comes with the program. Also remembers the best speed of each processor and the
//! figures of earlier runs. Does not know what a run means.
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

mod books;
mod calibration;
mod error;
mod figures;
mod folder;
mod head;
mod runs;
mod write;

pub use books::book_names;
pub use calibration::{BestSpeed, Calibration};
pub use error::{StoreError, VARIABLE};
pub use figures::{FigureHistory, OfRun};
pub use folder::data_folder;
pub use head::Head;
pub use runs::{Store, book, open_file, write_run};
pub use write::{check_writable, write_whole};
