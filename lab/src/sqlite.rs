//! Records in an SQLite file: a table in the order in which they were written, and an index of their keys, just as a keyed
//! file consists of a file of records and a file of keys. It is opened read-only, with SQLite's default settings.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use catalogue::engines::{Cycle, KeyedReader, Record, records, sum, sum_of_bytes};
use catalogue::residence;
use operation::{Failure, Loop, Setting};
use rusqlite::{Connection, OpenFlags, Row, params};

const BY_KEY: &str = "SELECT key, rest FROM records WHERE key = ?1";
const FROM_KEY: &str = "SELECT key, rest FROM records WHERE key >= ?1 ORDER BY key";
const FROM_NUMBER: &str = "SELECT key, rest FROM records WHERE rowid >= ?1 ORDER BY rowid";

/// Random keys that are looked up in a cycle: far more than the pages that SQLite caches.
const WANTED: usize = 16_384;

/// The loop that reads the records of a setting in this order.
pub fn keyed(reader: KeyedReader, setting: &Setting) -> Result<Loop, Failure> {
    match reader {
        KeyedReader::Written => written(setting),
        KeyedReader::InOrder => in_order(setting),
        KeyedReader::AtRandom => at_random(setting),
        KeyedReader::Cold => cold(setting),
    }
}

/// The loop that reads records by their numbers, in the order in which they were written.
fn written(setting: &Setting) -> Result<Loop, Failure> {
    let records = records(setting);
    let connection = opened(&made(setting, &records)?)?;
    let places: Vec<i64> = (1..=records.len() as i64).collect();
    Ok(scanning(connection, FROM_NUMBER, places, &records))
}

/// The loop that reads records in the order of their keys.
fn in_order(setting: &Setting) -> Result<Loop, Failure> {
    let mut records = records(setting);
    let connection = opened(&made(setting, &records)?)?;
    records.sort_unstable_by_key(key);
    let places = records.iter().map(key).collect();
    Ok(scanning(connection, FROM_KEY, places, &records))
}

/// The loop that looks up random keys, each in its own transaction or all in one.
fn at_random(setting: &Setting) -> Result<Loop, Failure> {
    let records = records(setting);
    let connection = opened(&made(setting, &records)?)?;
    if setting.word("transaction")? == "one" {
        connection.execute_batch("BEGIN").map_err(failed)?;
    }
    let (keys, mut cycle) = wanted(setting, &records);
    let total = Rc::new(Cell::new(0_u64));
    let result = Rc::clone(&total);
    let mut next = 0;
    Ok(Loop::new(move |times| {
        let mut lookup = connection.prepare_cached(BY_KEY).map_err(failed)?;
        for _ in 0..times {
            let found = lookup.query_row([keys[next]], words).map_err(failed)?;
            total.set(total.get().wrapping_add(found));
            next = (next + 1) % WANTED;
        }
        Ok(())
    })
    .verify(move |times| cycle.hold(times, result.replace(0))))
}

/// The loop that looks up one key each time in a file that was evicted from memory before.
fn cold(setting: &Setting) -> Result<Loop, Failure> {
    let records = records(setting);
    let path = made(setting, &records)?;
    let file = File::open(&path)?;
    // Pages that are still to be written cannot be evicted.
    file.sync_all()?;
    let (keys, mut cycle) = wanted(setting, &records);
    let connection = Rc::new(RefCell::new(opened(&path)?));
    let fresh = Rc::clone(&connection);
    let total = Rc::new(Cell::new(0_u64));
    let result = Rc::clone(&total);
    let mut next = 0;
    let mut looking = Loop::new(move |_| {
        let connection = connection.borrow();
        let mut lookup = connection.prepare_cached(BY_KEY).map_err(failed)?;
        total.set(lookup.query_row([keys[next]], words).map_err(failed)?);
        next = (next + 1) % WANTED;
        Ok(())
    })
    .at_most(1)
    .before(move |_| {
        // SQLite caches pages itself. A new connection has cached only those that preparing the statement needs.
        *fresh.borrow_mut() = opened(&path)?;
        fresh.borrow().prepare_cached(BY_KEY).map_err(failed)?;
        residence::put_out_of_memory(&file)
    })
    .verify(move |times| cycle.hold(times, result.replace(0)));
    looking.perform(1)?;
    Ok(looking)
}

/// Random keys, and the sum of their records.
fn wanted(setting: &Setting, records: &[Record]) -> (Vec<i64>, Cycle) {
    let mut random = fastrand::Rng::with_seed(!setting.seed());
    let wanted: Vec<&Record> = (0..WANTED).map(|_| &records[random.usize(0..records.len())]).collect();
    (wanted.iter().map(|record| key(record)).collect(), Cycle::new(wanted.iter().map(|record| sum(*record))))
}

/// The loop that reads the rows of a statement in a cycle. Every batch continues where the one before ended, at the next of
/// `places`. `records` are the rows.
fn scanning(connection: Connection, statement: &'static str, places: Vec<i64>, records: &[Record]) -> Loop {
    let mut cycle = Cycle::new(records.iter().map(|record| sum(record)));
    let total = Rc::new(Cell::new(0_u64));
    let result = Rc::clone(&total);
    let mut next = 0;
    Loop::new(move |times| {
        let mut statement = connection.prepare_cached(statement).map_err(failed)?;
        let mut left = times as usize;
        while left > 0 {
            let count = left.min(places.len() - next);
            let mut rows = statement.query([places[next]]).map_err(failed)?;
            for _ in 0..count {
                let row = rows.next().map_err(failed)?;
                let row = row.ok_or_else(|| Failure::wrong("SQLite has fewer records than were written"))?;
                total.set(total.get().wrapping_add(words(row).map_err(failed)?));
            }
            left -= count;
            next = (next + count) % places.len();
        }
        Ok(())
    })
    .verify(move |times| cycle.hold(times, result.replace(0)))
}

/// The sum of the words of a row's record.
#[inline(always)]
fn words(row: &Row) -> Result<u64, rusqlite::Error> {
    let key: i64 = row.get_ref(0)?.as_i64()?;
    Ok(sum_of_bytes(row.get_ref(1)?.as_blob()?).wrapping_add(key as u64))
}

fn key(record: &Record) -> i64 {
    record[0] as i64
}

/// Creates the file. The method does not matter, because it is not timed.
fn made(setting: &Setting, records: &[Record]) -> Result<PathBuf, Failure> {
    let path = setting.scratch().join("keyed");
    let mut connection = Connection::open(&path).map_err(failed)?;
    let faster = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
                  CREATE TABLE records (key INTEGER NOT NULL, rest BLOB NOT NULL);";
    connection.execute_batch(faster).map_err(failed)?;
    let all = connection.transaction().map_err(failed)?;
    let mut insert = all.prepare("INSERT INTO records VALUES (?1, ?2)").map_err(failed)?;
    for record in records {
        let mut rest = [0; 72];
        for (bytes, word) in rest.as_chunks_mut().0.iter_mut().zip(&record[1..]) {
            *bytes = word.to_ne_bytes();
        }
        insert.execute(params![key(record), rest]).map_err(failed)?;
    }
    drop(insert);
    all.execute_batch("CREATE UNIQUE INDEX by_key ON records (key)").map_err(failed)?;
    all.commit().map_err(failed)?;
    connection.close().map_err(|(_, error)| failed(error))?;
    Ok(path)
}

fn opened(path: &Path) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(failed)
}

#[cold]
fn failed(error: rusqlite::Error) -> Failure {
    Failure::wrong(format!("SQLite: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_key_is_found_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let setting = Setting::new(Default::default(), folder.path().into(), 0, None, 1);
        let path = made(&setting, &[[1; 10], [3; 10]]).expect("a file");
        let connection = opened(&path).expect("the file");
        let find = |key: i64| connection.query_row(BY_KEY, [key], words).map_err(failed);
        assert_eq!(find(3), Ok(30));
        assert!(matches!(find(2), Err(Failure::Wrong(_))));
        assert!(connection.execute_batch("DELETE FROM records").is_err(), "it is not read only");
    }

    #[test]
    fn keys_are_found_through_the_index() {
        let folder = tempfile::tempdir().expect("a folder");
        let setting = Setting::new(Default::default(), folder.path().into(), 0, None, 1);
        let connection = opened(&made(&setting, &[[1; 10]]).expect("a file")).expect("the file");
        for (statement, way) in [(BY_KEY, "INDEX by_key"), (FROM_KEY, "INDEX by_key"), (FROM_NUMBER, "PRIMARY KEY")] {
            let plan = connection
                .query_row(&format!("EXPLAIN QUERY PLAN {statement}"), [1], |row| row.get::<_, String>(3))
                .expect("a plan");
            assert!(plan.starts_with("SEARCH") && plan.contains(way), "{plan}");
        }
    }
}
