//! The real binary on the command line, with one module per subject. All modules are one program, because each program takes seconds
//! to link.

mod advise;
mod beside;
mod bill;
mod commands;
mod comparing;
mod crossover;
mod every_verb;
mod exchange;
mod faults;
mod file;
mod filter;
mod fleet;
mod fleet_show;
mod gate;
mod help;
mod hidden;
mod load;
mod looking_back;
mod measuring;
mod misuse;
mod model;
mod modes;
mod noise;
mod on_disk;
mod predict;
mod reading;
mod references;
mod scaling;
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
mod two_systems;
mod uncertain;
mod widths;
mod words;
