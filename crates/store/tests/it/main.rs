//! Runs that are kept and books that come with howslow.

mod books;
#[cfg(feature = "database")]
mod database;
#[cfg(feature = "database")]
mod server;
mod store;
#[cfg(feature = "database")]
mod writers;
