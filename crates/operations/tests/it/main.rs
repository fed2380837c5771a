//! Every operation, performed: what it does to the system, what it leaves behind, what the registry says of it.

mod accounted;
mod calls;
mod cut;
mod kernel;
mod large;
mod named;
mod own_points;
mod reading;
mod registry;
mod support;
mod table;
mod tasks;
