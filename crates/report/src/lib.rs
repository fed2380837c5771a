//! Pages from records: a run, a listing or a machine as input, text as output. Prints nothing and does not look at the
//! terminal.
//!
//! ```no_run
//! let run = record::read_run(std::path::Path::new("run.json"))?;
//! print!("{}", howslow_report::page(&run, howslow_report::Style::PLAIN));
//! # Ok::<(), record::ReadError>(())
//! ```
#![forbid(unsafe_code)]

// The derive of JSON Schemas: without the feature, one that derives nothing.
#[cfg(not(feature = "schema"))]
#[macro_use]
extern crate schema_macros;
#[cfg(feature = "schema")]
#[macro_use]
extern crate schemars;

mod accounts;
mod bench;
mod bill;
pub mod chart;
mod column;
mod compare;
mod crossover;
pub mod document;
mod doubts;
mod explain;
mod factors;
mod fleet;
mod fleet_report;
mod folded;
mod footnotes;
mod glance;
mod grid;
mod head;
mod html;
mod interference;
mod interval;
mod kept;
mod levels;
mod lists;
mod load;
mod memory;
mod model;
mod noise;
mod predict;
mod prefetch;
mod prices;
mod references;
mod relative;
mod repeated;
mod residence;
mod scaling;
mod self_test;
mod shown;
mod skips;
mod study;
mod tails;
mod terminal;
mod text;
mod watch;

pub use accounts::COMMANDS;
pub use bench::{BenchRow, BenchShown, NullRuns, bench, bench_badge, bench_markdown};
pub use bill::{
    BillChanges, BillElsewhereView, BillGate, BillView, PriceOrigin, bill, bill_changes, bill_changes_markdown,
    bill_elsewhere, bill_per_unit,
};
pub use compare::{ComparisonView, Shown, Sort, comparison, comparison_markdown, gate_sentence};
pub use crossover::{CrossoverShown, crossover};
pub use explain::{explained, explanations};
pub use factors::{FactorsOf, factors};
pub use fleet::{fleet_status, fleet_summary};
pub use fleet_report::{FleetView, drain_list, fleet_pictures, fleet_report};
pub use folded::{Weight, folded};
pub use glance::WANTED;
pub use html::{
    AnonymousDocument, CostHistories, EarlierFigure, GalleryMachine, HtmlPage, PageDetail, PageRun, Section,
    document_section, factors_section, gallery_index, gallery_pair, html_page, nearest_reference, study_section,
};
pub use interference::{interference, interference_pictures};
pub use kept::kept;
pub use levels::levels;
pub use lists::{Kept, KeptFigure, Listed, ListedCall, doctor, found, history, list, syscalls};
pub use load::{load, load_charts, load_forecasts};
pub use model::{model, model_charts};
pub use noise::{noise, noise_chart};
pub use predict::{Priced, predictions};
pub use prefetch::{advice, tuning};
pub use prices::{PageView, compared_page, page};
pub use record::BLOCK;
pub use references::{compared_with_references, held};
pub use relative::{ratios, relatives};
pub use repeated::{needs, repeated};
pub use residence::{ResidentFile, resident_files};
pub use scaling::{scaling, scaling_chart};
pub use self_test::self_test;
pub use shown::{shown, shown_json};
pub use study::{study, study_charts};
pub use tails::tail_charts;
pub use terminal::own_terminal;
pub use terminal::pseudo::{pseudo_terminals, terminal_charts};
pub use text::{Colours, Detail, Style};
pub use watch::watch;
