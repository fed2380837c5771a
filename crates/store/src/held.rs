//! An open database with runs.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use record::Run;

use crate::address::Address;
use crate::backend::{Backend, DatabaseError};
use crate::database::{self, Keys, Opened, Purpose};
use crate::error::StoreError;
use crate::head::Head;
pub(crate) use crate::import::Imported;
use crate::import::{self, ImportOutcome, Ready};
use crate::postgres_url::PostgresUrl;
use crate::rows::{CostTable, Filter, Row, Series};

/// An open database whose tables are those that this program knows.
pub(crate) struct Held {
    backend: Box<dyn Backend>,
    address: Address,
    /// Its name, without user and password.
    pub place: String,
}

impl Held {
    /// Opens the database of an address, if it has one. Fails if it cannot be opened, or was made by a newer howslow.
    pub(crate) fn open(address: &Address, folder: &Path, purpose: Purpose) -> Result<Option<Held>, StoreError> {
        let Some(place) = Held::place_of(address, folder) else { return Ok(None) };
        let failed = |error: DatabaseError| failed(address, &place, &error);
        let backend = match (address, sqlite_file(address, folder)) {
            (Address::Postgres(url), _) => postgres(url)?,
            (_, Some(file)) if purpose == Purpose::Write || file.exists() => sqlite(&file)?,
            _ => return Ok(None),
        };
        let mut backend = backend.map_err(failed)?;
        match database::prepare(backend.as_mut(), purpose).map_err(failed)? {
            Opened::Empty => Ok(None),
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

    /// What the database answers; its errors name the store.
    fn answered<T>(
        &mut self,
        question: impl FnOnce(&mut dyn Backend) -> Result<T, DatabaseError>,
    ) -> Result<T, StoreError> {
        question(self.backend.as_mut()).map_err(|error| failed(&self.address, &self.place, &error))
    }

    pub(crate) fn heads(&mut self, filter: &Filter) -> Result<Vec<Head>, StoreError> {
        self.answered(|backend| database::heads(backend, filter)).map(|heads| self.placed(heads))
    }

    pub(crate) fn beginning(&mut self, begin: &str) -> Result<Vec<Head>, StoreError> {
        self.answered(|backend| database::beginning(backend, begin)).map(|heads| self.placed(heads))
    }

    fn placed(&self, mut heads: Vec<Head>) -> Vec<Head> {
        heads.iter_mut().for_each(|head| head.path = PathBuf::from(&self.place));
        heads
    }

    pub(crate) fn read(&mut self, head: &Head) -> Result<Run, StoreError> {
        let of_run = |error| match error {
            DatabaseError::Refused(why) => {
                let id = &head.id;
                DatabaseError::Refused(format!("run {id}: {why}; `howslow history remove {id}` removes it"))
            }
            other => other,
        };
        let bytes = self.answered(|backend| database::document(backend, head.key).map_err(of_run))?;
        record::run_from_bytes(&bytes).map_err(|source| StoreError::Read { path: head.path.join(&head.id), source })
    }

    pub(crate) fn costs(
        &mut self,
        filter: &Filter,
        wanted: &dyn Fn(&Series) -> bool,
        each: &mut dyn FnMut(&CostTable, Row) -> ControlFlow<()>,
    ) -> Result<CostTable, StoreError> {
        self.answered(|backend| database::costs(backend, filter, wanted, each))
    }

    /// Removes a run. Returns its document; `None` if that is damaged.
    pub(crate) fn remove(&mut self, head: &Head) -> Result<Option<Vec<u8>>, StoreError> {
        self.answered(|backend| database::remove(backend, head))
    }

    /// Keeps a document. It is on the device when this returns.
    pub(crate) fn keep(&mut self, document: &[u8]) -> Result<(), StoreError> {
        self.answered(|backend| import::insert(backend, &mut Keys::default(), &[Ready::of(document)?])).map(|_| ())
    }

    /// Takes in the documents of these files.
    pub(crate) fn take_in(&mut self, files: &[PathBuf], deadline: Option<Instant>) -> Result<Imported, StoreError> {
        let mut imported = self.answered(|backend| import::take_in(backend, files, deadline))?;
        imported.refused.iter_mut().for_each(|(_, why)| *why = self.address.redact(why));
        Ok(imported)
    }

    /// True if the store gives back this document byte for byte.
    pub(crate) fn has(&mut self, kept: ImportOutcome, document: &[u8]) -> bool {
        let (ImportOutcome::New(key) | ImportOutcome::Known(key)) = kept;
        database::document(self.backend.as_mut(), key).is_ok_and(|there| there == document)
    }
}

fn failed(address: &Address, place: &str, error: &DatabaseError) -> StoreError {
    let (DatabaseError::Locked(what)
    | DatabaseError::Damaged(what)
    | DatabaseError::Silent(what)
    | DatabaseError::Unfit(what)
    | DatabaseError::Refused(what)) = error;
    let (address, what) = (record::printable(place), address.redact(what));
    match error {
        DatabaseError::Locked(_) => StoreError::Locked { address, what },
        DatabaseError::Damaged(_) => StoreError::Damaged { address, what },
        DatabaseError::Silent(_) | DatabaseError::Unfit(_) | DatabaseError::Refused(_) => {
            StoreError::Database { address, what }
        }
    }
}

/// True if this program has SQLite. One that was built without a C compiler has not: their own runs are files.
const HAS_SQLITE: bool = cfg!(feature = "database");

fn sqlite_file(address: &Address, folder: &Path) -> Option<PathBuf> {
    match address {
        Address::Default => HAS_SQLITE.then(|| folder.join("runs.sqlite")),
        Address::Sqlite(file) => Some(file.clone()),
        Address::Files | Address::Postgres(_) => None,
    }
}

/// An open database, or its own words why it does not open.
type Opening = Result<Box<dyn Backend>, DatabaseError>;

#[cfg(feature = "database")]
fn sqlite(file: &Path) -> Result<Opening, StoreError> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let io = |source| StoreError::Io { what: "create the folder", path: folder.into(), source };
        std::fs::create_dir_all(folder).map_err(io)?;
    }
    Ok(crate::in_sqlite::Sqlite::open(file).map(|opened| Box::new(opened) as Box<dyn Backend>))
}

#[cfg(not(feature = "database"))]
fn sqlite(file: &Path) -> Result<Opening, StoreError> {
    Err(StoreError::NotBuilt(file.display().to_string()))
}

#[cfg(feature = "team")]
fn postgres(url: &PostgresUrl) -> Result<Opening, StoreError> {
    Ok(crate::in_postgres::Postgres::open(url).map(|opened| Box::new(opened) as Box<dyn Backend>))
}

#[cfg(not(feature = "team"))]
fn postgres(_: &PostgresUrl) -> Result<Opening, StoreError> {
    Err(StoreError::Team("PostgreSQL"))
}
