//! The reasons why a run could not be kept or found.

use std::path::PathBuf;

use record::{BookError, ReadError};

use crate::books::all_books;

/// The environment variable that replaces the XDG data directory.
pub const VARIABLE: &str = "HOWSLOW_DATA";
/// The environment variable that names the store.
pub const STORE_VARIABLE: &str = "HOWSLOW_STORE";

/// The reasons why a run could not be kept or found. What they show of a database is without user and password.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no home directory to keep runs in; set HOME, XDG_DATA_HOME or {VARIABLE}")]
    NoHome,
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// `write`, `create the folder`, `read the folder`.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the run's id {0:?} cannot be a file name: letters, digits, '-', '_' and '.' are allowed")]
    Id(String),
    /// The run contains a value that the format cannot represent, so it could not be read again.
    #[error("the run cannot be written in its own format: {0}")]
    Unwritable(String),
    #[error("{} is {is}; name a file", path.display())]
    NotAFile {
        path: PathBuf,
        /// `a folder`, `a device or pipe`.
        is: &'static str,
    },
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: ReadError },
    #[error("{}", no_run(path, *number, *runs))]
    NoRun {
        path: PathBuf,
        /// The number that was requested, from 1.
        number: usize,
        runs: usize,
    },
    #[error("{name}: {source}")]
    Book { name: String, source: BookError },
    /// What `--store` or its variable holds is no address. The text may hold a password, so it is not repeated.
    #[error(
        "the store that --store or {STORE_VARIABLE} names is none of postgres://USER@HOST/DATABASE, a file that ends in .sqlite, \
         and the word files"
    )]
    Address,
    #[error("this build of howslow has no {0}: released programs have it, and `cargo build --release --features team`")]
    Team(&'static str),
    /// The URL of a PostgreSQL database cannot be read. It may hold a password, so it is not repeated.
    #[error(
        "the URL of the store cannot be read; it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE, in which '@' is written as %40, \
         '/' as %2F, '?' as %3F and '%' as %25"
    )]
    Url,
    #[error(
        "{} belongs to the user {owner}, and this is root: nothing is written there, because that user could have it written elsewhere; \
         use `sudo -H`, or name a folder with {VARIABLE}", folder.display()
    )]
    AnothersFolder {
        /// The data folder, or the existing folder that it would be in.
        folder: PathBuf,
        owner: u32,
    },
    #[error(
        "{0}: this build of howslow cannot open it; build it with the feature `database`, and with glibc for SQLite"
    )]
    NotBuilt(String),
    #[error("the store {address}: {what}")]
    Database { address: String, what: String },
    #[error("the store {address} is used by another program: {what}; try again when that has finished")]
    Locked { address: String, what: String },
    #[error(
        "the store {address} is damaged: {what}; move it away, and howslow begins a new one. `sqlite3 OLD .recover | sqlite3 NEW` saves \
         what can be read"
    )]
    Damaged { address: String, what: String },
    #[error(
        "the store {address} was made by a newer howslow (its tables have version {found}); use that one. Nothing was changed"
    )]
    Newer { address: String, found: i64 },
    #[error("{name} names no run: {found}; `howslow history` lists the kept ones, the books are {}", all_books())]
    Unknown { name: String, found: String },
    #[error("{name} is the beginning of {count} kept runs: {first}; type more of it")]
    Ambiguous { name: String, count: usize, first: String },
    #[error("{name} is the id of {count} kept runs; name one by its place, as `howslow history` shows it (@1)")]
    SharedId { name: String, count: usize },
}

fn no_run(path: &std::path::Path, number: usize, runs: usize) -> String {
    let path = path.display();
    match runs {
        0 => format!("{path} holds no run; pages of `howslow report RUN` do"),
        _ => format!(
            "{path} holds {}, and no run {number}: they are {path}#1 to #{runs}",
            record::units::counted(runs as u64, "run")
        ),
    }
}
