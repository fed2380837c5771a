//! An open database with runs.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use record::Run;

use crate::address::Address;
use crate::backend::Backend;
use crate::database::{self, Keys, Opened};
use crate::error::StoreError;
use crate::head::Head;
pub(crate) use crate::import::Imported;
use crate::import::{self, ImportOutcome, Ready};
use crate::in_postgres::Postgres;
use crate::rows::{Filter, Row, Series, Table};

/// What a database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To read. One that does not exist is not made.
    Read,
    /// To write.
    Write,
}

/// An open database whose tables are those that this program knows.
pub(crate) struct Held {
    backend: Box<dyn Backend>,
    address: Address,
    place: String,
}

impl Held {
    /// Opens the database of an address, if it has one.
    ///
    /// # Errors
    /// If it cannot be opened, or was made by a newer howslow.
    pub(crate) fn open(address: &Address, folder: &Path, purpose: Purpose) -> Result<Option<Held>, StoreError> {
        let Some(place) = Held::place_of(address, folder) else { return Ok(None) };
        let failed = |what: String| failed(address, &place, &what);
        let backend: Result<Box<dyn Backend>, String> = match (address, sqlite_file(address, folder)) {
            (Address::Postgres(url), _) => Postgres::open(url).map(|it| Box::new(it) as Box<dyn Backend>),
            (_, Some(file)) => {
                if purpose == Purpose::Read && !file.exists() {
                    return Ok(None);
                }
                sqlite(&file)?
            }
            _ => return Ok(None),
        };
        let mut backend = backend.map_err(failed)?;
        match database::prepare(backend.as_mut()).map_err(failed)? {
            Opened::Ready => Ok(Some(Held { backend, address: address.clone(), place })),
            Opened::Newer(found) => Err(StoreError::Newer { address: place, found }),
        }
    }

    /// The name of an address, without user and password. `None` for files.
    pub(crate) fn place_of(address: &Address, folder: &Path) -> Option<String> {
        match (address, sqlite_file(address, folder)) {
            (Address::Postgres(_), _) => Some(address.to_string()),
            (_, file) => file.map(|file| file.display().to_string()),
        }
    }

    pub(crate) fn place(&self) -> String {
        self.place.clone()
    }

    fn failed(&self, what: &str) -> StoreError {
        failed(&self.address, &self.place, what)
    }

    pub(crate) fn heads(&mut self, filter: &Filter, skip: usize) -> Result<Vec<Head>, StoreError> {
        database::heads(self.backend.as_mut(), filter, skip)
            .map(|heads| self.placed(heads))
            .map_err(|error| self.failed(&error))
    }

    pub(crate) fn beginning(&mut self, begin: &str) -> Result<Vec<Head>, StoreError> {
        database::beginning(self.backend.as_mut(), begin)
            .map(|heads| self.placed(heads))
            .map_err(|error| self.failed(&error))
    }

    fn placed(&self, mut heads: Vec<Head>) -> Vec<Head> {
        heads.iter_mut().for_each(|head| head.path = PathBuf::from(&self.place));
        heads
    }

    pub(crate) fn read(&mut self, head: &Head) -> Result<Run, StoreError> {
        let bytes = database::document(self.backend.as_mut(), head.key).map_err(|error| self.failed(&error))?;
        record::run_from_bytes(&bytes).map_err(|source| StoreError::Read { path: head.path.join(&head.id), source })
    }

    pub(crate) fn costs(
        &mut self,
        filter: &Filter,
        wanted: &dyn Fn(&Series) -> bool,
        each: &mut dyn FnMut(&Table, Row) -> ControlFlow<()>,
    ) -> Result<Table, StoreError> {
        database::costs(self.backend.as_mut(), filter, wanted, each).map_err(|error| self.failed(&error))
    }

    /// Keeps a document. It is on the device when this returns.
    pub(crate) fn keep(&mut self, document: &[u8]) -> Result<(), StoreError> {
        let ready = Ready::of(document).map_err(|error| self.failed(&error))?;
        import::insert(self.backend.as_mut(), &mut Keys::default(), &[ready])
            .map(|_| ())
            .map_err(|error| self.failed(&error))
    }

    /// Takes in the documents of these files.
    pub(crate) fn take_in(&mut self, files: &[PathBuf], deadline: Option<Instant>) -> Result<Imported, StoreError> {
        import::take_in(self.backend.as_mut(), files, deadline).map_err(|error| self.failed(&error))
    }

    /// True if the store gives back this document byte for byte.
    pub(crate) fn has(&mut self, kept: ImportOutcome, document: &[u8]) -> bool {
        let (ImportOutcome::New(key) | ImportOutcome::Known(key)) = kept;
        database::document(self.backend.as_mut(), key).is_ok_and(|there| there == document)
    }
}

fn failed(address: &Address, place: &str, what: &str) -> StoreError {
    StoreError::Database { address: place.into(), what: address.redact(what) }
}

#[cfg(not(target_env = "musl"))]
fn sqlite_file(address: &Address, folder: &Path) -> Option<PathBuf> {
    match address {
        Address::Default => Some(folder.join("runs.sqlite")),
        Address::Sqlite(file) => Some(file.clone()),
        Address::Files | Address::Postgres(_) => None,
    }
}

/// A static program has no SQLite, so its own runs are files.
#[cfg(target_env = "musl")]
fn sqlite_file(address: &Address, _: &Path) -> Option<PathBuf> {
    if let Address::Sqlite(file) = address { Some(file.clone()) } else { None }
}

#[cfg(not(target_env = "musl"))]
fn sqlite(file: &Path) -> Result<Result<Box<dyn Backend>, String>, StoreError> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let io = |source| StoreError::Io { what: "create the folder", path: folder.into(), source };
        std::fs::create_dir_all(folder).map_err(io)?;
    }
    Ok(crate::in_sqlite::Sqlite::open(file).map(|it| Box::new(it) as Box<dyn Backend>))
}

#[cfg(target_env = "musl")]
fn sqlite(file: &Path) -> Result<Result<Box<dyn Backend>, String>, StoreError> {
    Err(StoreError::NotBuilt(file.display().to_string()))
}
