//! Runs that are kept and books that come with howslow.

mod books;
#[cfg(feature = "database")]
mod database;
mod exchange;
#[cfg(feature = "team")]
mod server;
#[cfg(feature = "team")]
mod silent;
mod store;
#[cfg(feature = "database")]
mod waiting;
#[cfg(feature = "database")]
mod writers;
