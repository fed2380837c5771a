//! Whether a connection to PostgreSQL is encrypted, by the words of `sslmode` that other programs use.

use std::path::PathBuf;

use tokio_postgres::config::SslMode;

use crate::backend::DatabaseError;
use crate::postgres_url::PostgresUrl;

/// As `sslrootcert`: the authorities that the system trusts.
pub(super) const SYSTEM: &str = "system";

/// How much of the server's certificate is verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verifies {
    Nothing,
    /// That an authority that is trusted has signed it.
    Chain,
    /// That it is also that of the host.
    ChainAndName,
}

pub(super) struct Encryption {
    pub mode: SslMode,
    pub verifies: Verifies,
    /// The file with the certificates of authorities that the user named.
    pub authorities: Option<String>,
    word: String,
}

impl Encryption {
    /// What `sslmode` and `sslrootcert`, or `PGSSLMODE` and `PGSSLROOTCERT`, request. A socket is never encrypted. Fails if
    /// the mode is unknown.
    pub(super) fn of(url: &PostgresUrl) -> Result<Encryption, DatabaseError> {
        let authorities = url.option("sslrootcert", Some("PGSSLROOTCERT"));
        let is_system = authorities.as_deref() == Some(SYSTEM);
        let usual = if is_system { "verify-full" } else { "prefer" };
        let word = url.option("sslmode", Some("PGSSLMODE")).unwrap_or_else(|| usual.into());
        let is_socket =
            url.option("hostaddr", None).is_none() && url.hosts.iter().all(|(host, _)| host.starts_with('/'));
        let known = match is_socket {
            true => Some((SslMode::Disable, Verifies::Nothing)),
            false => meant(&word, is_system, authorities.is_some() || own_authorities().is_some()),
        };
        let (mode, verifies) = known.unwrap_or((SslMode::Require, Verifies::ChainAndName));
        let encryption = Encryption { mode, verifies, authorities, word };
        match known {
            Some(_) => Ok(encryption),
            None if is_system => Err(encryption.refused("sslrootcert=system is for verify-full only")),
            None => Err(encryption.refused("it is disable, prefer, require, verify-ca or verify-full")),
        }
    }

    /// Why the connection is not even begun.
    pub(super) fn refused(&self, why: &str) -> DatabaseError {
        DatabaseError::Refused(format!("sslmode={}: {why}. Nothing was sent", self.word))
    }
}

/// What a mode means with the system's authorities, or with others that are named or the user's. `None` if it means nothing.
fn meant(word: &str, is_system: bool, has_authorities: bool) -> Option<(SslMode, Verifies)> {
    Some(match word {
        "verify-full" => (SslMode::Require, Verifies::ChainAndName),
        // They sign for everybody.
        _ if is_system => return None,
        "disable" => (SslMode::Disable, Verifies::Nothing),
        "allow" | "prefer" => (SslMode::Prefer, Verifies::Nothing),
        // With the certificates of authorities, it means the next one.
        "require" if !has_authorities => (SslMode::Require, Verifies::Nothing),
        "require" | "verify-ca" => (SslMode::Require, Verifies::Chain),
        _ => return None,
    })
}

/// The user's file of authorities for PostgreSQL, if there is one.
pub(super) fn own_authorities() -> Option<PathBuf> {
    let file = PathBuf::from(std::env::var_os("HOME")?).join(".postgresql/root.crt");
    file.exists().then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_mean_what_they_mean_to_libpq() {
        let verifies =
            |word: &str, is_system, has_authorities| meant(word, is_system, has_authorities).map(|(_, what)| what);
        for (word, without, with) in [
            ("prefer", Verifies::Nothing, Verifies::Nothing),
            ("require", Verifies::Nothing, Verifies::Chain),
            ("verify-ca", Verifies::Chain, Verifies::Chain),
            ("verify-full", Verifies::ChainAndName, Verifies::ChainAndName),
        ] {
            assert_eq!([false, true].map(|has| verifies(word, false, has)), [Some(without), Some(with)], "{word}");
            assert_eq!(verifies(word, true, true).is_some(), word == "verify-full", "{word} with sslrootcert=system");
        }
        assert_eq!(verifies("sometimes", false, false), None);
        let of =
            |options: &str| Encryption::of(&PostgresUrl::parse(&format!("postgres://h/d?{options}")).expect("a URL"));
        let system = of("sslrootcert=system").unwrap_or_else(|why| panic!("{why:?}"));
        assert_eq!((system.verifies, system.word.as_str()), (Verifies::ChainAndName, "verify-full"));
        let refused = of("sslrootcert=system&sslmode=require").err().expect("refused");
        assert!(matches!(refused, DatabaseError::Refused(why) if why.contains("for verify-full only")));
    }
}
