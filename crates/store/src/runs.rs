//! The user's store: runs are kept in a database or in files, and found again. What a database cannot take waits in files.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use record::Run;
use serde::de::DeserializeOwned;

use crate::address::Address;
use crate::database::Purpose;
use crate::entry::digest;
use crate::error::StoreError;
use crate::files::{self, Files};
use crate::folder::{check_owner, data_folder};
use crate::head::Head;
use crate::held::Held;
use crate::id::check_id;
use crate::label::PREFIX;
use crate::names::{book, is_file, open_file};
use crate::rows::{CostTable, Filter, Row, Series};
use crate::write::{OpenFolder, document_of};

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
    /// The files that are no runs, or that the database refuses, each with the reason. They stay.
    pub refused: Vec<(PathBuf, String)>,
    /// Files left for later, because the time was up.
    pub left: usize,
}

impl Store {
    /// The user's store: the folder that `HOWSLOW_DATA` names, else `howslow` in `XDG_DATA_HOME`, else in `~/.local/share`;
    /// in it SQLite, or the database that `HOWSLOW_STORE` or [`choose`](crate::choose) names. Nothing is created. Fails if
    /// no folder is known, or the address of the database cannot be read.
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

    /// Reads the run that `name` means. A file or a book needs no store. Fails as [`Store::open`] does, and if a
    /// store is needed and there is none.
    pub fn open_any(name: &str) -> Result<Run, StoreError> {
        match Store::without_store(name) {
            Some(run) => run,
            None => Store::of_user()?.open(name),
        }
    }

    /// The run that `name` means if that is a file or a book.
    pub fn without_store(name: &str) -> Option<Result<Run, StoreError>> {
        if is_no_address(name) && is_file(name) {
            return Some(open_file(Path::new(name)));
        }
        book(name).map(|book| Ok(book?.run()))
    }

    /// Keeps a run, completely or not at all: in a file first, which no silent or damaged database can lose. It is removed
    /// when the database has the run, and taken in later otherwise. Fails if the id is no file name, the run could not be
    /// read again, or neither database nor file can be written.
    pub fn keep(&self, run: &Run) -> Result<Kept, StoreError> {
        check_id(&run.id)?;
        check_owner(&self.folder)?;
        let document = document_of(run)?;
        let file = self.files().keep(&run.id, &document);
        let why = match self.held(Purpose::Write) {
            Ok(Some(mut held)) => match held.keep(&document) {
                Ok(()) => {
                    // One that stays is taken in again, which changes nothing.
                    let _ = file.map(|file| std::fs::remove_file(file.path));
                    // A folder in which other runs wait stays.
                    let _ = std::fs::remove_dir(self.files().folder());
                    return Ok(Kept { place: held.place, warning: None });
                }
                Err(error) => Some(error),
            },
            Ok(None) => None,
            Err(error) => Some(error),
        };
        let path = file?.path;
        let warning = why.map(|why| {
            format!("{why}. The run is kept in {} and is taken in when the store can be used again", path.display())
        });
        Ok(Kept { place: path.display().to_string(), warning })
    }

    /// The heads of all kept runs, newest first. A file that is not a run is left out. A missing folder is an empty list.
    /// Fails if the folder exists and cannot be read, or the database cannot.
    pub fn list(&self) -> Result<Vec<Head>, StoreError> {
        self.runs(&Filter::default())
    }

    /// The heads of the runs that a filter means, newest first. Fails as [`Store::list`] does.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<Head>, StoreError> {
        let mut heads = if let Some(mut held) = self.held(Purpose::Read)? { held.heads(filter)? } else { Vec::new() };
        // Runs that wait to be taken in are runs all the same. One that is being taken in is in both places.
        let known: HashSet<_> = heads.iter().map(Head::name).collect();
        let mut waiting = self.files().heads()?;
        waiting.retain(|head| filter.means(head) && !known.contains(&head.name()));
        heads.append(&mut waiting);
        files::newest(&mut heads, filter);
        Ok(heads)
    }

    /// Shows every cost of the runs that a filter means, if its series is wanted, until `each` breaks. The rows of one run
    /// follow each other; the runs come in no order. Returns the lists that the places in a row refer to, which `each` gets
    /// too. Fails as [`Store::list`] does.
    pub fn costs(
        &self,
        filter: &Filter,
        wanted: &dyn Fn(&Series) -> bool,
        each: &mut dyn FnMut(&CostTable, Row) -> ControlFlow<()>,
    ) -> Result<CostTable, StoreError> {
        match self.held(Purpose::Read)? {
            Some(mut held) => held.costs(filter, wanted, each),
            None => Ok(files::costs(self.files().heads()?, filter, wanted, each)),
        }
    }

    /// Reads the run that `name` means. In this order: `@1` for the newest run, `label:NAME`, a file, a whole id, the
    /// newest run with a label, a unique beginning of an id. Fails if the name matches no run or several, or the file is
    /// not a run.
    pub fn open(&self, name: &str) -> Result<Run, StoreError> {
        if is_no_address(name) && is_file(name) {
            return open_file(Path::new(name));
        }
        self.read(&self.find(name)?)
    }

    /// The kept run that `name` means, by the same rules. Fails if the name matches no kept run or several.
    pub fn find(&self, name: &str) -> Result<Head, StoreError> {
        let unknown = || self.unknown(name);
        if let Some(place) = place_of(name) {
            let newest = Filter { newest: Some(place), ..Filter::default() };
            let heads = if place > 0 { self.runs(&newest)? } else { Vec::new() };
            return heads.into_iter().nth(place.wrapping_sub(1)).ok_or_else(unknown);
        }
        if let Some(label) = name.strip_prefix(PREFIX) {
            return self.labelled(label)?.ok_or_else(unknown);
        }
        let mut found = self.beginning(name)?;
        let exact: Vec<usize> = (0..found.len()).filter(|at| found[*at].id == name).collect();
        match exact.as_slice() {
            [] => {}
            [at] => return Ok(whole(found.swap_remove(*at))),
            several => return Err(StoreError::SharedId { name: record::printable(name), count: several.len() }),
        }
        if let Some(head) = self.labelled(name)? {
            return Ok(head);
        }
        match found.len() {
            0 => Err(unknown()),
            1 => Ok(whole(found.swap_remove(0))),
            count => Err(StoreError::Ambiguous { name: record::printable(name), count, first: some_of(&found) }),
        }
    }

    /// Removes a kept run, and the file that it was taken from. Fails if it cannot be removed.
    pub fn remove(&self, head: &Head) -> Result<(), StoreError> {
        check_owner(&self.folder)?;
        let document = if head.key == 0 {
            let document = files::document(&head.path).ok();
            remove_file(&head.path)?;
            document
        } else {
            let Some(mut held) = self.held(Purpose::Write)? else { return Err(self.unknown(&head.id)) };
            held.remove(head)?
        };
        for path in self.taken_files(&head.id) {
            if files::document(&path).is_ok_and(|there| document.as_ref() == Some(&there)) {
                remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// The run of a head. Fails if its document cannot be read.
    pub fn read(&self, head: &Head) -> Result<Run, StoreError> {
        if head.key == 0 {
            return open_file(&head.path);
        }
        match self.held(Purpose::Read)? {
            Some(mut held) => held.read(head),
            None => Err(self.unknown(&head.id)),
        }
    }

    fn labelled(&self, label: &str) -> Result<Option<Head>, StoreError> {
        let filter = Filter { label: Some(label.into()), newest: Some(1), ..Filter::default() };
        Ok(self.runs(&filter)?.into_iter().next())
    }

    /// The runs whose id begins like this.
    fn beginning(&self, begin: &str) -> Result<Vec<Head>, StoreError> {
        if begin.is_empty() || !begin.is_ascii() {
            return Ok(Vec::new());
        }
        let mut found =
            if let Some(mut held) = self.held(Purpose::Read)? { held.beginning(begin)? } else { Vec::new() };
        let waiting = self.files().by_name()?.into_iter().filter(|(name, _)| name.starts_with(begin));
        found.extend(waiting.map(|(name, path)| {
            // A file beside another one of its id has more than the id as its name.
            let id = if name.contains('.') { Head::read(&path).map_or(name, |head| head.id) } else { name };
            Head { path, id, ..Head::default() }
        }));
        Ok(found)
    }

    fn unknown(&self, name: &str) -> StoreError {
        let heads = self.list().unwrap_or_default();
        let found = match heads.len() {
            0 => format!("no run is kept in {}", self.place()),
            1 => format!("one run is kept, @1 = {}", heads[0].id),
            many => format!("{many} runs are kept, the newest {}", some_of(&heads)),
        };
        StoreError::Unknown { name: record::printable(name), found }
    }

    /// Where the runs are, without user and password.
    pub fn place(&self) -> String {
        let database = Held::place_of(&self.address, &self.folder);
        database.unwrap_or_else(|| self.files().folder().display().to_string())
    }

    pub(crate) fn held(&self, purpose: Purpose) -> Result<Option<Held>, StoreError> {
        Held::open(&self.address, &self.folder, purpose)
    }

    /// The folder where runs are kept, or wait. Each database but the one in the data folder has its own, so that nothing is
    /// taken into a database that it was not meant for.
    pub(crate) fn files(&self) -> Files {
        let identity = match &self.address {
            Address::Default | Address::Files => {
                // A store without a database has all runs of the folder, also those that one has taken in.
                let with_taken = Held::place_of(&self.address, &self.folder).is_none();
                return Files { base: self.folder.clone(), below: "runs".into(), with_taken };
            }
            Address::Sqlite(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string(),
            Address::Postgres(url) => url.identity(),
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') { c } else { '_' };
        let name: String = self.address.to_string().chars().map(plain).take(80).collect();
        // Different addresses can look alike as a file name.
        let below = format!("waiting/{name}-{}", &digest(identity.as_bytes())[..16]);
        Files { base: self.folder.clone(), below: below.into(), with_taken: false }
    }

    /// The document of this name in the data folder. `None` if it is missing, damaged or longer than `most` bytes.
    pub(crate) fn read_data<T: DeserializeOwned>(&self, name: &Path, most: u64) -> Option<T> {
        serde_json::from_slice(&record::read_input(&self.folder.join(name), most).ok()?).ok()
    }

    /// Writes a file in the data folder, completely or not at all. Fails if a folder or the file cannot be written.
    pub(crate) fn write_data(&self, name: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        check_owner(&self.folder)?;
        let path = self.folder.join(name);
        let io = |source| StoreError::Io { what: "write", path: path.clone(), source };
        let folder = OpenFolder::create(&self.folder, name.parent().unwrap_or(Path::new("")))?;
        folder.write(Path::new(name.file_name().unwrap_or_default()), bytes).map(drop).map_err(io)
    }

    /// Keeps a text of what was predicted before it was measured, under this name. Returns its path. Fails if it
    /// cannot be written.
    pub fn keep_prediction(&self, name: &str, ending: &str, text: &str) -> Result<PathBuf, StoreError> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
        let name: String = name.chars().map(plain).take(80).collect();
        let file = Path::new("predictions").join(format!("{name}.{ending}"));
        self.write_data(&file, text.as_bytes())?;
        Ok(self.folder.join(file))
    }
}

fn remove_file(path: &Path) -> Result<(), StoreError> {
    std::fs::remove_file(path).map_err(|source| StoreError::Io { what: "remove", path: path.into(), source })
}

fn some_of(heads: &[Head]) -> String {
    let first: Vec<&str> = heads.iter().take(4).map(|head| head.id.as_str()).collect();
    match first.as_slice() {
        [shown @ .., _] if shown.len() == 3 => format!("{}, ...", shown.join(", ")),
        all => all.join(", "),
    }
}

/// The head of a run of which only the file's name was read.
fn whole(head: Head) -> Head {
    if head.started.is_empty() { Head::read(&head.path).unwrap_or(head) } else { head }
}

/// The place that `@3` means.
fn place_of(name: &str) -> Option<usize> {
    name.strip_prefix('@').and_then(|place| place.parse().ok())
}

/// True for what is neither `@1` nor `label:NAME`: these come before files.
fn is_no_address(name: &str) -> bool {
    place_of(name).is_none() && !name.starts_with(PREFIX)
}
