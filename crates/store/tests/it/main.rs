//! Runs that are kept and books that come with howslow.

mod books;
mod store;
