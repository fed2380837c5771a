//! What an experiment with scripted users has shown: plain data, and the figures that follow from it. The words are those of
//! the paper: an interaction is one request of a user, and a process is eligible while its interaction may run.

mod censored;
mod certainty;
mod configuration;
mod crowding;
mod demands;
mod figures;
mod for_model;
mod forecast;
mod judged;
mod knee;
mod measured;
mod played;
mod response;
mod system;

pub use certainty::{between_faults, idle_interval};
pub use configuration::{Configuration, PageDevice, Relief};
pub use crowding::crowds;
pub use demands::{Crowding, Demands, FaultsAt, Paged, Usual, mean_of};
pub use figures::{Busy, Idle, PaperRow, idle, row};
pub use for_model::model_file;
pub use forecast::{Forecast, Forecasts, Missed, alone, by_half, error, flushed, forecast, missed};
pub use judged::{Judged, judged};
pub use knee::{Cliff, CliffPoint, Knee, cliffs};
pub use measured::{
    CpuTime, Depth, Experiment, FaultCost, Finished, Measured, Outcome, Paging, Pressure, Sums, Unfinished,
};
pub use response::{Response, ResponsePercentile, SHARES, per_interaction, response, response_of};
pub use system::system;
