//! The real binary from the command line, one module per subject. All of them are one program: each program takes seconds to
//! link.

mod advise;
mod beside;
mod commands;
mod comparing;
mod faults;
mod file;
mod filter;
mod help;
mod hidden;
mod measuring;
mod misuse;
mod modes;
mod on_disk;
mod predict;
mod reading;
mod study;
mod support;
mod systems;
mod tidy;
mod time;
mod two_systems;
mod uncertain;
