//! What SQLite and PostgreSQL do alike: transactions, statements with rows of cells, and costs in bulk.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::rows::Row;

/// The SQL in which the two differ.
pub(crate) struct SqlDialect {
    /// The words that replace `{KEY}`, `{BYTES}`, `{REAL}` and `{BY_KEY}` in a step of the schema.
    pub words: [&'static str; 4],
    /// Counts the tables with the name `$1`.
    pub count_tables: &'static str,
    /// Begins a transaction that writes.
    pub begin: &'static str,
}

impl SqlDialect {
    /// A step of the schema in this dialect.
    pub(crate) fn translate(&self, step: &str) -> String {
        let words = ["{KEY}", "{BYTES}", "{REAL}", "{BY_KEY}"].iter().zip(self.words);
        words.fold(step.to_owned(), |step, (word, replacement)| step.replace(word, replacement))
    }
}

/// What reports that another program has held the store for two seconds, and that it is waited for.
static REPORT_WAIT: Mutex<Option<fn()>> = Mutex::new(None);

/// Calls this, one time, when another program has held the store for two seconds. Without it, the wait is silent.
pub fn when_locked(report: fn()) {
    *REPORT_WAIT.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
}

#[cfg(feature = "database")]
pub(crate) fn report_wait() {
    let report = REPORT_WAIT.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(report) = report {
        report();
    }
}

/// Why a database does not do what is requested, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "database", feature = "team")),
    allow(dead_code, reason = "each database has errors that the other has not")
)]
pub(crate) enum DatabaseError {
    /// Another program holds it for too long.
    Locked(String),
    /// Its content is not what a database wrote.
    Damaged(String),
    /// It does not answer.
    Silent(String),
    /// It refuses what a document holds.
    Unfit(String),
    /// It refuses, for any other reason.
    Refused(String),
}

impl From<record::ReadError> for DatabaseError {
    fn from(error: record::ReadError) -> DatabaseError {
        DatabaseError::Refused(error.to_string())
    }
}

impl From<String> for DatabaseError {
    fn from(why: String) -> DatabaseError {
        DatabaseError::Refused(why)
    }
}

impl From<&str> for DatabaseError {
    fn from(why: &str) -> DatabaseError {
        DatabaseError::Refused(why.into())
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SqlValue {
    Nothing,
    Whole(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl SqlValue {
    pub(crate) fn number(&self) -> i64 {
        if let SqlValue::Whole(number) = self { *number } else { 0 }
    }

    pub(crate) fn text(&self) -> &str {
        if let SqlValue::Text(text) = self { text } else { "" }
    }

    pub(crate) fn real(&self) -> f64 {
        match self {
            SqlValue::Real(real) => *real,
            SqlValue::Whole(number) => *number as f64,
            _ => f64::NAN,
        }
    }

    pub(crate) fn optional_text(&self) -> Option<String> {
        if let SqlValue::Text(text) = self { Some(text.clone()) } else { None }
    }

    pub(crate) fn from_optional(text: Option<&str>) -> SqlValue {
        text.map_or(SqlValue::Nothing, |text| SqlValue::Text(text.into()))
    }
}

/// An open database. Failures are reported in its own words.
pub(crate) trait Backend {
    fn dialect(&self) -> &'static SqlDialect;

    /// Keeps other writers away until the transaction ends, where `begin` alone does not.
    fn hold_alone(&mut self) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Prepares a place for the tables, before they are made.
    fn make_room(&mut self) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Statements without rows.
    fn execute(&mut self, statements: &str) -> Result<(), DatabaseError>;

    /// One statement with `$1`, `$2`, ... in order, and its rows.
    fn query(&mut self, statement: &str, values: &[SqlValue]) -> Result<Vec<Vec<SqlValue>>, DatabaseError>;

    fn add_costs(&mut self, costs: &[Row<i64>]) -> Result<(), DatabaseError>;

    /// Shows the costs of these runs, or of all.
    fn scan(
        &mut self,
        runs: Option<&[i64]>,
        each: &mut dyn FnMut(Row<i64>) -> ControlFlow<()>,
    ) -> Result<(), DatabaseError>;
}

/// Does work in a transaction: all of it or nothing. What was written is on the device when this returns.
pub(crate) fn transaction<T>(
    backend: &mut dyn Backend,
    work: impl FnOnce(&mut dyn Backend) -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    backend.execute(backend.dialect().begin)?;
    let done = work(backend).and_then(|done| backend.execute("COMMIT").map(|()| done));
    if done.is_err() {
        // A full disk may have ended the transaction already, and a server ends it if the connection is gone.
        let _ = backend.execute("ROLLBACK");
    }
    done
}
