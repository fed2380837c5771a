//! Pages from records: a run, a listing or a machine as input, text as output. Prints nothing and does not look at the
//! terminal.
//!
//! ```no_run
//! let run = record::read_run(std::path::Path::new("run.json"))?;
//! print!("{}", report::page(&run, report::Style::Plain));
//! # Ok::<(), record::ReadError>(())
//! ```
#![forbid(unsafe_code)]

mod accounts;
pub mod chart;
mod compare;
mod crossover;
pub mod document;
mod explain;
mod factors;
mod footnotes;
mod grid;
mod head;
mod interval;
mod lists;
mod memory;
mod predict;
mod prefetch;
mod prices;
mod repeated;
mod residence;
mod study;
mod text;

pub use accounts::COMMANDS;
pub use compare::{Shown, Sort, View, comparison};
pub use crossover::{CrossoverShown, crossover};
pub use explain::{explained, explanations};
pub use factors::{FactorsOf, factors};
pub use head::head_line;
pub use lists::{Kept, Listed, ListedCall, doctor, history, list, syscalls};
pub use predict::{Priced, predictions};
pub use prefetch::{advice, tuning};
pub use prices::page;
pub use record::BLOCK;
pub use repeated::{needs, repeated};
pub use residence::{ResidentFile, resident_files};
pub use study::study;
pub use text::Style;
