//! The ledger: every group, swap file, compressed device and folder is written down before it is made. The file is locked as long as
//! howslow or the guard of its users lives, so an unlocked one tells what a killed howslow has left. Only what stands in a
//! ledger is ever removed, and only if it still bears the mark that stands there.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use machine::TaskStat;

use super::entry::{Entry, boot};

/// How everything of howslow's is named: this, the process and its start time.
pub(super) const PREFIX: &str = "howslow-load-";

/// The ledger of this process. Clones are the same one; copies in forked processes hold its lock too.
#[derive(Clone)]
pub struct Ledger {
    file: Arc<File>,
    path: PathBuf,
    name: String,
}

/// Where ledgers are kept: what is written there lives as long as the machine runs, like what it tells.
pub fn folder() -> PathBuf {
    let run = if rustix::process::geteuid().is_root() { Some(PathBuf::from("/run")) } else { None };
    let own = std::env::var_os("XDG_RUNTIME_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
    let found = run.into_iter().chain(own).find(|path| path.is_dir());
    found.unwrap_or_else(std::env::temp_dir).join("howslow")
}

impl Ledger {
    /// Opens a new one in this folder.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn open(folder: &Path) -> std::io::Result<Ledger> {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
        builder.create(folder)?;
        // Somebody else's folder of that name could tell us to remove what is not ours.
        let owner = std::os::unix::fs::MetadataExt::uid(&fs::symlink_metadata(folder)?);
        if owner != rustix::process::geteuid().as_raw() {
            return Err(std::io::Error::other(format!("{} belongs to another user", folder.display())));
        }
        let pid = std::process::id();
        let name = format!("{PREFIX}{pid}-{}-{:04x}", start_time(pid).unwrap_or(0), fastrand::u16(..));
        let path = folder.join(format!("{name}.ledger"));
        let file = OpenOptions::new().create_new(true).append(true).open(&path)?;
        file.try_lock().map_err(std::io::Error::from)?;
        let ledger = Ledger { file: Arc::new(file), path, name };
        ledger.note(&Entry::Boot(boot()))?;
        Ok(ledger)
    }

    /// Its file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The name for what is made: process and start time are in it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes one entry, before the thing is made.
    pub(super) fn note(&self, entry: &Entry) -> std::io::Result<()> {
        let line = serde_json::to_string(entry)? + "\n";
        (&*self.file).write_all(line.as_bytes())
    }
}

/// When a process began, in ticks since the boot.
fn start_time(pid: u32) -> Option<u64> {
    TaskStat::of_process(pid).map(|stat| stat.began)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_is_that_of_the_process() {
        let own = start_time(std::process::id()).expect("a process");
        assert!(own >= start_time(1).expect("a process"));
        assert_eq!(start_time(u32::MAX), None);
    }
}
