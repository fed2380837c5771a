//! Takes documents into a database: several processors read them, one connection writes them, many at a time.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use jiff::Timestamp;
use record::{Machine, ReadError};

use crate::backend::{Backend, DatabaseError, SqlValue, transaction};
use crate::database::{Keys, packed};
use crate::entry::{Document, state_of};
use crate::rows::{Row, Series};

/// Documents in one transaction: enough that the wait for the device is short beside the writing.
const BATCH: usize = 64;
/// Documents that may wait for the writer.
const WAITING: usize = 24;

/// A document with its bytes, compressed.
pub(crate) struct Ready {
    pub entry: Document,
    pub content: Vec<u8>,
}

impl Ready {
    pub(crate) fn of(document: &[u8]) -> Result<Ready, ReadError> {
        Ok(Ready { entry: Document::read(document)?, content: packed(document) })
    }
}

/// What became of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImportOutcome {
    /// It is in the store now, under this number.
    New(i64),
    /// It was there, under this number.
    Known(i64),
}

impl ImportOutcome {
    pub(crate) fn is_new(self) -> bool {
        matches!(self, ImportOutcome::New(_))
    }
}

/// Writes documents, all or none. `keys` is filled where it lacks something.
pub(crate) fn insert(
    backend: &mut dyn Backend,
    keys: &mut Keys,
    ready: &[Ready],
) -> Result<Vec<ImportOutcome>, DatabaseError> {
    let done = transaction(backend, |backend| {
        learn(backend, keys, ready)?;
        let (mut kept, mut costs) = (Vec::new(), Vec::new());
        for Ready { entry, content } in ready {
            let machine = machine_key(backend, &entry.machine)?;
            let Some(run) = add_run(backend, entry, machine)? else {
                let find = "SELECT key FROM run WHERE id = $1 AND digest = $2";
                let rows =
                    backend.query(find, &[SqlValue::Text(entry.id.clone()), SqlValue::Text(entry.digest.clone())])?;
                kept.push(ImportOutcome::Known(rows.first().map_or(0, |row| row[0].number())));
                continue;
            };
            let document = [SqlValue::Whole(run), SqlValue::Bytes(content.clone())];
            backend.query("INSERT INTO document (run, content) VALUES ($1, $2)", &document)?;
            add_costs(&mut costs, run, entry, keys);
            kept.push(ImportOutcome::New(run));
        }
        backend.add_costs(&costs)?;
        Ok(kept)
    });
    if done.is_err() {
        // What was numbered in this transaction has no number any more.
        *keys = Keys::default();
    }
    done
}

/// Gives numbers to the series and sets of doubts that have none.
fn learn(backend: &mut dyn Backend, keys: &mut Keys, ready: &[Ready]) -> Result<(), DatabaseError> {
    let costs = || ready.iter().flat_map(|ready| &ready.entry.costs);
    let lacks = |keys: &Keys| {
        costs().any(|cost| !keys.series.contains_key(&cost.series) || !keys.doubts.contains_key(&cost.doubts))
    };
    if !lacks(keys) {
        return Ok(());
    }
    *keys = Keys::read(backend)?;
    if !lacks(keys) {
        return Ok(());
    }
    backend.hold_alone()?;
    *keys = Keys::read(backend)?;
    for cost in costs() {
        if !keys.series.contains_key(&cost.series) {
            let estimator = cost.series.kept_estimator();
            let Series { operation, version, point, unit, follows_clock, .. } = cost.series.clone();
            let values = [
                SqlValue::Text(operation),
                SqlValue::Whole(version.into()),
                SqlValue::Text(point),
                SqlValue::Text(estimator),
                SqlValue::Text(unit),
                SqlValue::Whole(follows_clock.into()),
            ];
            let add = "INSERT INTO series (operation, version, point, estimator, unit, follows_clock) \
                VALUES ($1, $2, $3, $4, $5, $6) RETURNING key";
            keys.series.insert(cost.series.clone(), first(backend.query(add, &values)?)?);
        }
        if !keys.doubts.contains_key(&cost.doubts) {
            let add = "INSERT INTO doubts (kinds) VALUES ($1) RETURNING key";
            let key = first(backend.query(add, &[SqlValue::Text(cost.doubts.clone())])?)?;
            keys.doubts.insert(cost.doubts.clone(), key);
        }
    }
    Ok(())
}

fn first(rows: Vec<Vec<SqlValue>>) -> Result<i64, DatabaseError> {
    let number = rows.first().and_then(|row| row.first()).map(SqlValue::number);
    number.ok_or_else(|| "it gave no number to a new row".into())
}

/// The number of this state of a machine.
fn machine_key(backend: &mut dyn Backend, machine: &Machine) -> Result<i64, DatabaseError> {
    let state = state_of(machine);
    let find = "SELECT key FROM machine WHERE state = $1";
    if let Some(row) = backend.query(find, &[SqlValue::Text(state.clone())])?.first() {
        return Ok(row[0].number());
    }
    backend.hold_alone()?;
    let text = |text: &str| SqlValue::Text(record::printable(text));
    let some = |text: Option<&str>| SqlValue::from_optional(text.map(record::printable).as_deref());
    let Machine { host, cpu, memory, kernel, virtualization, .. } = machine;
    let mitigations: Vec<String> = kernel.mitigations.iter().map(|(what, how)| format!("{what}: {how}")).collect();
    let values = [
        ("state", SqlValue::Text(state.clone())),
        ("host", text(host.as_deref().unwrap_or_default())),
        ("class", text(&machine.class())),
        ("architecture", text(&machine.architecture)),
        ("cpu_model", text(&cpu.model)),
        ("microarchitecture", some(cpu.microarchitecture.as_deref())),
        ("signature", text(&cpu.signature)),
        ("microcode", some(cpu.microcode.as_deref())),
        ("cpus", SqlValue::Whole(i64::from(cpu.online.min(i32::MAX as u32)))),
        ("memory_bytes", SqlValue::Whole(i64::try_from(memory.total.0).unwrap_or(i64::MAX))),
        ("hypervisor", some(virtualization.hypervisor.as_deref())),
        ("container", some(virtualization.container.as_deref())),
        ("kernel", text(&kernel.release)),
        ("kernel_version", text(&kernel.version)),
        ("command_line", some(kernel.command_line.as_deref())),
        ("mitigations", text(&mitigations.join("; "))),
        ("clock_source", some(machine.clock_source.as_deref())),
        ("governor", some(cpu.frequency.governor.as_deref())),
        ("huge_pages", some(memory.transparent_huge_pages.as_deref())),
        ("libc", text(&machine.libc)),
    ];
    let add = insertion("machine", &values, " ON CONFLICT (state) DO NOTHING");
    backend.query(&add, &values.map(|(_, value)| value))?;
    first(backend.query(find, &[SqlValue::Text(state)])?)
}

/// `INSERT INTO table (a, b) VALUES ($1, $2)`, and what follows.
fn insertion(table: &str, values: &[(&str, SqlValue)], end: &str) -> String {
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    let places: Vec<String> = (1..=values.len()).map(|place| format!("${place}")).collect();
    format!("INSERT INTO {table} ({}) VALUES ({}){end}", names.join(", "), places.join(", "))
}

/// Adds a run. `None` if this document is there already.
fn add_run(backend: &mut dyn Backend, entry: &Document, machine: i64) -> Result<Option<i64>, DatabaseError> {
    let text = |text: &str| SqlValue::Text(text.to_owned());
    let kept = format!("{:.0}", Timestamp::now());
    let values = [
        ("id", text(&entry.id)),
        ("digest", text(&entry.digest)),
        ("started", text(&entry.started)),
        ("finished", text(&entry.finished)),
        // No run starts after it was kept: then its machine's clock is ahead.
        ("ordered", text(entry.started.as_str().min(kept.as_str()))),
        ("kept", SqlValue::Text(kept.clone())),
        ("machine", SqlValue::Whole(machine)),
        ("howslow", text(&entry.howslow)),
        ("build", text(&entry.build)),
        ("label", SqlValue::from_optional(entry.label.as_deref())),
        ("patterns", SqlValue::Text(serde_json::to_string(&entry.patterns).unwrap_or_default())),
        ("is_full", SqlValue::Whole(entry.full.into())),
        ("cycle_ns", SqlValue::Real(entry.cycle_ns)),
        ("quiet", SqlValue::Real(entry.undisturbed.unwrap_or(0.0))),
    ];
    let add = insertion("run", &values, " ON CONFLICT (id, digest) DO NOTHING RETURNING key");
    let rows = backend.query(&add, &values.map(|(_, value)| value))?;
    Ok(rows.first().map(|row| row[0].number()))
}

fn add_costs(costs: &mut Vec<Row<i64>>, run: i64, entry: &Document, keys: &Keys) {
    let mut seen = HashSet::new();
    for cost in &entry.costs {
        let (Some(&series), Some(&doubts)) = (keys.series.get(&cost.series), keys.doubts.get(&cost.doubts)) else {
            continue;
        };
        // A document that names a cost twice keeps its first one here.
        if seen.insert(series) {
            costs.push(cost.row(run, series, doubts));
        }
    }
}

/// What happened to the files of [`take_in`].
#[derive(Debug)]
pub(crate) struct Imported {
    /// The files whose documents are in the store now, with their numbers.
    pub kept: Vec<(PathBuf, ImportOutcome)>,
    /// The files that are no runs, or that the database refuses, each with the reason.
    pub refused: Vec<(PathBuf, String)>,
    /// Files that were left for later, because the time was up.
    pub left: usize,
}

/// Takes in the documents of these files, and stops at the deadline between two batches. Fails with what the
/// database said. What was done until then is in the store.
pub(crate) fn take_in(
    backend: &mut dyn Backend,
    files: &[PathBuf],
    deadline: Option<Instant>,
) -> Result<Imported, DatabaseError> {
    let next = Mutex::new(files.iter());
    let (give, take) = sync_channel::<(PathBuf, Result<Ready, ReadError>)>(WAITING);
    let readers = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
    std::thread::scope(|scope| {
        for _ in 0..readers.min(files.len()) {
            let (give, next) = (give.clone(), &next);
            scope.spawn(move || {
                loop {
                    let file = next.lock().ok().and_then(|mut next| next.next());
                    let Some(file) = file.filter(|_| deadline.is_none_or(|end| Instant::now() < end)) else { break };
                    if give.send((file.clone(), read(file))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(give);
        let (mut kept, mut refused, mut unfit, mut gone) = (Vec::new(), Vec::new(), Vec::new(), 0);
        // This ends before the threads are waited for, which may wait to send.
        let mut documents = take.into_iter().filter_map(|(file, read)| match read {
            Ok(document) => Some((file, document)),
            // Another process has taken it in and put it away.
            Err(_) if is_gone(&file) => {
                gone += 1;
                None
            }
            Err(why) => {
                refused.push((file, why.to_string()));
                None
            }
        });
        let mut keys = Keys::default();
        loop {
            let (names, ready): (Vec<PathBuf>, Vec<Ready>) = documents.by_ref().take(BATCH).unzip();
            if ready.is_empty() {
                break;
            }
            match insert(backend, &mut keys, &ready) {
                Ok(done) => kept.extend(names.into_iter().zip(done)),
                // It is in the way of the others.
                Err(DatabaseError::Unfit(_)) => {
                    for (name, one) in names.into_iter().zip(&ready) {
                        match insert(backend, &mut keys, std::slice::from_ref(one)) {
                            Ok(done) => kept.extend(done.into_iter().map(|done| (name.clone(), done))),
                            Err(DatabaseError::Unfit(why)) => unfit.push((name, why)),
                            Err(error) => return Err(error),
                        }
                    }
                }
                Err(error) => return Err(error),
            }
        }
        drop(documents);
        refused.extend(unfit);
        let left = files.len() - kept.len() - refused.len() - gone;
        Ok(Imported { kept, refused, left })
    })
}

fn is_gone(file: &Path) -> bool {
    std::fs::symlink_metadata(file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

fn read(file: &Path) -> Result<Ready, ReadError> {
    let bytes = crate::files::document(file)?;
    Ok(Ready { entry: Document::whole(&bytes)?, content: packed(&bytes) })
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::backend::SqlDialect;

    /// A database on a full device.
    struct Full;

    impl Backend for Full {
        fn dialect(&self) -> &'static SqlDialect {
            &SqlDialect { words: [""; 4], count_tables: "", begin: "BEGIN" }
        }

        fn execute(&mut self, _: &str) -> Result<(), DatabaseError> {
            Err("no space left".into())
        }

        fn query(&mut self, _: &str, _: &[SqlValue]) -> Result<Vec<Vec<SqlValue>>, DatabaseError> {
            Err("no space left".into())
        }

        fn add_costs(&mut self, _: &[Row<i64>]) -> Result<(), DatabaseError> {
            Err("no space left".into())
        }

        fn scan(
            &mut self,
            _: Option<&[i64]>,
            _: &mut dyn FnMut(Row<i64>) -> ControlFlow<()>,
        ) -> Result<(), DatabaseError> {
            Err("no space left".into())
        }
    }

    #[test]
    fn a_database_that_fails_ends_the_readers() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/data/example-run.json");
        let files = vec![file; BATCH + 4 * WAITING];
        let why = take_in(&mut Full, &files, None).expect_err("its first batch is refused");
        assert!(matches!(why, DatabaseError::Refused(why) if why == "no space left"));
    }
}
