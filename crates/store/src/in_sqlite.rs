//! Runs in an SQLite file. Its journal is a file beside it, not shared memory, so that it also works in a home folder that
//! several machines mount.

use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};

use crate::backend::{Backend, DatabaseError, SqlDialect, SqlValue, report_wait};
use crate::rows::Row;

/// Waits before the next attempt at a locked database: a minute in all, because twenty programs that write one after another need
/// a few seconds on a slow disk. `false` to give up.
fn wait_for_lock(attempts: i32) -> bool {
    const LONGEST_MS: i32 = 50;
    const ATTEMPTS_IN_2_S: i32 = 65;
    const ATTEMPTS_IN_60_S: i32 = 1225;
    if attempts == ATTEMPTS_IN_2_S {
        report_wait();
    }
    std::thread::sleep(Duration::from_millis(attempts.clamp(1, LONGEST_MS) as u64));
    attempts < ATTEMPTS_IN_60_S
}

pub(crate) struct Sqlite(Connection);

impl Sqlite {
    /// Opens the file, or creates it. A link is followed only in a folder of this user.
    pub(crate) fn open(path: &Path) -> Result<Sqlite, DatabaseError> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        flags |= OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let refused = |error: std::io::Error| DatabaseError::Refused(error.to_string());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = folder.canonicalize().map_err(refused)?;
        if std::fs::metadata(&folder).map_err(refused)?.uid() != rustix::process::geteuid().as_raw() {
            flags |= OpenFlags::SQLITE_OPEN_NOFOLLOW;
        }
        let path = folder.join(path.file_name().unwrap_or_default());
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err("it is a folder, device or pipe, not a file".into());
        }
        let connection = Connection::open_with_flags(path, flags).map_err(described)?;
        connection.busy_handler(Some(wait_for_lock)).map_err(described)?;
        // FULL: what is acknowledged survives a crash of the machine. No schema of a hostile file may call functions.
        let settings = "PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; \
            PRAGMA cache_size = -65536;";
        connection.execute_batch(settings).map_err(described)?;
        Ok(Sqlite(connection))
    }
}

fn described(error: rusqlite::Error) -> DatabaseError {
    let code = error.sqlite_error_code();
    let text = match error {
        rusqlite::Error::SqliteFailure(_, Some(text)) => text,
        other => other.to_string(),
    };
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => DatabaseError::Locked(text),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => DatabaseError::Damaged(text),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
            DatabaseError::Unfit(text)
        }
        _ => DatabaseError::Refused(text),
    }
}

impl rusqlite::ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            SqlValue::Nothing => ToSqlOutput::Owned(Value::Null),
            SqlValue::Whole(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            SqlValue::Real(real) => ToSqlOutput::Owned(Value::Real(*real)),
            SqlValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            SqlValue::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

fn cell(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Nothing,
        ValueRef::Integer(number) => SqlValue::Whole(number),
        ValueRef::Real(real) => SqlValue::Real(real),
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => SqlValue::Bytes(bytes.into()),
    }
}

const SCAN: &str = "SELECT run, series, doubts, value, low, high, cycles FROM cost";

/// Shows the rows of one statement. Returns whether more are wanted.
fn rows(
    connection: &Connection,
    statement: &str,
    run: Option<i64>,
    each: &mut dyn FnMut(Row<i64>) -> ControlFlow<()>,
) -> rusqlite::Result<ControlFlow<()>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(params_from_iter(run))?;
    while let Some(row) = rows.next()? {
        let keys = [row.get(0)?, row.get(1)?, row.get(2)?];
        let cost = Row::kept(keys, row.get(3)?, [row.get(4)?, row.get(5)?, row.get(6)?]);
        if each(cost).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

impl Backend for Sqlite {
    fn dialect(&self) -> &'static SqlDialect {
        &SqlDialect {
            words: ["INTEGER PRIMARY KEY", "BLOB", "REAL", " WITHOUT ROWID"],
            count_tables: "SELECT count(*) FROM sqlite_master WHERE name = $1",
            begin: "BEGIN IMMEDIATE",
        }
    }

    fn execute(&mut self, statements: &str) -> Result<(), DatabaseError> {
        self.0.execute_batch(statements).map_err(described)
    }

    fn query(&mut self, statement: &str, values: &[SqlValue]) -> Result<Vec<Vec<SqlValue>>, DatabaseError> {
        let query = || {
            let mut statement = self.0.prepare_cached(statement)?;
            let columns = statement.column_count();
            let mut rows = statement.query(params_from_iter(values))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push((0..columns).map(|place| row.get_ref(place).map(cell)).collect::<Result<_, _>>()?);
            }
            Ok(found)
        };
        query().map_err(described)
    }

    fn add_costs(&mut self, costs: &[Row<i64>]) -> Result<(), DatabaseError> {
        let add = || {
            let mut statement = self.0.prepare_cached(
                "INSERT INTO cost (run, series, doubts, value, low, high, cycles) VALUES (?, ?, ?, ?, ?, ?, ?)",
            )?;
            for cost in costs {
                let (Row { run, series, doubts, value, .. }, [low, high, cycles]) = (*cost, cost.ends());
                statement.execute((run, series, doubts, value, low, high, cycles))?;
            }
            Ok(())
        };
        add().map_err(described)
    }

    fn scan(
        &mut self,
        runs: Option<&[i64]>,
        each: &mut dyn FnMut(Row<i64>) -> ControlFlow<()>,
    ) -> Result<(), DatabaseError> {
        let Some(runs) = runs else { return rows(&self.0, SCAN, None, each).map(|_| ()).map_err(described) };
        for run in runs {
            if rows(&self.0, &format!("{SCAN} WHERE run = ?"), Some(*run), each).map_err(described)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
