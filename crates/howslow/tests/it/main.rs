//! The real binary on the command line, with one module per subject. All modules are one program, because each program takes seconds
//! to link.

// The server of the store's tests names its crate by its published name.
#[cfg(feature = "team")]
extern crate store as howslow_store;

mod advise;
mod bench;
mod beside;
mod bill;
mod crossover;
mod docs;
mod every_verb;
mod faults;
mod file;
mod filter;
mod fleet;
mod fleet_show;
mod help;
mod hidden;
mod hostile;
mod installing;
mod killed;
mod load;
mod looking_back;
mod measuring;
mod modes;
mod noise;
mod on_disk;
mod page;
mod reading;
mod references;
mod scaling;
#[cfg(feature = "team")]
#[path = "../../../store/tests/it/server.rs"]
#[allow(dead_code, reason = "the tests of the store also kill it and ask it themselves")]
mod server;
mod statuses;
mod study;
mod support;
mod systems;
mod tasks;
mod terminal;
mod tidy;
mod time;
mod time_several;
mod top;
mod uncertain;
mod widths;
#[path = "../cases/world.rs"]
mod world;
