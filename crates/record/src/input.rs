//! The one reader of input files. A device, a pipe, or a file of any size in the place of a document is refused before it is read.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// `O_NONBLOCK` on Linux. A pipe that replaces the file after it was examined cannot block then.
const NONBLOCK: i32 = 0o4000;

/// Opens a regular file. A link is followed. The descriptors of this process, such as a shell's `<(command)`, may be anything.
///
/// # Errors
/// If the file cannot be opened, or is a folder, device, pipe or socket.
pub fn open_input(path: &Path) -> Result<File> {
    if ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"].iter().any(|own| path.to_string_lossy().starts_with(own)) {
        return File::open(path);
    }
    // Opening a device can act on it, so it is examined first.
    is_regular(&std::fs::metadata(path)?)?;
    let file = File::options().read(true).custom_flags(NONBLOCK).open(path)?;
    is_regular(&file.metadata()?)?;
    Ok(file)
}

/// Opens a regular file that others may have put there: a link is refused.
///
/// # Errors
/// Those of [`open_input`], and if the path is a link.
pub fn open_unlinked(path: &Path) -> Result<File> {
    let found = std::fs::symlink_metadata(path)?;
    is_regular(&found)?;
    let file = open_input(path)?;
    let opened = file.metadata()?;
    if (opened.dev(), opened.ino()) != (found.dev(), found.ino()) {
        return Err(Error::new(ErrorKind::InvalidInput, "it was replaced while it was opened"));
    }
    Ok(file)
}

/// The bytes of a regular file of at most this size.
///
/// # Errors
/// Those of [`open_input`], and if it is larger: [`ErrorKind::FileTooLarge`].
pub fn read_input(path: &Path, most: u64) -> Result<Vec<u8>> {
    let file = open_input(path)?;
    let too_large = || Error::new(ErrorKind::FileTooLarge, format!("it is larger than {} MiB", most >> 20));
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// The same as text.
///
/// # Errors
/// Those of [`read_input`], and if it is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    String::from_utf8(read_input(path, most)?).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not text (UTF-8)"))
}

fn is_regular(found: &Metadata) -> Result<()> {
    let kind = found.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_symlink() => "a link",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    Err(Error::new(ErrorKind::InvalidInput, format!("it is {what}, not a file")))
}
