//! How the tables are read, in SQLite and PostgreSQL alike.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::backend::{Backend, DatabaseError, SqlValue, transaction};
use crate::head::Head;
use crate::machines::machines;
use crate::rows::{CostTable, Filter, Row, Series};
use crate::schema;

/// What a database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read. One that does not exist is not made, nor are its tables.
    Read,
    Write,
}

/// How ready a store is.
pub(crate) enum Opened {
    /// It has no tables, was opened to be read, and stays so: it may be somebody else's.
    Empty,
    /// Its tables are those that this program knows.
    Ready,
    /// They were made by a newer howslow.
    Newer(i64),
}

/// Brings a store to the present version. A newer one is left as it is.
pub(crate) fn prepare(backend: &mut dyn Backend, purpose: Purpose) -> Result<Opened, DatabaseError> {
    if let Some(opened) = opened(schema::steps_done(backend)?, purpose) {
        return Ok(opened);
    }
    transaction(backend, |backend| {
        backend.hold_alone()?;
        // Another process may have been faster.
        if let Some(opened) = opened(schema::steps_done(backend)?, Purpose::Write) {
            return Ok(opened);
        }
        backend.make_room()?;
        schema::migrate(backend).map(|()| Opened::Ready)
    })
}

/// How ready a store is of which so many steps are done; `None` if others are to be done.
fn opened(done: i64, purpose: Purpose) -> Option<Opened> {
    let known = schema::STEPS.len() as i64;
    match done {
        newer if newer > known => Some(Opened::Newer(newer)),
        same if same == known => Some(Opened::Ready),
        0 if purpose == Purpose::Read => Some(Opened::Empty),
        _ => None,
    }
}

const HEAD: &str = "SELECT run.key, run.id, run.started, run.ordered, run.howslow, run.build, run.label, run.patterns, \
    run.is_full, run.cycle_ns, machine.host, machine.class, machine.cpu_model, machine.kernel, run.quiet, run.machine \
    FROM run JOIN machine ON machine.key = run.machine";

/// The runs of a filter, newest first.
pub(crate) fn heads(backend: &mut dyn Backend, filter: &Filter) -> Result<Vec<Head>, DatabaseError> {
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    let since = filter.earliest();
    let requested = [
        // Not LIKE: a name could hold its wildcards.
        ("(machine.host = ? OR replace(machine.class, ?, '') <> machine.class)", &filter.machine),
        ("run.ordered >= ?", &since),
        ("run.label = ?", &filter.label),
    ];
    for (condition, value) in requested {
        let Some(value) = value else { continue };
        values.push(SqlValue::Text(value.clone()));
        conditions.push(condition.replace('?', &format!("${}", values.len())));
    }
    let condition = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
    let most = filter.newest.map_or(i64::MAX, |most| most.min(i64::MAX as usize) as i64);
    let order = format!(" ORDER BY run.ordered DESC, run.id DESC, run.key DESC LIMIT {most}");
    Ok(backend.query(&format!("{HEAD}{condition}{order}"), &values)?.iter().map(|row| head(row)).collect())
}

/// The runs whose id begins like this.
pub(crate) fn beginning(backend: &mut dyn Backend, begin: &str) -> Result<Vec<Head>, DatabaseError> {
    // Ids are ASCII. The order of texts is that of the database's language, in which what lies between two of them may be anything.
    let alike = format!("{HEAD} WHERE substr(run.id, 1, {}) = $1 ORDER BY run.id", begin.len());
    Ok(backend.query(&alike, &[SqlValue::Text(begin.into())])?.iter().map(|row| head(row)).collect())
}

fn head(row: &[SqlValue]) -> Head {
    // Whoever may write to the database may write anything.
    let text = |place: usize| record::printable(row[place].text());
    let patterns: Vec<String> = serde_json::from_str(row[7].text()).unwrap_or_default();
    Head {
        key: row[0].number(),
        id: text(1),
        started: text(2),
        ordered: text(3),
        howslow: text(4),
        build: text(5),
        label: row[6].optional_text().map(|label| record::printable(&label)),
        patterns: patterns.iter().map(|pattern| record::printable(pattern)).collect(),
        full: row[8].number() != 0,
        cycle_ns: row[9].real(),
        host: text(10),
        class: text(11),
        model: text(12),
        kernel: text(13),
        path: std::path::PathBuf::new(),
        // Zero also stands for a run that does not state it.
        undisturbed: Some(row[14].real()).filter(|quiet| *quiet > 0.0),
        machine: row[15].number(),
    }
}

/// A document, as it was kept.
pub(crate) fn document(backend: &mut dyn Backend, run: i64) -> Result<Vec<u8>, DatabaseError> {
    let rows = backend.query(&format!("SELECT content FROM document WHERE run = {run}"), &[])?;
    match rows.into_iter().next().and_then(|row| row.into_iter().next()) {
        Some(SqlValue::Bytes(content)) => unpacked(&content),
        _ => Err("it has no document for this run".into()),
    }
}

/// Removes a run, and its machine if no other run was on it. Returns its document; `None` if that is damaged.
pub(crate) fn remove(backend: &mut dyn Backend, head: &Head) -> Result<Option<Vec<u8>>, DatabaseError> {
    let document = document(backend, head.key).ok();
    let (run, machine) = (head.key, head.machine);
    let tables =
        ["cost WHERE run", "document WHERE run", "run WHERE key"].map(|row| format!("DELETE FROM {row} = {run}"));
    let unused = format!("DELETE FROM machine WHERE key = {machine} AND key NOT IN (SELECT machine FROM run)");
    transaction(backend, |backend| {
        tables.iter().chain([&unused]).try_for_each(|statement| backend.execute(statement))
    })?;
    Ok(document)
}

pub(crate) fn packed(document: &[u8]) -> Vec<u8> {
    lz4_flex::block::compress_prepend_size(document)
}

fn unpacked(content: &[u8]) -> Result<Vec<u8>, DatabaseError> {
    let length = content.first_chunk().map_or(u32::MAX, |length| u32::from_le_bytes(*length));
    // Larger ones are refused by every reader.
    if u64::from(length) > record::MOST_RUN_BYTES {
        return Err("the document is damaged".into());
    }
    lz4_flex::block::decompress_size_prepended(content).map_err(|_| "the document is damaged".into())
}

/// The numbers by which the tables call their series and sets of doubts.
#[derive(Default)]
pub(crate) struct Keys {
    pub series: HashMap<Series, i64>,
    pub doubts: HashMap<String, i64>,
}

impl Keys {
    pub(crate) fn read(backend: &mut dyn Backend) -> Result<Keys, DatabaseError> {
        let every = "SELECT key, operation, version, point, estimator, unit, follows_clock FROM series";
        let series = backend.query(every, &[])?.into_iter().map(|row| {
            let text = |place: usize| row[place].text().to_owned();
            let series = Series {
                operation: text(1),
                version: u32::try_from(row[2].number()).unwrap_or_default(),
                point: text(3),
                unit: text(5),
                follows_clock: row[6].number() != 0,
                ..Series::default()
            };
            (series.with_kept_estimator(row[4].text()), row[0].number())
        });
        let series = series.collect();
        let doubts = backend.query("SELECT key, kinds FROM doubts", &[])?;
        Ok(Keys { series, doubts: doubts.iter().map(|row| (row[1].text().to_owned(), row[0].number())).collect() })
    }
}

/// The runs of the filter, the series that are wanted and the doubts; then every row of them.
pub(crate) fn costs(
    backend: &mut dyn Backend,
    filter: &Filter,
    wanted: &dyn Fn(&Series) -> bool,
    each: &mut dyn FnMut(&CostTable, Row) -> ControlFlow<()>,
) -> Result<CostTable, DatabaseError> {
    // Once a run is seen its series and doubts are there, because they were written with it.
    let runs = heads(backend, filter)?;
    let keys = Keys::read(backend)?;
    let known = machines(backend)?;
    let mut series: Vec<(Series, i64)> = keys.series.into_iter().filter(|(series, _)| wanted(series)).collect();
    series.sort();
    let mut doubts: Vec<(String, i64)> = keys.doubts.into_iter().filter(|(kinds, _)| !kinds.is_empty()).collect();
    doubts.sort();
    let run_places: HashMap<i64, u32> = (0..).zip(&runs).map(|(place, run)| (run.key, place)).collect();
    let series_places: HashMap<i64, u32> = (0..).zip(&series).map(|(place, (_, key))| (*key, place)).collect();
    let doubt_places: HashMap<i64, u32> = (1..).zip(&doubts).map(|(place, (_, key))| (*key, place)).collect();
    let table = CostTable {
        machines: runs.iter().map(|run| known.get(&run.machine).cloned().unwrap_or_default()).collect(),
        runs,
        series: series.into_iter().map(|(series, _)| series).collect(),
        doubts: std::iter::once(String::new()).chain(doubts.into_iter().map(|(kinds, _)| kinds)).collect(),
    };
    let some: Vec<i64> = table.runs.iter().map(|run| run.key).collect();
    let all = *filter == Filter::default();
    let mut place = (i64::MIN, None);
    backend.scan((!all).then_some(some.as_slice()), &mut |cost| {
        // The rows of a run follow each other.
        if place.0 != cost.run {
            place = (cost.run, run_places.get(&cost.run).copied());
        }
        let (Some(run), Some(series)) = (place.1, series_places.get(&cost.series)) else {
            return ControlFlow::Continue(());
        };
        let Row { value, low, high, cycles, .. } = cost;
        let doubts = doubt_places.get(&cost.doubts).copied().unwrap_or(0);
        each(&table, Row { run, series: *series, value, low, high, cycles, doubts })
    })?;
    Ok(table)
}
