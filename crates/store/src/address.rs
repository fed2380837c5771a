//! Where runs are kept, as the user names it. An address can hold a password, so it is never printed as it was given.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{STORE_VARIABLE, StoreError};
use crate::postgres_url::PostgresUrl;

/// Where runs are kept.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// In an SQLite file in the data folder.
    Default,
    /// In files in the data folder.
    Files,
    /// In this SQLite file.
    Sqlite(PathBuf),
    /// In a PostgreSQL database, by its URL.
    Postgres(PostgresUrl),
}

impl Address {
    /// Reads `postgres://...`, `files`, or the name of an SQLite file. Fails if it is none of them. The sentence does not
    /// repeat the text.
    pub fn parse(text: &str) -> Result<Address, StoreError> {
        let text = text.trim();
        let file = Path::new(text);
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return PostgresUrl::parse(text).map(Address::Postgres).ok_or(StoreError::Url);
        }
        match file.extension().and_then(|end| end.to_str()) {
            _ if text == "files" => Ok(Address::Files),
            Some("sqlite" | "sqlite3" | "db") if !text.contains("://") => Ok(Address::Sqlite(file.into())),
            _ => Err(StoreError::Address),
        }
    }

    /// The address of the user: what [`choose`] set, else the environment variable, else the default. Fails as
    /// [`Address::parse`] does.
    pub(crate) fn of_user() -> Result<Address, StoreError> {
        if let Some(chosen) = CHOSEN.get() {
            return Ok(chosen.clone());
        }
        match std::env::var(STORE_VARIABLE) {
            Ok(text) if !text.trim().is_empty() => Address::parse(&text),
            Err(std::env::VarError::NotUnicode(_)) => Err(StoreError::Address),
            _ => Ok(Address::Default),
        }
    }

    /// A message without the password of this address, in case whoever wrote it repeated it.
    pub(crate) fn redact(&self, message: &str) -> String {
        match self {
            Address::Postgres(url) => record::printable(&url.redact(message)),
            _ => record::printable(message),
        }
    }
}

impl fmt::Display for Address {
    /// Without user, password and options.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Default => out.write_str("SQLite in the data folder"),
            Address::Files => out.write_str("files in the data folder"),
            Address::Sqlite(path) => out.write_str(&record::printable(&path.display().to_string())),
            Address::Postgres(url) => write!(out, "{url}"),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The address of the command line. It is set once, before anything else.
static CHOSEN: OnceLock<Address> = OnceLock::new();

/// Makes this the address of the user's store, for the whole process. The first call counts. Fails if this build lacks
/// PostgreSQL and the address needs it.
pub fn choose(address: Address) -> Result<(), StoreError> {
    if matches!(address, Address::Postgres(_)) && !cfg!(feature = "team") {
        return Err(StoreError::Team("PostgreSQL"));
    }
    let _ = CHOSEN.set(address);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_never_shown_with_their_password() {
        assert_eq!(Address::parse("files").ok(), Some(Address::Files));
        assert_eq!(Address::parse("/x/y.sqlite").ok(), Some(Address::Sqlite("/x/y.sqlite".into())));
        for url in [
            "postgres://ann:s3cr%65t@db.example:5432/costs?sslmode=disable",
            "postgresql://ann:s3cr%65t?@db.example:5432/costs",
            "postgres://db.example:5432/costs?user=ann&password=s3cr%65t",
        ] {
            let address = Address::parse(url).expect("an address");
            assert_eq!(format!("{address}"), "postgres://db.example:5432/costs");
            assert_eq!(format!("{address:?}"), "postgres://db.example:5432/costs");
            let reported = address.redact(&format!("cannot open {url}: no s3cr%65t? no s3cret?"));
            assert!(!reported.contains("s3cr%65t") && !reported.contains("s3cret"), "{reported}");
        }
        for bad in [
            "", "mysql://root:s3cret@h/d", "costs", "postgres:/s3cret", "http://s3cret.sqlite",
            "postgres://a:s3cret@x@h/d",
        ] {
            let error = Address::parse(bad).expect_err("no address").to_string();
            assert!(!error.contains("s3cret") && error.contains("postgres://"), "{error}");
        }
    }
}
