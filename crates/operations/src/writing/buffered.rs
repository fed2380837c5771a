//! Writers through a library's buffer, for which records smaller than it are cheap.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::os::fd::IntoRawFd;
use std::ptr::NonNull;

use measure::{Failure, Operation};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::content::Content;
use super::pass::writing;
use super::plain::each_record;
use super::target::refused;
use super::{BUFFERED, BUFFERED_POINTS, WRITE};

pub(super) const STDIO: Operation = Operation {
    id: "write.stdio",
    summary: "write a file record by record: fwrite and fflush of the C library, in the buffer it chooses",
    axes: BUFFERED,
    has_point: BUFFERED_POINTS,
    prepare: |setting| {
        writing(setting, |target| {
            let (stream, plan) = (Stream::of(File::from(target.open_with(OFlags::empty())?))?, target.plan());
            let mut content = Content::new(plan.record as usize);
            Ok(move |pass| {
                stream.rewind()?;
                each_record(plan, &mut content, pass, |record, _| stream.write(record))?;
                stream.flush().map_err(|error| refused(error, plan.length))
            })
        })
    },
    ..WRITE
};

pub(super) const BUF_WRITER: Operation = Operation {
    id: "write.bufwriter",
    summary: "write a file record by record: Rust's BufWriter, flushed, in the buffer it chooses",
    axes: BUFFERED,
    has_point: BUFFERED_POINTS,
    prepare: |setting| {
        writing(setting, |target| {
            let (file, plan) = (File::from(target.open_with(OFlags::empty())?), target.plan());
            let mut writer = BufWriter::new(file);
            let mut content = Content::new(plan.record as usize);
            Ok(move |pass| {
                writer.seek(SeekFrom::Start(0))?;
                each_record(plan, &mut content, pass, |record, _| {
                    writer.write_all(record).map_err(|error| errno(&error))?;
                    Ok(record.len())
                })?;
                writer.flush().map_err(|error| refused(errno(&error), plan.length))
            })
        })
    },
    ..WRITE
};

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// A stream of the C library; dropping it closes it.
struct Stream(NonNull<libc::FILE>);

impl Stream {
    fn of(file: File) -> Result<Stream, Failure> {
        let descriptor = file.into_raw_fd();
        // SAFETY: the descriptor is open and belongs to the stream from here on; the mode is a C string.
        let stream = unsafe { libc::fdopen(descriptor, c"w".as_ptr()) };
        NonNull::new(stream).map(Stream).ok_or_else(Failure::last_os_error)
    }

    fn rewind(&self) -> Result<(), Failure> {
        // SAFETY: the stream is open.
        let status = unsafe { libc::fseek(self.0.as_ptr(), 0, libc::SEEK_SET) };
        if status == 0 { Ok(()) } else { Err(Failure::last_os_error()) }
    }

    #[inline(always)]
    fn write(&self, record: &[u8]) -> Result<usize, Errno> {
        // SAFETY: the stream is open, and the record has so many bytes.
        match unsafe { libc::fwrite(record.as_ptr().cast(), 1, record.len(), self.0.as_ptr()) } {
            written if written == record.len() => Ok(written),
            _ => Err(errno(&std::io::Error::last_os_error())),
        }
    }

    fn flush(&self) -> Result<(), Errno> {
        // SAFETY: the stream is open.
        let status = unsafe { libc::fflush(self.0.as_ptr()) };
        if status == 0 { Ok(()) } else { Err(errno(&std::io::Error::last_os_error())) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open and nobody uses it after this.
        unsafe { libc::fclose(self.0.as_ptr()) };
    }
}
