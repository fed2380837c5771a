//! Runs kept as files in one folder, and found again.

use std::io::Read;
use std::path::{Path, PathBuf};

use record::{Book, Run};

use crate::books::BOOKS;
use crate::error::StoreError;
use crate::folder::data_folder;
use crate::head::Head;
use crate::write::write_whole;

/// The folder that contains the runs.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The user's store: `HOWSLOW_DATA`, else `howslow` in `XDG_DATA_HOME`, else in `~/.local/share`. Nothing is
    /// created.
    ///
    /// # Errors
    /// If none of these is known.
    pub fn of_user() -> Result<Store, StoreError> {
        Ok(Store::in_folder(&data_folder()?))
    }

    /// The store in this folder, which need not exist yet.
    pub fn in_folder(folder: &Path) -> Store {
        Store { folder: folder.into() }
    }

    /// Reads the run that `name` means. A file or a book needs no store.
    ///
    /// # Errors
    /// As [`Store::open`], and if a store is needed and there is none.
    pub fn open_any(name: &str) -> Result<Run, StoreError> {
        if is_file(name) {
            return open_file(Path::new(name));
        }
        match book(name) {
            Some(book) => Ok(book?.run()),
            None => Store::of_user()?.open(name),
        }
    }

    /// Keeps a run, completely or not at all. Returns its file.
    ///
    /// # Errors
    /// If the id is no file name, the run could not be read again, or a folder or file cannot be written.
    pub fn keep(&self, run: &Run) -> Result<PathBuf, StoreError> {
        let path = self.runs().join(file_name(&run.id)?);
        write_run(run, &path)?;
        Ok(path)
    }

    /// The heads of all kept runs, newest first. A file that is not a run is left out. A missing folder is an empty
    /// list.
    ///
    /// # Errors
    /// If the folder exists and cannot be read.
    pub fn list(&self) -> Result<Vec<Head>, StoreError> {
        let mut heads: Vec<Head> = self.ids()?.iter().filter_map(|id| Head::read(&self.file(id)).ok()).collect();
        heads.sort_by(|one, other| (&other.started, &other.id).cmp(&(&one.started, &one.id)));
        Ok(heads)
    }

    /// Reads the run that `name` means: a file, `@1` for the newest kept run, or a kept id's unique beginning.
    ///
    /// # Errors
    /// If the name matches no run or several, or the file is not a run.
    pub fn open(&self, name: &str) -> Result<Run, StoreError> {
        open_file(&self.find(name)?)
    }

    fn find(&self, name: &str) -> Result<PathBuf, StoreError> {
        if let Some(place) = name.strip_prefix('@').and_then(|place| place.parse::<usize>().ok()) {
            let heads = self.list()?;
            let head = place.checked_sub(1).and_then(|index| heads.get(index));
            return head.map(|head| head.path.clone()).ok_or_else(|| self.unknown(name));
        }
        if is_file(name) {
            return Ok(name.into());
        }
        let mut ids = self.ids()?;
        ids.sort();
        if ids.iter().any(|id| id == name) {
            return Ok(self.file(name));
        }
        let begin: Vec<&String> = ids.iter().filter(|id| !name.is_empty() && id.starts_with(name)).collect();
        match begin.as_slice() {
            [] => Err(self.unknown(name)),
            [id] => Ok(self.file(id)),
            several => Err(StoreError::Ambiguous {
                name: record::printable(name),
                count: several.len(),
                first: some_of(several.iter().map(|id| id.as_str())),
            }),
        }
    }

    fn unknown(&self, name: &str) -> StoreError {
        let heads = self.list().unwrap_or_default();
        let found = match heads.len() {
            0 => format!("no run is kept in {}", self.runs().display()),
            1 => format!("one run is kept, @1 = {}", heads[0].id),
            many => format!("{many} runs are kept, the newest {}", some_of(heads.iter().map(|head| head.id.as_str()))),
        };
        StoreError::Unknown { name: record::printable(name), found }
    }

    /// The ids of the files that may be runs, in no order.
    fn ids(&self) -> Result<Vec<String>, StoreError> {
        let folder = self.runs();
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(StoreError::Io { what: "read the folder", path: folder, source }),
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.filter_map(|name| Some(name.strip_suffix(".json")?.to_string())).filter(|id| is_id(id)).collect())
    }

    fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    fn file(&self, id: &str) -> PathBuf {
        self.runs().join(format!("{id}.json"))
    }

    pub(crate) fn figures_file(&self) -> PathBuf {
        self.folder.join("figures.json")
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

    pub(crate) fn calibration_file(&self) -> PathBuf {
        self.folder.join("known.json")
    }
}

/// Reads the run in a file. A file that ends in `.toml` is a book.
///
/// # Errors
/// If the file is neither.
pub fn open_file(path: &Path) -> Result<Run, StoreError> {
    if path.extension().is_some_and(|end| end == "toml") {
        return Ok(open_book(path)?.run());
    }
    record::read_run(path).map_err(|source| StoreError::Read { path: path.into(), source })
}

/// The book of this name, if there is one.
///
/// # Errors
/// If the text is not a valid book.
pub fn book(name: &str) -> Option<Result<Book, StoreError>> {
    let (name, text) = BOOKS.iter().find(|(known, _)| *known == name)?;
    Some(Book::from_toml(text).map_err(|source| StoreError::Book { name: (*name).into(), source }))
}

fn open_book(path: &Path) -> Result<Book, StoreError> {
    let io = |source| StoreError::Io { what: "read", path: path.into(), source };
    // One byte more than the longest book, so that a longer file is refused without being read completely.
    let file = std::fs::File::open(path).map_err(io)?;
    let mut text = String::new();
    file.take((1 << 20) + 1).read_to_string(&mut text).map_err(io)?;
    Book::from_toml(&text).map_err(|source| StoreError::Book { name: path.display().to_string(), source })
}

/// Writes a run's document to a file, completely or not at all. Creates the store's folder if it is missing.
///
/// # Errors
/// If the run could not be read again, or a folder or file cannot be written.
pub fn write_run(run: &Run, path: &Path) -> Result<(), StoreError> {
    let mut text = serde_json::to_vec(run).map_err(|error| StoreError::Unwritable(error.to_string()))?;
    // JSON cannot represent an infinite number. It is better to refuse it now than to find it unreadable in a year.
    record::run_from_bytes(&text).map_err(|error| StoreError::Unwritable(error.to_string()))?;
    text.push(b'\n');
    write_whole(path, &text)
}

fn file_name(id: &str) -> Result<String, StoreError> {
    if is_id(id) { Ok(format!("{id}.json")) } else { Err(StoreError::Id(record::printable(id))) }
}

/// True for letters, digits, '-', '_' and '.', not hidden, not long: harmless as a file name anywhere.
fn is_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.is_empty() && id.len() <= 100 && !id.starts_with('.') && !id.starts_with('-') && id.chars().all(allowed)
}

/// True if the text looks like a file name, so that a missing file is reported as such.
fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".json") || name.ends_with(".toml") || Path::new(name).is_file()
}

fn some_of<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let first: Vec<&str> = ids.take(4).collect();
    match first.as_slice() {
        [shown @ .., _] if shown.len() == 3 => format!("{}, ...", shown.join(", ")),
        all => all.join(", "),
    }
}
