//! The C library's buffered file.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::IntoRawFd;
use std::ptr::NonNull;

use operation::Failure;
use rustix::io::Errno;

/// A stream over a file, with the buffer that the library chooses. Dropping it closes both.
pub(crate) struct Stream(NonNull<libc::FILE>);

impl Stream {
    pub(crate) fn to_read(file: File) -> Result<Stream, Failure> {
        Stream::of(file, c"r")
    }

    pub(crate) fn to_write(file: File) -> Result<Stream, Failure> {
        Stream::of(file, c"w")
    }

    fn of(file: File, mode: &CStr) -> Result<Stream, Failure> {
        let descriptor = file.into_raw_fd();
        // SAFETY: the descriptor is open and the stream owns it from here on; the mode is a C string.
        let stream = unsafe { libc::fdopen(descriptor, mode.as_ptr()) };
        NonNull::new(stream).map(Stream).ok_or_else(Failure::last_os_error)
    }

    /// Goes back to the beginning. What was written is first passed to the file.
    pub(crate) fn rewind(&self) -> Result<(), Failure> {
        // SAFETY: the stream is open.
        let status = unsafe { libc::fseek(self.0.as_ptr(), 0, libc::SEEK_SET) };
        if status == 0 { Ok(()) } else { Err(Failure::last_os_error()) }
    }

    #[inline(always)]
    pub(crate) fn read(&self, record: &mut [u8]) -> usize {
        // SAFETY: the stream is open, and the record has space for this number of bytes.
        unsafe { libc::fread(record.as_mut_ptr().cast(), 1, record.len(), self.0.as_ptr()) }
    }

    /// Writes the whole record, or returns the error.
    #[inline(always)]
    pub(crate) fn write(&self, record: &[u8]) -> Result<usize, Errno> {
        // SAFETY: the stream is open, and the record has this number of bytes.
        match unsafe { libc::fwrite(record.as_ptr().cast(), 1, record.len(), self.0.as_ptr()) } {
            written if written == record.len() => Ok(written),
            _ => Err(last_errno()),
        }
    }

    /// Sets the buffering: none, by lines, or full.
    pub(crate) fn buffer(&self, kind: &str) -> Result<(), Failure> {
        let mode = match kind {
            "none" => libc::_IONBF,
            "line" => libc::_IOLBF,
            _ => libc::_IOFBF,
        };
        // SAFETY: the stream is open and nothing has been written to it; the library allocates the buffer if none is given.
        let status = unsafe { libc::setvbuf(self.0.as_ptr(), std::ptr::null_mut(), mode, 0) };
        if status == 0 { Ok(()) } else { Err(Failure::last_os_error()) }
    }

    #[inline]
    pub(crate) fn put(&self, byte: u8) -> Result<(), Failure> {
        // SAFETY: the stream is open.
        match unsafe { libc::fputc(byte.into(), self.0.as_ptr()) } {
            libc::EOF => Err(Failure::last_os_error()),
            _ => Ok(()),
        }
    }

    pub(crate) fn flush(&self) -> Result<(), Errno> {
        // SAFETY: the stream is open.
        let status = unsafe { libc::fflush(self.0.as_ptr()) };
        if status == 0 { Ok(()) } else { Err(last_errno()) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open and is not used after this.
        unsafe { libc::fclose(self.0.as_ptr()) };
    }
}

pub(crate) fn last_errno() -> Errno {
    errno(&std::io::Error::last_os_error())
}

/// The kernel's number of an error; EIO if it has none.
pub(crate) fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
