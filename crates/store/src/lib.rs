//! Keeps runs as files in the user's data directory and finds them again. Also remembers the best width of each
//! processor. Knows nothing of what a run means.
#![forbid(unsafe_code)]

mod books;
mod calibration;
mod error;
mod figures;
mod head;
mod runs;
mod write;

pub use books::book_names;
pub use calibration::{BestSpeed, Calibration};
pub use error::{StoreError, VARIABLE};
pub use figures::{FigureHistory, OfRun};
pub use head::Head;
pub use runs::{Store, book, open_file, write_run};
pub use write::{check_writable, write_whole};
