//! Writes a file completely or not at all, and never through a link that another user made.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use record::Run;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::error::StoreError;

/// Files that are being written have names with this beginning and end.
const PART: (&str, &str) = (".howslow-", ".part");
/// A file that has been written for longer belongs to a process that was killed.
const ABANDONED: Duration = Duration::from_secs(3600);

/// An open folder. Its names cannot lead elsewhere while it is used.
pub(crate) struct OpenFolder(File);

/// A file that is locked as long as this lives. Closing it would not do: a process that another thread has started meanwhile has it, with the
/// lock, until it executes its program.
pub(crate) struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl OpenFolder {
    /// Opens `below` in the folder `base`, and creates what is missing. Below `base`, only links of this user are followed.
    pub(crate) fn create(base: &Path, below: &Path) -> Result<OpenFolder, StoreError> {
        let io = |what| move |source: Error| StoreError::Io { what, path: base.join(below), source };
        std::fs::create_dir_all(base).map_err(io("create the folder"))?;
        let mut folder = OpenFolder::open(base).map_err(io("open the folder"))?;
        for name in below {
            match mkdirat(&folder.0, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(io("create the folder")(error.into())),
            }
            folder = folder.inner(Path::new(name)).map_err(io("open the folder"))?;
        }
        Ok(folder)
    }

    const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    fn open(path: &Path) -> Result<OpenFolder, Error> {
        Ok(OpenFolder(openat(CWD, path, OpenFolder::FLAGS, Mode::empty())?.into()))
    }

    fn inner(&self, name: &Path) -> Result<OpenFolder, Error> {
        let own = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?.st_uid == geteuid().as_raw();
        let flags = if own { OpenFolder::FLAGS } else { OpenFolder::FLAGS | OFlags::NOFOLLOW };
        Ok(OpenFolder(openat(&self.0, name, flags, Mode::empty())?.into()))
    }

    /// Writes a file of this name. It gets the mode, and if possible the owner, of a regular file that it replaces.
    /// Returns it locked.
    pub(crate) fn write(&self, name: &Path, bytes: &[u8]) -> Result<LockedFile, Error> {
        self.remove_abandoned();
        let (part, mut file) = self.part()?;
        let replaced = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let replaced = replaced.filter(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_file());
        let mut write = || -> Result<(), Error> {
            file.write_all(bytes)?;
            if let Some(old) = replaced {
                let own = fstat(&file)?;
                if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid) {
                    // Only root may give a file away.
                    let _ = std::os::unix::fs::fchown(&file, Some(old.st_uid), Some(old.st_gid));
                }
                file.set_permissions(PermissionsExt::from_mode(old.st_mode & 0o777))?;
            }
            file.sync_all()?;
            // Some network file systems have no locks.
            let _ = file.try_lock();
            Ok(renameat(&self.0, &part, &self.0, name)?)
        };
        write().inspect_err(|_| {
            let _ = unlinkat(&self.0, &part, AtFlags::empty());
        })?;
        // The name itself is on the device only after the folder is. If that is not possible, the file is complete anyway.
        let _ = self.0.sync_all();
        Ok(LockedFile(file))
    }

    /// A new file, as readable as the user's umask allows.
    fn part(&self) -> Result<(String, File), Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}{}-{count}{}", PART.0, std::process::id(), PART.1);
            match openat(&self.0, &name, flags, Mode::from_raw_mode(0o666)) {
                Ok(file) => return Ok((name, file.into())),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Removes what killed processes of this user have left here.
    fn remove_abandoned(&self) {
        let Ok(entries) = Dir::read_from(&self.0) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let text = name.to_string_lossy();
            if !text.starts_with(PART.0) || !text.ends_with(PART.1) {
                continue;
            }
            let Ok(found) = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let written = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(found.st_mtime).unwrap_or(0));
            let is_old = written.elapsed().is_ok_and(|age| age > ABANDONED);
            if is_old && found.st_uid == geteuid().as_raw() {
                let _ = unlinkat(&self.0, name, AtFlags::empty());
            }
        }
    }
}

/// The file that a path of the user means. A link of this user or of root is followed. Fails if it is another user's link,
/// a folder, a device or a pipe: none of these is replaced.
fn target(path: &Path) -> Result<PathBuf, StoreError> {
    let io = |source| StoreError::Io { what: "write", path: path.into(), source };
    let wrong = |is| StoreError::NotAFile { path: path.into(), is };
    let is_file = |found: &Metadata| match () {
        () if found.is_file() => Ok(()),
        () if found.is_dir() => Err(wrong("a folder")),
        () => Err(wrong("a device or pipe")),
    };
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_symlink() => is_file(&found).map(|()| path.into()),
        Ok(link) if ![geteuid().as_raw(), 0].contains(&link.uid()) => Err(wrong("a link that another user made")),
        Ok(_) => match std::fs::canonicalize(path) {
            Ok(path) => is_file(&std::fs::metadata(&path).map_err(io)?).map(|()| path),
            // What a link lacks is made in its place.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.into()),
            Err(error) => Err(io(error)),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.into()),
        Err(error) => Err(io(error)),
    }
}

/// Checks before a long measurement that [`write_whole`] can write there. Fails if a folder is missing or cannot be
/// written, or the path is not a file.
pub fn check_writable(path: &Path) -> Result<(), StoreError> {
    let target = target(path)?;
    let check = || {
        let folder = OpenFolder::open(folder_of(&target))?;
        let (part, _) = folder.part()?;
        Ok(unlinkat(&folder.0, part, AtFlags::empty())?)
    };
    check().map_err(|source| StoreError::Io { what: "write", path: path.into(), source })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes `bytes` to `path` through a temporary file in its folder, which is on the device before it gets the name. The
/// file keeps the mode of the one that it replaces. Fails if a folder cannot be made, a file cannot be written, or the path
/// is no regular file. Nothing is left behind then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let target = target(path)?;
    let name = target.file_name().ok_or(StoreError::NotAFile { path: path.into(), is: "a folder" })?;
    let folder = OpenFolder::create(folder_of(&target), Path::new(""))?;
    let io = |source| StoreError::Io { what: "write", path: path.into(), source };
    folder.write(Path::new(name), bytes).map(|_| ()).map_err(io)
}

/// A run's document. Fails if the run could not be read again.
pub(crate) fn document_of(run: &Run) -> Result<Vec<u8>, StoreError> {
    let mut text = serde_json::to_vec(run).map_err(|error| StoreError::Unwritable(error.to_string()))?;
    // JSON cannot represent an infinite number. It is better to refuse it now than to find it unreadable in a year.
    record::run_from_bytes(&text).map_err(|error| StoreError::Unwritable(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

/// Writes a run's document to a file, completely or not at all. Creates the folder if it is missing. Fails if the run could
/// not be read again, or a folder or file cannot be written.
pub fn write_run(run: &Run, path: &Path) -> Result<(), StoreError> {
    write_whole(path, &document_of(run)?)
}
