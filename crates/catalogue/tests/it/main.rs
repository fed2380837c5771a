//! Every operation, performed: its effect on the system, what it leaves behind, and what the registry says of it.

mod accounted;
mod calls;
mod cut;
mod kernel;
mod large;
mod named;
mod own_points;
mod reading;
mod registry;
mod returning;
mod support;
mod table;
mod tasks;
