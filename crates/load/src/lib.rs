//! Scripted users under limits: so many users follow a script in a control group with so much memory, on so many processors,
//! with so many interactions at once. Counts what they took and how long they waited. It knows no table and no model.
//!
//! ```
//! let plan = howslow_load::Plan::from_toml("name = 'x'\n[[interaction]]\nname = 'a'\njob = { cpu = '1ms' }")?;
//! assert_eq!(plan.axes.configurations().len(), 1);
//! # Ok::<(), howslow_load::PlanError>(())
//! ```

// The derive of JSON Schemas: without the feature, one that derives nothing.
#[cfg(not(feature = "schema"))]
#[macro_use]
extern crate schema_macros;
#[cfg(feature = "schema")]
#[macro_use]
extern crate schemars;

mod drive;
mod error;
mod fault;
mod plan;
mod session;
mod site;
mod users;

pub use drive::{Draw, Ending};
pub use error::LoadError;
pub use plan::{
    Arrivals, Axes, FLUSH, InputFile, Interaction, Job, Memory, Plan, PlanError, SHIPPED, Size, Think, Time, device,
    relief, shipped,
};
pub use session::{Session, dry_run};
pub use site::Remains;
