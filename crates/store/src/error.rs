//! The reasons why a run could not be kept or found.

use std::path::PathBuf;

use record::{BookError, ReadError};

use crate::books::all_books;

/// The environment variable that replaces the XDG data directory.
pub const VARIABLE: &str = "HOWSLOW_DATA";
/// The environment variable that names the store.
pub const STORE_VARIABLE: &str = "HOWSLOW_STORE";

/// The reasons why a run could not be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no data directory.
    #[error("there is no home directory to keep runs in; set HOME, XDG_DATA_HOME or {VARIABLE}")]
    NoHome,
    /// A file or folder cannot be read or written.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// `write`, `create the folder`, `read the folder`.
        what: &'static str,
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The run's id cannot be a file name.
    #[error("the run's id {0:?} cannot be a file name: letters, digits, '-', '_' and '.' are allowed")]
    Id(String),
    /// The run contains a value that the format cannot represent, so it could not be read again.
    #[error("the run cannot be written in its own format: {0}")]
    Unwritable(String),
    /// The path cannot hold a run's document.
    #[error("{} is {is}; name a file", path.display())]
    NotAFile {
        path: PathBuf,
        /// `a folder`, `a device or pipe`.
        is: &'static str,
    },
    /// The file is not a run.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ReadError,
    },
    /// The page holds no such run.
    #[error("{}", no_run(path, *number, *runs))]
    NoRun {
        /// The page.
        path: PathBuf,
        /// The number that was requested, from 1.
        number: usize,
        /// Runs that it holds.
        runs: usize,
    },
    /// The text is not a book.
    #[error("{name}: {source}")]
    Book {
        /// Its name or file.
        name: String,
        /// What is wrong with it.
        source: BookError,
    },
    /// What `--store` or its variable says is no address. The text may hold a password, so it is not repeated.
    #[error(
        "the store that --store or {STORE_VARIABLE} names is none of postgres://USER@HOST/DATABASE, a file that ends in .sqlite, \
         and the word files"
    )]
    Address,
    /// This build lacks what a team shares.
    #[error("this build of howslow has no {0}: released programs have it, and `cargo build --release --features team`")]
    Team(&'static str),
    /// The URL of a PostgreSQL database cannot be read. It may hold a password, so it is not repeated.
    #[error(
        "the URL of the store cannot be read; it has the form postgres://USER:PASSWORD@HOST:PORT/DATABASE, in which '@' is written as %40, \
         '/' as %2F, '?' as %3F and '%' as %25"
    )]
    Url,
    /// Root would write into the data folder of another user.
    #[error(
        "{} belongs to the user {owner}, and this is root: nothing is written there, because that user could have it written elsewhere; \
         use `sudo -H`, or name a folder with {VARIABLE}", folder.display()
    )]
    AnothersFolder {
        /// The data folder, or the existing folder that it would be in.
        folder: PathBuf,
        /// Its owner's number.
        owner: u32,
    },
    /// This build lacks the database.
    #[error(
        "{0}: this build of howslow cannot open it; build it with the feature `database`, and with glibc for SQLite"
    )]
    NotBuilt(String),
    /// A database failed.
    #[error("the store {address}: {what}")]
    Database {
        /// Its address, without user and password.
        address: String,
        /// What it said, without user and password.
        what: String,
    },
    /// Another program holds a database for too long.
    #[error("the store {address} is used by another program: {what}; try again when that has finished")]
    Locked {
        /// Its address, without user and password.
        address: String,
        /// What it said.
        what: String,
    },
    /// A database's content is damaged.
    #[error(
        "the store {address} is damaged: {what}; move it away, and howslow begins a new one. `sqlite3 OLD .recover | sqlite3 NEW` saves \
         what can be read"
    )]
    Damaged {
        /// Its address, without user and password.
        address: String,
        /// What it said.
        what: String,
    },
    /// A database was made by a newer howslow.
    #[error(
        "the store {address} was made by a newer howslow (its tables have version {found}); use that one. Nothing was changed"
    )]
    Newer {
        /// Its address, without user and password.
        address: String,
        /// The version of its tables.
        found: i64,
    },
    /// The name matches no kept run.
    #[error("{name} names no run: {found}; `howslow history` lists the kept ones, the books are {}", all_books())]
    Unknown {
        /// The name as typed.
        name: String,
        /// The runs that exist instead.
        found: String,
    },
    /// The name matches several kept runs.
    #[error("{name} is the beginning of {count} kept runs: {first}; type more of it")]
    Ambiguous {
        /// The name as typed.
        name: String,
        /// The number of matches.
        count: usize,
        /// Some of them.
        first: String,
    },
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
