//! Recordings of this system: what is disturbed on purpose is found.

mod disturbed;
mod recorded;
