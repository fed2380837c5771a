//! Runs in files, on their way into a database: those of a howslow that had none, those that a database could not take at
//! the time, and those of other machines.

use std::fs::TryLockError;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use record::units::counted;

use crate::address::Address;
use crate::database::Purpose;
use crate::error::StoreError;
use crate::files::{Files, TAKEN};
use crate::folder::check_owner;
use crate::held::Imported;
use crate::runs::{Store, Taken};

impl Store {
    /// Takes the runs of these files into the database; a folder means the files in it that end in `.json`. The files stay.
    /// A store of files gets copies. Fails if a folder cannot be read, or the database fails. What was done until then is
    /// in the store.
    pub fn take_in(&self, paths: &[PathBuf]) -> Result<Taken, StoreError> {
        check_owner(&self.folder)?;
        let files = files_of(paths)?;
        let Some(mut held) = self.held(Purpose::Write)? else { return self.copy(&files) };
        Ok(taken(&held.take_in(&files, None)?))
    }

    /// Takes in the runs that wait in files for this store, for about this long, and then puts the files away. Returns what
    /// to report to the user, if there was something to do. Fails if the database fails. The files stay then.
    pub fn take_in_waiting(&self, patience: Duration) -> Result<Option<String>, StoreError> {
        let folder = self.files().folder();
        let mut files = self.files().paths()?;
        files.retain(|path| is_free(path));
        if files.is_empty() {
            return Ok(None);
        }
        check_owner(&self.folder)?;
        files.sort();
        let Some(mut held) = self.held(Purpose::Write)? else { return Ok(None) };
        let imported = held.take_in(&files, Some(Instant::now() + patience))?;
        let mut away = 0;
        for (path, kept) in &imported.kept {
            // Only what the database gives back byte for byte is put away.
            let same = crate::files::document(path).is_ok_and(|document| held.has(*kept, &document));
            if same && self.put_away(path, &folder) {
                away += 1;
            }
        }
        Ok(described(&imported, away, &held.place, &folder, self.keeps_taken()))
    }

    /// True if files that were taken in are moved, not removed: those of the data folder can be of a howslow that had no
    /// database, which somebody may want to use again.
    fn keeps_taken(&self) -> bool {
        self.address == Address::Default
    }

    /// Puts away a file whose run is in the database. Another process may have done so.
    fn put_away(&self, path: &Path, folder: &Path) -> bool {
        let done = if self.keeps_taken() {
            let to = folder.join(TAKEN);
            let name = path.file_name().unwrap_or_default();
            std::fs::create_dir_all(&to).and_then(|()| std::fs::rename(path, to.join(name)))
        } else {
            std::fs::remove_file(path)
        };
        done.is_ok() || done.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    }

    /// The files that were taken in and may hold the run of this id.
    pub(crate) fn taken_files(&self, id: &str) -> Vec<PathBuf> {
        let below = self.files().below.join(TAKEN);
        let files = Files { base: self.folder.clone(), below, with_taken: false };
        let is_of = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'))
        };
        files.paths().unwrap_or_default().into_iter().filter(is_of).collect()
    }

    fn copy(&self, files: &[PathBuf]) -> Result<Taken, StoreError> {
        let mut taken = Taken::default();
        for path in files {
            let entry = crate::files::document(path)
                .and_then(|document| Ok((crate::entry::Document::whole(&document)?.id, document)));
            match entry {
                Ok((id, document)) if self.files().holds(&id, &document) => taken.known += 1,
                Ok((id, document)) => {
                    self.files().keep(&id, &document)?;
                    taken.new += 1;
                }
                Err(why) => taken.refused.push((path.clone(), why.to_string())),
            }
        }
        Ok(taken)
    }
}

/// True unless the process that writes this file has not finished yet.
fn is_free(path: &Path) -> bool {
    let Ok(file) = record::open_input(path) else { return true };
    let is_free = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    // Not by closing it: see `LockedFile`.
    let _ = file.unlock();
    is_free
}

fn files_of(paths: &[PathBuf]) -> Result<Vec<PathBuf>, StoreError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let io = |source| StoreError::Io { what: "read the folder", path: path.clone(), source };
        for entry in std::fs::read_dir(path).map_err(io)? {
            let file = entry.map_err(io)?.path();
            if file.extension().is_some_and(|end| end == "json") {
                files.push(file);
            }
        }
    }
    Ok(files)
}

fn taken(imported: &Imported) -> Taken {
    let new = imported.kept.iter().filter(|(_, kept)| kept.is_new()).count();
    Taken { new, known: imported.kept.len() - new, refused: imported.refused.clone(), left: imported.left }
}

fn described(imported: &Imported, away: usize, place: &str, folder: &Path, keeps: bool) -> Option<String> {
    let mut described = Vec::new();
    let runs = |count: usize| counted(count as u64, "run");
    if away > 0 {
        let files = || format!("; the files are in {}, which you can remove", folder.join(TAKEN).display());
        let files = if keeps { files() } else { String::new() };
        described.push(format!("{} of files went into {place}{files}", runs(away)));
    }
    if let Some((path, why)) = imported.refused.first() {
        let others = match imported.refused.len() - 1 {
            0 => String::new(),
            others => format!(", and {others} more"),
        };
        described.push(format!("{} is not taken in and stays where it is ({why}){others}", path.display()));
    }
    if imported.left > 0 {
        described.push(format!("{} more follow at the next start", imported.left));
    }
    (!described.is_empty()).then(|| described.join(". "))
}
