//! Runs in an SQLite file. Its journal is a file beside it, not shared memory, so that it also works in a home folder that
//! several machines mount.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};

use crate::backend::{Backend, Cell, CostRow, Dialect};

/// How long a writer waits for others: twenty that write one after another need a few seconds on a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Sqlite(Connection);

impl Sqlite {
    /// Opens the file, or creates it.
    pub(crate) fn open(path: &Path) -> Result<Sqlite, String> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(told)?;
        connection.busy_timeout(PATIENCE).map_err(told)?;
        // FULL: what is acknowledged survives a crash of the machine. No schema of a hostile file may call functions.
        let settings = "PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; \
            PRAGMA cache_size = -65536;";
        connection.execute_batch(settings).map_err(told)?;
        Ok(Sqlite(connection))
    }
}

fn told(error: rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(text)) => text,
        other => other.to_string(),
    }
}

impl rusqlite::ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Cell::Nothing => ToSqlOutput::Owned(Value::Null),
            Cell::Whole(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Cell::Real(real) => ToSqlOutput::Owned(Value::Real(*real)),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Nothing,
        ValueRef::Integer(number) => Cell::Whole(number),
        ValueRef::Real(real) => Cell::Real(real),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.into()),
    }
}

const SCAN: &str = "SELECT run, series, doubts, value, low, high, cycles FROM cost";

/// Shows the rows of one statement. Returns whether more are wanted.
fn rows(
    connection: &Connection,
    statement: &str,
    run: Option<i64>,
    each: &mut dyn FnMut(CostRow) -> ControlFlow<()>,
) -> rusqlite::Result<ControlFlow<()>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(params_from_iter(run))?;
    while let Some(row) = rows.next()? {
        let cost = CostRow {
            run: row.get(0)?,
            series: row.get(1)?,
            doubts: row.get(2)?,
            value: row.get(3)?,
            low: row.get(4)?,
            high: row.get(5)?,
            cycles: row.get(6)?,
        };
        if each(cost).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

impl Backend for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn begin(&mut self) -> Result<(), String> {
        self.execute("BEGIN IMMEDIATE")
    }

    fn commit(&mut self) -> Result<(), String> {
        self.execute("COMMIT")
    }

    fn rollback(&mut self) {
        // A full disk may have ended the transaction already.
        let _ = self.execute("ROLLBACK");
    }

    fn hold_alone(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn make_room(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn execute(&mut self, statements: &str) -> Result<(), String> {
        self.0.execute_batch(statements).map_err(told)
    }

    fn ask(&mut self, statement: &str, values: &[Cell]) -> Result<Vec<Vec<Cell>>, String> {
        let ask = || {
            let mut statement = self.0.prepare_cached(statement)?;
            let columns = statement.column_count();
            let mut rows = statement.query(params_from_iter(values))?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push((0..columns).map(|place| row.get_ref(place).map(cell)).collect::<Result<_, _>>()?);
            }
            Ok(found)
        };
        ask().map_err(told)
    }

    fn add_costs(&mut self, costs: &[CostRow]) -> Result<(), String> {
        let add = || {
            let mut statement = self.0.prepare_cached(
                "INSERT INTO cost (run, series, doubts, value, low, high, cycles) VALUES (?, ?, ?, ?, ?, ?, ?)",
            )?;
            for cost in costs {
                let CostRow { run, series, doubts, value, low, high, cycles } = *cost;
                statement.execute((run, series, doubts, value, low, high, cycles))?;
            }
            Ok(())
        };
        add().map_err(told)
    }

    fn scan(&mut self, runs: Option<&[i64]>, each: &mut dyn FnMut(CostRow) -> ControlFlow<()>) -> Result<(), String> {
        let Some(runs) = runs else { return rows(&self.0, SCAN, None, each).map(|_| ()).map_err(told) };
        for run in runs {
            if rows(&self.0, &format!("{SCAN} WHERE run = ?"), Some(*run), each).map_err(told)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
