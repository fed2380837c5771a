//! The ledger: every group, swap file and compressed device is written down before it is made. The file is locked as long as
//! howslow or a guard of its users lives, so an unlocked one lists what a killed howslow has left. Only what stands in a
//! ledger of this user's is ever removed, and only if it still bears the mark that stands there.

use std::fs::{DirBuilder, File};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, OFlags, fstat, unlinkat};
use system::machine::TaskStat;

use super::entry::{Entry, boot};
use super::ours;

/// How everything of howslow's is named: this, the process and its start time.
pub(super) const PREFIX: &str = "howslow-load-";
/// How a ledger's name ends.
pub(super) const SUFFIX: &str = ".ledger";

/// The ledger of this process. Copies in forked processes hold its lock too.
pub struct Ledger {
    file: File,
    /// The name for what is made: process and start time are in it.
    pub(super) name: String,
}

/// Where ledgers may be kept, the best place first: one that is emptied when the machine starts, as what ledgers list is.
pub fn folders() -> Vec<PathBuf> {
    let user = rustix::process::geteuid();
    let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
    let places = own.into_iter().chain(user.is_root().then(|| PathBuf::from("/run")));
    // Root in a user namespace does not own /run, and what sudo keeps of the environment may be another user's.
    let places = places.filter(|place| ours::folder(place).is_ok()).map(|place| place.join("howslow"));
    places.chain([std::env::temp_dir().join(format!("howslow-{}", user.as_raw()))]).collect()
}

impl Ledger {
    /// Opens a new one in the first of these folders that can hold it. Fails if none can, with the last one's reason.
    pub fn open(folders: &[PathBuf]) -> Result<Ledger> {
        let mut failed = Error::from(ErrorKind::NotFound);
        for folder in folders {
            match Ledger::open_in(folder) {
                Ok(ledger) => return Ok(ledger),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn open_in(folder: &Path) -> Result<Ledger> {
        /// Each failure needs a sweep in the same microseconds.
        const TRIES: usize = 100;
        let pid = std::process::id();
        let began = TaskStat::of_process(pid).map_or(0, |stat| stat.began);
        for _ in 0..TRIES {
            match DirBuilder::new().mode(0o700).create(folder) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            let name = format!("{PREFIX}{pid}-{began}-{:04x}", fastrand::u16(..));
            let path = format!("{name}{SUFFIX}");
            let opened = ours::folder(folder).and_then(|folder| {
                ours::file(&folder, &path, OFlags::CREATE | OFlags::EXCL | OFlags::APPEND | OFlags::WRONLY)
            });
            let file = match opened {
                // An empty folder is removed by the one that has emptied it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened?,
            };
            if file.try_lock().is_ok() && fstat(&file)?.st_nlink == 1 {
                let ledger = Ledger { file, name };
                ledger.note(&Entry::Boot(boot()))?;
                return Ok(ledger);
            }
        }
        Err(Error::new(ErrorKind::ResourceBusy, "others remove it before it is locked"))
    }

    /// Writes one entry, before the thing is made.
    pub(super) fn note(&self, entry: &Entry) -> Result<()> {
        let line = serde_json::to_string(entry)? + "\n";
        (&self.file).write_all(line.as_bytes())
    }
}

/// The ledger of a howslow that has ended, locked until this is dropped.
pub(super) struct Left {
    folder: std::os::fd::OwnedFd,
    pub file: File,
    /// The name of what stands in it.
    pub name: String,
}

impl Left {
    /// All of them in this folder, if it is ours.
    pub fn all(path: &Path) -> Vec<Left> {
        let entries = ours::folder(path).and_then(|_| std::fs::read_dir(path));
        let names = entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let open = |file_name: String| {
            let name = file_name.strip_suffix(SUFFIX).filter(|name| name.starts_with(PREFIX))?.to_string();
            let folder = ours::folder(path).ok()?;
            let file = ours::file(&folder, &file_name, OFlags::RDONLY).ok()?;
            file.try_lock().is_ok().then_some(Left { folder, file, name })
        };
        names.filter_map(open).collect()
    }

    pub fn remove(&self) {
        let _ = unlinkat(&self.folder, format!("{}{SUFFIX}", self.name), AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_somebody_else_is_passed_over() {
        let place = tempfile::tempdir().expect("a folder");
        let (squatted, own) = (place.path().join("squatted"), place.path().join("own"));
        std::os::unix::fs::symlink(place.path(), &squatted).expect("a link");
        let ledger = Ledger::open(&[squatted.clone(), own.clone()]).expect("a ledger");
        assert!(own.join(format!("{}{SUFFIX}", ledger.name)).is_file());
        assert!(Ledger::open(&[squatted]).is_err());
    }
}
