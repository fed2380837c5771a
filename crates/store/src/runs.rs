//! The user's store: runs are kept in a database or in files, and found again. What a database cannot take waits in files.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use record::Run;

use crate::address::Address;
use crate::error::StoreError;
use crate::files::{self, Files, check_id};
use crate::folder::data_folder;
use crate::head::Head;
use crate::held::{Held, Purpose};
use crate::label::PREFIX;
use crate::names::{book, is_file, open_file};
use crate::rows::{Filter, Row, Series, Table};
use crate::write::{document_of, write_whole};

/// Where runs are kept.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) folder: PathBuf,
    pub(crate) address: Address,
}

/// Where a run was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The store, or the file.
    pub place: String,
    /// Why it is in a file although the store is a database, and what becomes of it. One sentence.
    pub warning: Option<String>,
}

/// What became of files that were taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Runs that are in the store now.
    pub new: usize,
    /// Runs that were in it before.
    pub known: usize,
    /// The files that are no runs, each with the reason. They stay.
    pub refused: Vec<(PathBuf, String)>,
    /// Files left for later, because the time was up.
    pub left: usize,
}

impl Store {
    /// The user's store: the folder that `HOWSLOW_DATA` names, else `howslow` in `XDG_DATA_HOME`, else in
    /// `~/.local/share`; in it SQLite, or the database that `HOWSLOW_STORE` or [`choose`](crate::choose) names. Nothing is
    /// created.
    ///
    /// # Errors
    /// If no folder is known, or the address of the database cannot be read.
    pub fn of_user() -> Result<Store, StoreError> {
        Ok(Store { folder: data_folder()?, address: Address::of_user()? })
    }

    /// The store of files in this folder, which need not exist yet.
    pub fn in_folder(folder: &Path) -> Store {
        Store { folder: folder.into(), address: Address::Files }
    }

    /// The same folder with this database.
    pub fn at(self, address: Address) -> Store {
        Store { address, ..self }
    }

    /// Reads the run that `name` means. A file or a book needs no store.
    ///
    /// # Errors
    /// As [`Store::open`], and if a store is needed and there is none.
    pub fn open_any(name: &str) -> Result<Run, StoreError> {
        match Store::without_store(name) {
            Some(run) => run,
            None => Store::of_user()?.open(name),
        }
    }

    /// The run that `name` means if that is a file or a book.
    pub fn without_store(name: &str) -> Option<Result<Run, StoreError>> {
        if is_file(name) {
            return Some(open_file(Path::new(name)));
        }
        book(name).map(|book| Ok(book?.run()))
    }

    /// Keeps a run, completely or not at all. If the database cannot take it, it is kept in a file and taken in later.
    ///
    /// # Errors
    /// If the id is no file name, the run could not be read again, or neither database nor file can be written.
    pub fn keep(&self, run: &Run) -> Result<Kept, StoreError> {
        check_id(&run.id)?;
        let document = document_of(run)?;
        let why = match Held::open(&self.address, &self.folder, Purpose::Write) {
            Ok(Some(mut held)) => match held.keep(&document) {
                Ok(()) => return Ok(Kept { place: held.place(), warning: None }),
                Err(error) => Some(error),
            },
            Ok(None) => None,
            Err(error) => Some(error),
        };
        let path = self.files().keep(&run.id, &document)?;
        let warning = why.map(|why| {
            format!("{why}. The run is kept in {} and is taken in when the store can be used again", path.display())
        });
        Ok(Kept { place: path.display().to_string(), warning })
    }

    /// The heads of all kept runs, newest first. A file that is not a run is left out. A missing folder is an empty
    /// list.
    ///
    /// # Errors
    /// If the folder exists and cannot be read, or the database cannot.
    pub fn list(&self) -> Result<Vec<Head>, StoreError> {
        self.runs(&Filter::default())
    }

    /// The heads of the runs that a filter means, newest first.
    ///
    /// # Errors
    /// Those of [`Store::list`].
    pub fn runs(&self, filter: &Filter) -> Result<Vec<Head>, StoreError> {
        let mut heads = match self.held()? {
            Some(mut held) => held.heads(filter, 0)?,
            None => Vec::new(),
        };
        // Runs that wait to be taken in are runs all the same.
        let waiting = self.files().heads()?;
        heads.extend(waiting.into_iter().filter(|head| filter.means(head)));
        files::sort(&mut heads);
        heads.truncate(filter.newest.unwrap_or(usize::MAX));
        Ok(heads)
    }

    /// Shows every cost of the runs that a filter means, if its series is wanted, until `each` breaks. The rows of one run
    /// follow each other; the runs come in no order. Returns the lists that the places in a row refer to, which `each` gets
    /// too.
    ///
    /// # Errors
    /// Those of [`Store::list`].
    pub fn costs(
        &self,
        filter: &Filter,
        wanted: &dyn Fn(&Series) -> bool,
        each: &mut dyn FnMut(&Table, Row) -> ControlFlow<()>,
    ) -> Result<Table, StoreError> {
        match self.held()? {
            Some(mut held) => held.costs(filter, wanted, each),
            None => Ok(files::costs(self.files().heads()?, filter, wanted, each)),
        }
    }

    /// Reads the run that `name` means. In this order: `@1` for the newest run, `label:NAME`, a file, a whole id, the newest
    /// run with a label, a unique beginning of an id.
    ///
    /// # Errors
    /// If the name matches no run or several, or the file is not a run.
    pub fn open(&self, name: &str) -> Result<Run, StoreError> {
        if let Some(place) = name.strip_prefix('@').and_then(|place| place.parse::<usize>().ok()) {
            let newest = Filter { newest: Some(place), ..Filter::default() };
            let heads = if place > 0 { self.runs(&newest)? } else { Vec::new() };
            return place
                .checked_sub(1)
                .and_then(|at| heads.get(at))
                .map_or(Err(self.unknown(name)), |head| self.read(head));
        }
        if let Some(label) = name.strip_prefix(PREFIX) {
            return self.labelled(label)?.map_or_else(|| Err(self.unknown(name)), |head| self.read(&head));
        }
        if is_file(name) {
            return open_file(Path::new(name));
        }
        let found = self.beginning(name)?;
        if let Some(head) = found.iter().find(|head| head.id == name).filter(|_| self.is_one(&found, name)) {
            return self.read(head);
        }
        if let Some(head) = self.labelled(name)? {
            return self.read(&head);
        }
        match found.as_slice() {
            [] => Err(self.unknown(name)),
            [head] => self.read(head),
            several => Err(StoreError::Ambiguous {
                name: record::printable(name),
                count: several.len(),
                first: some_of(several.iter().map(|head| head.id.as_str())),
            }),
        }
    }

    /// True if one run has this id: two machines that begin in the same second can draw the same letters.
    fn is_one(&self, found: &[Head], id: &str) -> bool {
        found.iter().filter(|head| head.id == id).count() == 1
    }

    /// The run of a head.
    ///
    /// # Errors
    /// If its document cannot be read.
    pub fn read(&self, head: &Head) -> Result<Run, StoreError> {
        if head.key == 0 {
            return open_file(&head.path);
        }
        match self.held()? {
            Some(mut held) => held.read(head),
            None => Err(self.unknown(&head.id)),
        }
    }

    fn labelled(&self, label: &str) -> Result<Option<Head>, StoreError> {
        let filter = Filter { label: Some(label.into()), newest: Some(1), ..Filter::default() };
        Ok(self.runs(&filter)?.into_iter().next())
    }

    /// The runs whose id begins like this, at least the first few.
    fn beginning(&self, begin: &str) -> Result<Vec<Head>, StoreError> {
        if begin.is_empty() || !begin.is_ascii() {
            return Ok(Vec::new());
        }
        let mut found = match self.held()? {
            Some(mut held) => held.beginning(begin)?,
            None => Vec::new(),
        };
        let files = self.files();
        let waiting = files.ids()?.into_iter().filter(|id| id.starts_with(begin));
        found.extend(waiting.map(|id| Head { path: files.path(&id), id, ..Head::default() }));
        Ok(found)
    }

    fn unknown(&self, name: &str) -> StoreError {
        let heads = self.list().unwrap_or_default();
        let found = match heads.len() {
            0 => format!("no run is kept in {}", self.place()),
            1 => format!("one run is kept, @1 = {}", heads[0].id),
            many => format!("{many} runs are kept, the newest {}", some_of(heads.iter().map(|head| head.id.as_str()))),
        };
        StoreError::Unknown { name: record::printable(name), found }
    }

    /// Where the runs are, without user and password.
    pub fn place(&self) -> String {
        match Held::place_of(&self.address, &self.folder) {
            Some(place) => place,
            None => self.files().0.display().to_string(),
        }
    }

    fn held(&self) -> Result<Option<Held>, StoreError> {
        Held::open(&self.address, &self.folder, Purpose::Read)
    }

    /// The folder where runs are kept, or wait. Each database but the one in the data folder has its own, so that nothing is
    /// taken into a database that it was not meant for.
    pub(crate) fn files(&self) -> Files {
        let address = match &self.address {
            Address::Default | Address::Files => return Files(self.folder.join("runs")),
            Address::Sqlite(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string(),
            Address::Postgres(_) => self.address.to_string(),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
        Files(self.folder.join("waiting").join(address.chars().map(plain).take(200).collect::<String>()))
    }

    /// Keeps a text that tells what was predicted before it was measured, under this name. Returns its path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_prediction(&self, name: &str, ending: &str, text: &str) -> Result<PathBuf, StoreError> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
        let name: String = name.chars().map(plain).take(80).collect();
        let path = self.folder.join("predictions").join(format!("{name}.{ending}"));
        write_whole(&path, text.as_bytes()).map(|()| path)
    }

    pub(crate) fn figures_file(&self) -> PathBuf {
        self.folder.join("figures.json")
    }

    pub(crate) fn calibration_file(&self) -> PathBuf {
        self.folder.join("known.json")
    }
}

fn some_of<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let first: Vec<&str> = ids.take(4).collect();
    match first.as_slice() {
        [shown @ .., _] if shown.len() == 3 => format!("{}, ...", shown.join(", ")),
        all => all.join(", "),
    }
}
