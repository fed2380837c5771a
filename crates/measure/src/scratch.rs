//! The scratch folder of a run, and the removal of folders that killed runs left behind.

use std::fs::{self, File};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::MeasureError;

const PREFIX: &str = "howslow-scratch-";

/// A folder that is locked while the run lives.
pub struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Removes stale folders in `root`, then makes a folder there.
    ///
    /// # Errors
    /// If `root` cannot be written.
    pub fn make(root: &Path) -> Result<Scratch, MeasureError> {
        Scratch::sweep(root);
        /// Each failure needs a sweep in the same microseconds.
        const TRIES: usize = 100;
        let failed = |error| MeasureError::Scratch { folder: root.display().to_string(), error };
        for _ in 0..TRIES {
            let path = root.join(format!("{PREFIX}{}-{:08x}", std::process::id(), fastrand::u32(..)));
            let mut builder = fs::DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(&path).map_err(failed)?;
            // The lock is not inherited by exec, but by fork: the launcher keeps it until it has cleaned up.
            if let Some(lock) = held(&path).map_err(failed)? {
                return Ok(Scratch { path, _lock: lock });
            }
        }
        Err(failed(Error::new(ErrorKind::ResourceBusy, "other runs remove it before it is locked")))
    }

    /// Removes this user's folders in `root` that no living run holds locked.
    pub fn sweep(root: &Path) {
        let Ok(folders) = fs::read_dir(root) else { return };
        for folder in folders.flatten() {
            if !folder.file_name().to_string_lossy().starts_with(PREFIX) {
                continue;
            }
            // A link of that name is not ours, nor is the folder of another user, which root could remove.
            let is_own = |found: fs::Metadata| found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
            if !folder.metadata().is_ok_and(is_own) {
                continue;
            }
            // The lock is held until the folder is gone, so that its maker cannot lock it in the meantime.
            if let Some(_lock) = File::open(folder.path()).ok().filter(|lock| lock.try_lock().is_ok()) {
                let _ = fs::remove_dir_all(folder.path());
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Locks a folder that was just made. `None` if the sweep of another run has taken it before it was locked.
fn held(path: &Path) -> std::io::Result<Option<File>> {
    let lock = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        lock => lock?,
    };
    // A folder that was removed meanwhile can be locked, too.
    Ok((lock.try_lock().is_ok() && path.is_dir()).then_some(lock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_folders_are_swept_and_living_ones_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::create_dir_all(root.join(format!("{PREFIX}1-stale")).join("0")).expect("a folder");
        fs::create_dir(root.join("other")).expect("a folder");
        let living = Scratch::make(root).expect("a scratch folder");
        assert!(!root.join(format!("{PREFIX}1-stale")).exists());
        let second = Scratch::make(root).expect("a scratch folder");
        assert!(living.path().exists() && second.path().exists());
        let paths = [living.path().to_owned(), second.path().to_owned()];
        drop((living, second));
        assert!(paths.iter().all(|path| !path.exists()));
        assert!(root.join("other").exists());
    }

    #[test]
    fn root_does_not_sweep_another_user_s_folder() {
        let root = tempfile::tempdir().expect("a folder");
        let other = root.path().join(format!("{PREFIX}1-other"));
        fs::create_dir_all(other.join("0")).expect("a folder");
        if std::os::unix::fs::chown(&other, Some(65_534), Some(65_534)).is_err() {
            return testing::not_tested!("only root can give a folder to another user");
        }
        Scratch::sweep(root.path());
        assert!(other.join("0").exists());
    }

    #[test]
    fn runs_that_begin_together_do_not_sweep_each_other_away() {
        let root = tempfile::tempdir().expect("a folder");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let scratch = Scratch::make(root.path()).expect("a scratch folder");
                        fs::write(scratch.path().join("file"), "").expect("it is there");
                    }
                });
            }
        });
    }
}
