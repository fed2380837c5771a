//! Readers through a library's buffer, for which records smaller than it are cheap.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::os::fd::IntoRawFd;
use std::ptr::NonNull;

use measure::{Failure, Operation};
use rustix::fs::OFlags;

use super::pass::summing;
use super::plain::each_record;
use super::source::Block;
use super::{BUFFERED, BUFFERED_POINTS, READ};

pub(super) const STDIO: Operation = Operation {
    id: "read.stdio",
    summary: "read a file record by record and add it up: fread of the C library, in the buffer it chooses",
    like: &["Fread"],
    axes: BUFFERED,
    has_point: BUFFERED_POINTS,
    prepare: |setting| {
        summing(setting, |source, plan| {
            let stream = Stream::of(File::from(source.open_with(OFlags::empty())?))?;
            let mut block = Block::new(plan.record as usize);
            Ok(move || {
                stream.rewind()?;
                each_record(plan, &mut block, |record, _| Ok(stream.read(record)))
            })
        })
    },
    ..READ
};

pub(super) const BUF_READER: Operation = Operation {
    id: "read.bufreader",
    summary: "read a file record by record and add it up: Rust's BufReader, in the buffer it chooses",
    like: &["Fread"],
    axes: BUFFERED,
    has_point: BUFFERED_POINTS,
    prepare: |setting| {
        summing(setting, |source, plan| {
            let mut reader = BufReader::new(File::from(source.open_with(OFlags::empty())?));
            let mut block = Block::new(plan.record as usize);
            Ok(move || {
                reader.seek(SeekFrom::Start(0))?;
                each_record(plan, &mut block, |record, _| {
                    reader.read_exact(record)?;
                    Ok(record.len())
                })
            })
        })
    },
    ..READ
};

/// A stream of the C library; dropping it closes it.
struct Stream(NonNull<libc::FILE>);

impl Stream {
    fn of(file: File) -> Result<Stream, Failure> {
        let descriptor = file.into_raw_fd();
        // SAFETY: the descriptor is open and belongs to the stream from here on; the mode is a C string.
        let stream = unsafe { libc::fdopen(descriptor, c"r".as_ptr()) };
        NonNull::new(stream).map(Stream).ok_or_else(Failure::last_os_error)
    }

    fn rewind(&self) -> Result<(), Failure> {
        // SAFETY: the stream is open.
        let status = unsafe { libc::fseek(self.0.as_ptr(), 0, libc::SEEK_SET) };
        if status == 0 { Ok(()) } else { Err(Failure::last_os_error()) }
    }

    #[inline(always)]
    fn read(&self, record: &mut [u8]) -> usize {
        // SAFETY: the stream is open, and the record has room for so many bytes.
        unsafe { libc::fread(record.as_mut_ptr().cast(), 1, record.len(), self.0.as_ptr()) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open and nobody uses it after this.
        unsafe { libc::fclose(self.0.as_ptr()) };
    }
}
