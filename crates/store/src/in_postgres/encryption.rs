//! Whether a connection to PostgreSQL is encrypted, by the words of `sslmode` that other programs use.

use tokio_postgres::config::SslMode;

use crate::backend::DatabaseError;
use crate::postgres_url::PostgresUrl;

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
        let word = url.option("sslmode", Some("PGSSLMODE")).unwrap_or_else(|| "prefer".into());
        let authorities = url.option("sslrootcert", Some("PGSSLROOTCERT"));
        let is_socket =
            url.option("hostaddr", None).is_none() && url.hosts.iter().all(|(host, _)| host.starts_with('/'));
        let known = match word.as_str() {
            _ if is_socket => Some((SslMode::Disable, Verifies::Nothing)),
            "disable" => Some((SslMode::Disable, Verifies::Nothing)),
            "allow" | "prefer" => Some((SslMode::Prefer, Verifies::Nothing)),
            // With the certificates of authorities, it means the next one.
            "require" if authorities.is_none() => Some((SslMode::Require, Verifies::Nothing)),
            "require" | "verify-ca" => Some((SslMode::Require, Verifies::Chain)),
            "verify-full" => Some((SslMode::Require, Verifies::ChainAndName)),
            _ => None,
        };
        let (mode, verifies) = known.unwrap_or((SslMode::Require, Verifies::ChainAndName));
        let encryption = Encryption { mode, verifies, authorities, word };
        match known {
            Some(_) => Ok(encryption),
            None => Err(encryption.refused("it is disable, prefer, require, verify-ca or verify-full")),
        }
    }

    /// Why the connection is not even begun.
    pub(super) fn refused(&self, why: &str) -> DatabaseError {
        DatabaseError::Refused(format!("sslmode={}: {why}. Nothing was sent", self.word))
    }
}
