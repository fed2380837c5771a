//! Runs in a PostgreSQL database, in tables of a schema of their own.

use std::collections::HashMap;
use std::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;

use postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutIter};
use postgres::config::SslMode;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{IsNull, ToSql, Type};
use postgres::{Client, Config, NoTls, Statement};

use crate::backend::{Backend, Cell, CostRow, Dialect};

/// The tables' schema, so that they never meet tables of others.
const SCHEMA: &str = "howslow";
/// How long the server may take to answer at first.
const CONNECT: Duration = Duration::from_secs(10);
/// A connection whose server is silent for so long is given up.
const SILENCE: Duration = Duration::from_secs(60);
/// Whoever prepares the tables, or adds to the lists that costs refer to, holds this lock. "howslow" in ASCII.
const LOCK: i64 = 0x68_6f77_736c_6f77;

pub(crate) struct Postgres {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl Postgres {
    /// Connects by an URL. A password may also come from `PGPASSWORD`, as with other programs.
    pub(crate) fn open(url: &str) -> Result<Postgres, String> {
        let asked = std::env::var("PGSSLMODE").ok().filter(|_| !url.contains("sslmode="));
        if let Some(mode) = sslmode(url).or(asked.as_deref()).filter(|mode| is_encrypted(mode)) {
            return Err(refusal(mode));
        }
        // The library's words could repeat parts of the URL.
        let mut config: Config =
            url.parse().map_err(|_| "its URL cannot be read (postgres://USER@HOST:PORT/DATABASE)")?;
        if config.get_ssl_mode() == SslMode::Require {
            return Err(refusal("require"));
        }
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.tcp_user_timeout(SILENCE).keepalives_idle(SILENCE);
        if config.get_application_name().is_none() {
            config.application_name("howslow");
        }
        let mut client = config.connect(NoTls).map_err(told)?;
        // FULL durability, whatever the server's default is. Reading rows is not slowed by plans for one use.
        let settings = format!("SET synchronous_commit = on; SET search_path = {SCHEMA}; SET lock_timeout = '60s'");
        client.batch_execute(&settings).map_err(told)?;
        Ok(Postgres { client, statements: HashMap::new() })
    }

    fn prepared(&mut self, statement: &str) -> Result<Statement, postgres::Error> {
        if let Some(prepared) = self.statements.get(statement) {
            return Ok(prepared.clone());
        }
        let prepared = self.client.prepare(statement)?;
        self.statements.insert(statement.into(), prepared.clone());
        Ok(prepared)
    }
}

/// How the connection is to be encrypted, as the URL says it.
fn sslmode(url: &str) -> Option<&str> {
    let (_, options) = url.split_once('?')?;
    options.split('&').filter_map(|option| option.strip_prefix("sslmode=")).next_back()
}

/// True for what demands encryption. `prefer` and `allow` are content without.
fn is_encrypted(mode: &str) -> bool {
    matches!(mode, "require" | "verify-ca" | "verify-full")
}

/// What demands encryption is refused before anything is sent.
fn refusal(mode: &str) -> String {
    format!(
        "sslmode={mode} asks for an encrypted connection, which howslow does not have; nothing was sent. Use a socket, or a tunnel: \
         ssh -L 5433:localhost:5432 HOST, and localhost:5433 without sslmode"
    )
}

/// The server's words, with what it says in detail.
fn told(error: postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        text = deeper.to_string();
        cause = deeper.source();
    }
    text
}

impl ToSql for Cell {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut postgres::types::private::BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Cell::Nothing => Ok(IsNull::Yes),
            Cell::Whole(number) if *of == Type::INT4 => i32::try_from(*number)?.to_sql(of, out),
            Cell::Whole(number) => number.to_sql(of, out),
            Cell::Real(real) => real.to_sql(of, out),
            // Text cannot hold a zero here.
            Cell::Text(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").to_sql(of, out),
            Cell::Text(text) => text.to_sql(of, out),
            Cell::Bytes(bytes) => bytes.to_sql(of, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    postgres::types::to_sql_checked!();
}

fn cells(row: &postgres::Row) -> Result<Vec<Cell>, postgres::Error> {
    let cell = |place: usize, column: &postgres::Column| {
        Ok(match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(place)?.map_or(Cell::Nothing, Cell::Whole),
            Type::INT4 => row.try_get::<_, Option<i32>>(place)?.map_or(Cell::Nothing, |it| Cell::Whole(it.into())),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(place)?.map_or(Cell::Nothing, Cell::Real),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(place)?.map_or(Cell::Nothing, Cell::Bytes),
            _ => row.try_get::<_, Option<String>>(place)?.map_or(Cell::Nothing, Cell::Text),
        })
    };
    row.columns().iter().enumerate().map(|(place, column)| cell(place, column)).collect()
}

const COLUMNS: &str = "run, series, doubts, value, low, high, cycles";
const TYPES: [Type; 7] = [Type::INT8, Type::INT8, Type::INT8, Type::FLOAT8, Type::FLOAT8, Type::FLOAT8, Type::FLOAT8];

impl Backend for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn begin(&mut self) -> Result<(), String> {
        self.execute("BEGIN")
    }

    fn commit(&mut self) -> Result<(), String> {
        self.execute("COMMIT")
    }

    fn rollback(&mut self) {
        // The server does it by itself if the connection is gone.
        let _ = self.execute("ROLLBACK");
    }

    fn hold_alone(&mut self) -> Result<(), String> {
        self.execute(&format!("SELECT pg_advisory_xact_lock({LOCK})"))
    }

    fn make_room(&mut self) -> Result<(), String> {
        self.execute(&format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
    }

    fn execute(&mut self, statements: &str) -> Result<(), String> {
        self.client.batch_execute(statements).map_err(told)
    }

    fn ask(&mut self, statement: &str, values: &[Cell]) -> Result<Vec<Vec<Cell>>, String> {
        let mut ask = || {
            let prepared = self.prepared(statement)?;
            let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
            self.client.query(&prepared, &values)?.iter().map(cells).collect::<Result<Vec<_>, _>>()
        };
        ask().map_err(told)
    }

    fn add_costs(&mut self, costs: &[CostRow]) -> Result<(), String> {
        let mut add = || {
            let copy = self.client.copy_in(&format!("COPY cost ({COLUMNS}) FROM STDIN BINARY"))?;
            let mut writer = BinaryCopyInWriter::new(copy, &TYPES);
            for cost in costs {
                let CostRow { run, series, doubts, value, low, high, cycles } = cost;
                writer.write(&[run, series, doubts, value, low, high, cycles])?;
            }
            writer.finish().map(|_| ())
        };
        add().map_err(told)
    }

    fn scan(&mut self, runs: Option<&[i64]>, each: &mut dyn FnMut(CostRow) -> ControlFlow<()>) -> Result<(), String> {
        let mut some = String::new();
        if let Some(runs) = runs {
            let runs: Vec<String> = runs.iter().map(i64::to_string).collect();
            some = format!(" WHERE run = ANY ('{{{}}}'::bigint[])", runs.join(","));
        }
        let mut scan = || {
            let copy = self.client.copy_out(&format!("COPY (SELECT {COLUMNS} FROM cost{some}) TO STDOUT BINARY"))?;
            let mut rows = BinaryCopyOutIter::new(copy, &TYPES);
            while let Some(row) = rows.next()? {
                let cost = CostRow {
                    run: row.try_get(0)?,
                    series: row.try_get(1)?,
                    doubts: row.try_get(2)?,
                    value: row.try_get(3)?,
                    low: row.try_get(4)?,
                    high: row.try_get(5)?,
                    cycles: row.try_get(6)?,
                };
                if each(cost).is_break() {
                    break;
                }
            }
            Ok(())
        };
        scan().map_err(told)
    }
}
