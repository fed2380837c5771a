//! The tables, in the SQL that SQLite and PostgreSQL share, and how a store is brought to this version of them.

use crate::backend::{Backend, DatabaseError, SqlValue};

/// The steps so far, with their names. A released step never changes; a new one is added below.
pub(crate) const STEPS: &[(&str, &str)] = &[("tables", include_str!("schema/v1.sql"))];

/// The table with the steps that are done. Its name and columns are those of the library that kept it in earlier versions.
const DONE: &str = "refinery_schema_history";

/// Does the steps that are not done yet. The caller holds the store alone, in a transaction that it ends.
pub(crate) fn migrate(backend: &mut dyn Backend) -> Result<(), DatabaseError> {
    let done = steps_done(backend)?;
    backend.execute(&format!(
        "CREATE TABLE IF NOT EXISTS {DONE} \
         (version INTEGER PRIMARY KEY, name VARCHAR(255), applied_on VARCHAR(255), checksum VARCHAR(255))"
    ))?;
    for (version, (name, step)) in (1..).zip(STEPS).filter(|(version, _)| *version > done) {
        backend.execute(&backend.dialect().translate(step))?;
        let applied = jiff::Timestamp::now();
        backend.execute(&format!("INSERT INTO {DONE} VALUES ({version}, '{name}', '{applied:.0}', '0')"))?;
    }
    Ok(())
}

/// The number of steps that are done: 0 if there are no tables yet.
pub(crate) fn steps_done(backend: &mut dyn Backend) -> Result<i64, DatabaseError> {
    if number(backend.query(backend.dialect().count_tables, &[SqlValue::Text(DONE.into())])?) == 0 {
        return Ok(0);
    }
    Ok(number(backend.query(&format!("SELECT CAST(coalesce(max(version), 0) AS BIGINT) FROM {DONE}"), &[])?))
}

fn number(rows: Vec<Vec<SqlValue>>) -> i64 {
    rows.first().and_then(|row| row.first()).map_or(0, SqlValue::number)
}
