//! Runs in a PostgreSQL database, in tables of a schema of their own. Whatever is requested of the server has a deadline.

mod encrypted;
mod encryption;
mod verified;

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::pin;
use std::time::Duration;

use futures_util::TryStreamExt;
use tokio::runtime::Runtime;
use tokio_postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutStream};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};
use tokio_postgres::{Client, Column, Config, Statement};

use crate::backend::{Backend, DatabaseError, SqlDialect, SqlValue};
use crate::postgres_url::PostgresUrl;
use crate::rows::Row;
use encryption::Encryption;
use verified::connector;

/// The tables' schema, so that they never meet tables of others.
const SCHEMA: &str = "howslow";
/// How long the server may take until the first statement can be sent, unless the URL's `connect_timeout` says otherwise.
const CONNECT: Duration = Duration::from_secs(10);
/// How long the server may be silent after a statement, unless the URL's `tcp_user_timeout` says otherwise.
const SILENCE: Duration = Duration::from_secs(60);
/// How long the server may take to end the connection.
const CLOSE: Duration = Duration::from_secs(1);
/// Whoever prepares the tables, or adds to the lists that costs refer to, holds this lock. "howslow" in ASCII.
const LOCK: i64 = 0x68_6f77_736c_6f77;

pub(crate) struct Postgres {
    /// Runs the connection while something is waited for.
    runtime: Runtime,
    session: Session,
}

/// The client of an open connection. There is none once the server was silent, because its answer may still come.
struct Session {
    client: Option<Client>,
    statements: HashMap<String, Statement>,
    silence: Duration,
}

impl Postgres {
    /// Connects by an URL. A password may also come from `PGPASSWORD`, as with other programs.
    pub(crate) fn open(url: &PostgresUrl) -> Result<Postgres, DatabaseError> {
        let encryption = Encryption::of(url)?;
        let connector = connector(&encryption).map_err(|why| encryption.refused(&why))?;
        let milliseconds =
            |text: String| text.parse().map(Duration::from_millis).map_err(|_| unreadable("tcp_user_timeout"));
        let silence = url.option("tcp_user_timeout", None).map(milliseconds).transpose()?;
        // 0, by which libpq means the system's own, would give up at once here.
        let silence = silence.filter(|silence| !silence.is_zero()).unwrap_or(SILENCE);
        let mut hosts = hosts(url).into_iter().map(|hosts| config(url, hosts)).collect::<Result<Vec<_>, _>>()?;
        for config in &mut hosts {
            let idle = silence.max(Duration::from_secs(1));
            config.ssl_mode(encryption.mode).tcp_user_timeout(silence).keepalives_idle(idle);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| DatabaseError::Refused(format!("cannot wait for it: {error}")))?;
        let connected = runtime.block_on(async {
            let mut refused = unreadable("the host");
            for config in &hosts {
                let limit = *config.get_connect_timeout().unwrap_or(&CONNECT);
                match within(limit, config.connect(connector.clone())).await {
                    Ok((client, connection)) => {
                        // It ends with the client or with the runtime.
                        tokio::spawn(connection);
                        return Ok(client);
                    }
                    Err(why) => refused = why,
                }
            }
            Err(refused)
        });
        let client = match connected {
            Ok(client) => client,
            Err(error) => {
                // A name that is still looked up is not waited for.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let session = Session { client: Some(client), statements: HashMap::new(), silence };
        let mut opened = Postgres { runtime, session };
        // FULL durability, whatever the server's default is. What is given up here ends there too.
        let (lock, most) = (silence.as_millis() / 2, silence.as_millis());
        opened.execute(&format!(
            "SET synchronous_commit = on; SET search_path = {SCHEMA}; SET lock_timeout = {lock}; SET statement_timeout = {most}"
        ))?;
        Ok(opened)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The end of the client shows it to the server; it is not waited for long.
        self.session.client = None;
        self.runtime.block_on(async { tokio::time::timeout(CLOSE, tokio::task::yield_now()).await.ok() });
    }
}

/// A host of a URL, and its port.
type Host = (String, Option<u16>);

/// The hosts of an URL, tried one after another, so that a silent one is not waited for in vain. The library knows which belong
/// together if addresses are given too, or any of them may be the first.
fn hosts(url: &PostgresUrl) -> Vec<&[Host]> {
    let together = ["hostaddr", "load_balance_hosts"].iter().any(|name| url.option(name, None).is_some());
    if together || url.hosts.is_empty() { vec![url.hosts.as_slice()] } else { url.hosts.chunks(1).collect() }
}

/// What the library gets of an URL, with these of its hosts.
fn config(url: &PostgresUrl, hosts: &[Host]) -> Result<Config, DatabaseError> {
    let mut words = String::new();
    // Values are quoted, so that no part of one is taken for another option.
    let mut add = |name: &str, value: &str| {
        words += &format!("{name}='{}' ", value.replace('\\', "\\\\").replace('\'', "\\'"));
    };
    const OWN: [&str; 3] = ["sslmode", "sslrootcert", "tcp_user_timeout"];
    for (name, value) in url.options.iter().filter(|(name, _)| !OWN.contains(&name.as_str())) {
        if !record::is_plain_name(name) {
            return Err(unreadable("an option"));
        }
        add(name, value);
    }
    hosts.iter().for_each(|(host, _)| add("host", host));
    hosts.iter().for_each(|(_, port)| add("port", &port.unwrap_or(5432).to_string()));
    let password = url.password.clone().or_else(|| std::env::var("PGPASSWORD").ok());
    for (name, value) in [("user", &url.user), ("password", &password), ("dbname", &url.database)] {
        value.iter().for_each(|value| add(name, value));
    }
    if !url.options.iter().any(|(name, _)| name == "application_name") {
        add("application_name", "howslow");
    }
    // The library's words could repeat parts of the URL.
    words.parse().map_err(|_| unreadable("an option"))
}

fn unreadable(what: &str) -> DatabaseError {
    DatabaseError::Refused(format!(
        "{what} of its URL cannot be read (postgres://USER@HOST:PORT/DATABASE?OPTION=VALUE)"
    ))
}

/// What the work gives, if it does so in this time.
async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, DatabaseError> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done.map_err(|error| words(&error)),
        Err(_) => Err(DatabaseError::Silent(format!("the server did not answer within {} s", limit.as_secs_f64()))),
    }
}

/// The server's words, with what it states in detail.
fn words(error: &tokio_postgres::Error) -> DatabaseError {
    if let Some(reported) = error.as_db_error() {
        let of_text = match reported.code().code().split_at_checked(2) {
            _ if *reported.code() == tokio_postgres::error::SqlState::LOCK_NOT_AVAILABLE => DatabaseError::Locked,
            // The classes of values: they are out of range, break a rule of a table, are too long, or a trigger refuses them.
            Some(("22" | "23" | "54" | "P0", _)) => DatabaseError::Unfit,
            _ => DatabaseError::Refused,
        };
        return of_text(reported.message().to_owned());
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        text = deeper.to_string();
        cause = deeper.source();
    }
    DatabaseError::Refused(text)
}

impl ToSql for SqlValue {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            SqlValue::Nothing => Ok(IsNull::Yes),
            SqlValue::Whole(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            SqlValue::Whole(number) => number.to_sql(kind, out),
            SqlValue::Real(real) => real.to_sql(kind, out),
            // Text cannot hold a zero here.
            SqlValue::Text(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").to_sql(kind, out),
            SqlValue::Text(text) => text.to_sql(kind, out),
            SqlValue::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

fn values(row: &tokio_postgres::Row) -> Result<Vec<SqlValue>, tokio_postgres::Error> {
    let read = |(place, column): (usize, &Column)| match *column.type_() {
        Type::INT8 => value(row, place, SqlValue::Whole),
        Type::INT4 => value(row, place, |number: i32| SqlValue::Whole(number.into())),
        Type::FLOAT8 => value(row, place, SqlValue::Real),
        Type::BYTEA => value(row, place, SqlValue::Bytes),
        _ => value(row, place, SqlValue::Text),
    };
    row.columns().iter().enumerate().map(read).collect()
}

fn value<'a, T: FromSql<'a>>(
    row: &'a tokio_postgres::Row,
    place: usize,
    kind: fn(T) -> SqlValue,
) -> Result<SqlValue, tokio_postgres::Error> {
    Ok(row.try_get::<_, Option<T>>(place)?.map_or(SqlValue::Nothing, kind))
}

const COLUMNS: &str = "run, series, doubts, value, low, high, cycles";
const TYPES: [Type; 7] = [Type::INT8, Type::INT8, Type::INT8, Type::FLOAT8, Type::FLOAT8, Type::FLOAT8, Type::FLOAT8];

impl Session {
    fn client(&self) -> Result<&Client, DatabaseError> {
        self.client.as_ref().ok_or_else(|| DatabaseError::Silent("the connection was given up".into()))
    }
}

impl Postgres {
    /// Does this work of the session. Gives the connection up after a silence.
    fn done<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Session) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let done = self.runtime.block_on(work(&mut self.session));
        if matches!(done, Err(DatabaseError::Silent(_))) {
            self.session.client = None;
        }
        done
    }
}

impl Backend for Postgres {
    fn dialect(&self) -> &'static SqlDialect {
        &SqlDialect {
            words: ["BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY", "BYTEA", "DOUBLE PRECISION", ""],
            count_tables: "SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = $1",
            begin: "BEGIN",
        }
    }

    fn hold_alone(&mut self) -> Result<(), DatabaseError> {
        self.execute(&format!("SELECT pg_advisory_xact_lock({LOCK})"))
    }

    fn make_room(&mut self) -> Result<(), DatabaseError> {
        self.execute(&format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
    }

    fn execute(&mut self, statements: &str) -> Result<(), DatabaseError> {
        self.done(async |session| within(session.silence, session.client()?.batch_execute(statements)).await)
    }

    fn query(&mut self, statement: &str, wanted: &[SqlValue]) -> Result<Vec<Vec<SqlValue>>, DatabaseError> {
        self.done(async |session| {
            let prepared = match session.statements.get(statement) {
                Some(prepared) => prepared.clone(),
                None => within(session.silence, session.client()?.prepare(statement)).await?,
            };
            session.statements.insert(statement.into(), prepared.clone());
            let wanted: Vec<&(dyn ToSql + Sync)> = wanted.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
            let rows = within(session.silence, session.client()?.query(&prepared, &wanted)).await?;
            rows.iter().map(values).collect::<Result<_, _>>().map_err(|error| words(&error))
        })
    }

    fn add_costs(&mut self, costs: &[Row<i64>]) -> Result<(), DatabaseError> {
        self.done(async |session| {
            let copy = format!("COPY cost ({COLUMNS}) FROM STDIN BINARY");
            let copy = within(session.silence, session.client()?.copy_in(&copy)).await?;
            let mut writer = pin!(BinaryCopyInWriter::new(copy, &TYPES));
            for cost in costs {
                let (Row { run, series, doubts, value, .. }, [low, high, cycles]) = (cost, &cost.ends());
                within(session.silence, writer.as_mut().write(&[run, series, doubts, value, low, high, cycles]))
                    .await?;
            }
            within(session.silence, writer.as_mut().finish()).await.map(|_| ())
        })
    }

    fn scan(
        &mut self,
        runs: Option<&[i64]>,
        each: &mut dyn FnMut(Row<i64>) -> ControlFlow<()>,
    ) -> Result<(), DatabaseError> {
        let some = runs.map(|runs| {
            let runs: Vec<String> = runs.iter().map(i64::to_string).collect();
            format!(" WHERE run = ANY ('{{{}}}'::bigint[])", runs.join(","))
        });
        // All rows together may take longer than the server may be silent.
        self.execute("SET statement_timeout = 0")?;
        self.done(async |session| {
            let copy = format!("COPY (SELECT {COLUMNS} FROM cost{}) TO STDOUT BINARY", some.unwrap_or_default());
            let copy = within(session.silence, session.client()?.copy_out(&copy)).await?;
            let mut rows = pin!(BinaryCopyOutStream::new(copy, &TYPES));
            while let Some(row) = within(session.silence, rows.try_next()).await? {
                let cost = || {
                    let keys = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?];
                    Ok(Row::kept(keys, row.try_get(3)?, [row.try_get(4)?, row.try_get(5)?, row.try_get(6)?]))
                };
                if each(cost().map_err(|error| words(&error))?).is_break() {
                    break;
                }
            }
            Ok(())
        })?;
        self.execute(&format!("SET statement_timeout = {}", self.session.silence.as_millis()))
    }
}
