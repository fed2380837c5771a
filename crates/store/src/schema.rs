//! The tables, in the SQL that SQLite and PostgreSQL share, and how a store is brought to this version of them. The kept
//! library numbers the steps, notes which are done, and does the others.

use std::fmt;

use refinery_core::traits::sync::{Migrate, Query, Transaction};
use refinery_core::{Migration, Runner};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::backend::{Backend, Cell, Dialect};

/// The steps so far. A step that was released never changes; a new one is added below.
const STEPS: &[(&str, &str)] = &[("V1__tables", include_str!("schema/v1.sql"))];

/// Where the library notes the steps that are done.
const DONE: &str = "refinery_schema_history";

/// The version of the tables in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// There are none yet, or those of an older version.
    Older,
    /// Those that this program knows.
    This,
    /// Made by a newer howslow.
    Newer(i64),
}

/// The version of a store's tables. Writes nothing.
pub(crate) fn version(backend: &mut dyn Backend) -> Result<Version, String> {
    let exists = match backend.dialect() {
        Dialect::Sqlite => format!("SELECT count(*) FROM sqlite_master WHERE name = '{DONE}'"),
        Dialect::Postgres => format!(
            "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = '{DONE}'"
        ),
    };
    if number(backend.ask(&exists, &[])?) == 0 {
        return Ok(Version::Older);
    }
    let found = number(backend.ask(&format!("SELECT CAST(coalesce(max(version), 0) AS BIGINT) FROM {DONE}"), &[])?);
    let known = STEPS.len() as i64;
    Ok(match found {
        newer if newer > known => Version::Newer(newer),
        same if same == known => Version::This,
        _ => Version::Older,
    })
}

/// Does the steps that are not done yet. The caller holds the store alone, in a transaction that it ends.
pub(crate) fn migrate(backend: &mut dyn Backend) -> Result<(), String> {
    let dialect = backend.dialect();
    let steps: Result<Vec<Migration>, _> =
        STEPS.iter().map(|(name, text)| Migration::unapplied(name, &dialect.words(text))).collect();
    let steps = steps.map_err(|error| error.to_string())?;
    let runner = Runner::new(&steps).set_grouped(true).set_abort_missing(true).set_abort_divergent(true);
    runner.run(&mut HeldTransaction(backend)).map(|_| ()).map_err(|error| error.to_string())
}

fn number(rows: Vec<Vec<Cell>>) -> i64 {
    rows.first().and_then(|row| row.first()).map_or(0, Cell::number)
}

/// A store in a transaction, as the library wants it.
struct HeldTransaction<'a>(&'a mut dyn Backend);

/// A failure in the words of the database.
#[derive(Debug)]
struct Failed(String);

impl fmt::Display for Failed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

impl Transaction for HeldTransaction<'_> {
    type Error = Failed;

    fn execute<'a, T: Iterator<Item = &'a str>>(&mut self, queries: T) -> Result<usize, Failed> {
        let mut count = 0;
        for query in queries {
            self.0.execute(query).map_err(Failed)?;
            count += 1;
        }
        Ok(count)
    }
}

impl Query<Vec<Migration>> for HeldTransaction<'_> {
    fn query(&mut self, query: &str) -> Result<Vec<Migration>, Failed> {
        let rows = self.0.ask(query, &[]).map_err(Failed)?;
        let migration = |row: &Vec<Cell>| {
            let [version, name, applied, checksum] = row.as_slice() else { return None };
            let applied = OffsetDateTime::parse(applied.text(), &Rfc3339).ok()?;
            let version = i32::try_from(version.number()).ok()?;
            Some(Migration::applied(version, name.text().into(), applied, checksum.text().parse().ok()?))
        };
        rows.iter()
            .map(migration)
            .collect::<Option<_>>()
            .ok_or_else(|| Failed("its list of versions is damaged".into()))
    }
}

impl Migrate for HeldTransaction<'_> {}
