//! Runs as files in one folder.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use analysis::parallel::answers;
use record::{MOST_RUN_BYTES, ReadError};

use crate::entry::{Document, digest};
use crate::error::StoreError;
use crate::head::Head;
use crate::id::{LONGEST, check_id};
use crate::rows::{CostTable, Filter, Row, Series};
use crate::write::{LockedFile, OpenFolder};

/// Where files go whose runs are in the database of the data folder.
pub(crate) const TAKEN: &str = "taken";

/// A folder with runs: `below` in the data folder.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    pub base: PathBuf,
    pub below: PathBuf,
    /// True if the files that a database has taken in are runs of this store too.
    pub with_taken: bool,
}

/// A document's file, locked by the process that writes it.
pub(crate) struct HeldFile {
    pub path: PathBuf,
    _lock: LockedFile,
}

impl Files {
    pub(crate) fn folder(&self) -> PathBuf {
        self.base.join(&self.below)
    }

    /// The folders that are read.
    fn folders(&self) -> Vec<PathBuf> {
        // A file that is put away meanwhile is still found in the second.
        std::iter::once(self.folder()).chain(self.with_taken.then(|| self.folder().join(TAKEN))).collect()
    }

    /// Writes a document, completely or not at all. Another document of the same id stays. No process takes the file in while it is
    /// held.
    pub(crate) fn keep(&self, id: &str, document: &[u8]) -> Result<HeldFile, StoreError> {
        check_id(id)?;
        let folder = OpenFolder::create(&self.base, &self.below)?;
        let other = self::document(&self.path(id)).is_ok_and(|there| there != document);
        let id = if other { beside(id, document) } else { id.into() };
        let path = self.path(&id);
        let io = |source| StoreError::Io { what: "write", path: path.clone(), source };
        let lock = folder.write(Path::new(&format!("{id}.json")), document).map_err(io)?;
        Ok(HeldFile { path, _lock: lock })
    }

    /// True if this document is kept already.
    pub(crate) fn holds(&self, id: &str, document: &[u8]) -> bool {
        let names = [format!("{id}.json"), format!("{}.json", beside(id, document))];
        let is_there = |path: PathBuf| self::document(&path).is_ok_and(|there| there == document);
        self.folders().iter().any(|folder| names.iter().any(|name| is_there(folder.join(name))))
    }

    /// The files that may be runs, in no order. A missing folder is empty. Fails if the folder exists and cannot be read.
    pub(crate) fn paths(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut found: Vec<PathBuf> = Vec::new();
        for folder in self.folders() {
            let before: HashMap<_, _> = found.iter().filter_map(|path| Some((path.file_name()?, path))).collect();
            // A run that was put away may have been kept again.
            let is_new = |path: &PathBuf| {
                let other = path.file_name().and_then(|name| before.get(name));
                other.is_none_or(|other| document(other).ok() != document(path).ok())
            };
            let new: Vec<PathBuf> = paths_in(&folder)?.into_iter().filter(is_new).collect();
            found.extend(new);
        }
        Ok(found)
    }

    /// The heads of all runs. A file that is not a run is left out. Fails as [`Files::paths`] does.
    pub(crate) fn heads(&self) -> Result<Vec<Head>, StoreError> {
        Ok(self.paths()?.iter().filter_map(|path| Head::read(path).ok()).collect())
    }

    /// The files by their names without `.json`, which begin with their ids, sorted. None is read. Fails as [`Files::paths`] does.
    pub(crate) fn by_name(&self) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let named = |path: PathBuf| Some((path.file_stem()?.to_str()?.to_owned(), path));
        let mut files: Vec<_> = self.paths()?.into_iter().filter_map(named).collect();
        files.sort();
        Ok(files)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder().join(format!("{id}.json"))
    }
}

/// The files of one folder that may be runs.
fn paths_in(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::Io { what: "read the folder", path: folder.into(), source }),
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names = names.filter(|name| name.strip_suffix(".json").is_some_and(is_stem));
    Ok(names.map(|name| folder.join(name)).collect())
}

/// The name of a document if another one has that of its id.
fn beside(id: &str, document: &[u8]) -> String {
    format!("{id}.{}", &digest(document)[..BESIDE])
}

/// The letters of a digest in such a name.
const BESIDE: usize = 8;

/// True for an id, and for such a name.
fn is_stem(stem: &str) -> bool {
    stem.len() <= LONGEST + 1 + BESIDE && record::is_plain_name(stem)
}

/// The newest first, and no more of them than the filter means.
pub(crate) fn newest(heads: &mut Vec<Head>, filter: &Filter) {
    heads.sort_by(|one, other| (&other.ordered, &other.id, other.key).cmp(&(&one.ordered, &one.id, one.key)));
    heads.truncate(filter.newest.unwrap_or(usize::MAX));
}

/// The rows of the documents in these files, as a database shows them. A file that cannot be read is left out.
pub(crate) fn costs(
    mut heads: Vec<Head>,
    filter: &Filter,
    wanted: &dyn Fn(&Series) -> bool,
    each: &mut dyn FnMut(&CostTable, Row) -> ControlFlow<()>,
) -> CostTable {
    heads.retain(|head| filter.means(head));
    newest(&mut heads, filter);
    // Everything is read twice, because the lists are complete before the first row is shown.
    let read = |head: &Head| Document::read(&document(&head.path).ok()?).ok();
    let costs = |head: &Head| read(head).into_iter().flat_map(|entry| entry.costs).filter(|cost| wanted(&cost.series));
    let (mut series, mut doubts) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    let mut machines = Vec::new();
    for head in &heads {
        let (machine, costs) = read(head).map(|entry| (entry.machine, entry.costs)).unwrap_or_default();
        machines.push(Arc::new(machine));
        for cost in costs.into_iter().filter(|cost| wanted(&cost.series)) {
            series.insert(cost.series);
            doubts.insert(cost.doubts);
        }
    }
    doubts.insert(String::new());
    let (series, doubts) = (series.into_iter().collect(), doubts.into_iter().collect());
    let table = CostTable { runs: heads, machines, series, doubts };
    for (run, head) in (0..).zip(&table.runs) {
        for cost in costs(head) {
            let (Ok(series), Ok(doubts)) =
                (table.series.binary_search(&cost.series), table.doubts.binary_search(&cost.doubts))
            else {
                continue;
            };
            if each(&table, cost.row(run, series as u32, doubts as u32)).is_break() {
                return table;
            }
        }
    }
    table
}

/// Documents that are read before the first of them is shown, for each processor.
const AT_ONCE: usize = 16;

/// Reads what these documents hold, without their samples, on several processors, and shows them in this order. A few of them are
/// in memory at a time.
pub fn read_documents(files: &[PathBuf], each: &mut dyn FnMut(&Path, Result<Document, ReadError>)) {
    let readers = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
    let read = |file: &PathBuf| Document::read(&document(file)?);
    for files in files.chunks(readers * AT_ONCE) {
        let documents = answers(files, |file| Some(read(file)));
        files.iter().zip(documents).for_each(|(file, read)| each(file, read));
    }
}

/// The bytes of a document's file. Fails if it cannot be read.
pub(crate) fn document(path: &Path) -> Result<Vec<u8>, ReadError> {
    Ok(record::read_input(path, MOST_RUN_BYTES)?)
}
