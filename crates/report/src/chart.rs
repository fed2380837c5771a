//! Charts: curves and matrices, as text for a terminal and as SVG for a file. They know numbers and units, and nothing of runs.
//!
//! ```
//! use howslow_report::chart::{Axis, Chart, Series, Unit};
//!
//! let chart = Chart {
//!     title: "Cost by size".into(),
//!     x: Axis::log("size", Unit::Bytes),
//!     y: Axis::log("cost", Unit::Nanoseconds),
//!     series: vec![Series::new("read", vec![(64.0, 300.0), (4096.0, 450.0), (65536.0, 4100.0)])],
//! };
//! assert!(chart.text(80).lines().all(|line| line.chars().count() <= 80));
//! assert!(chart.svg().starts_with("<svg"));
//! ```

mod canvas;
mod flame;
mod form;
mod heat;
pub(crate) mod palette;
mod scale;
pub(crate) mod strip;
mod svg;
mod text;
pub(crate) mod xml;

pub use flame::Flame;
pub use form::{Axis, Chart, Heat, Series, Unit};
