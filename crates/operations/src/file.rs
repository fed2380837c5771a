//! The family `file`: a file read by each method and written, its blocks in memory unless said otherwise. Every reader
//! adds up all it reads as 64-bit words and is held to the right sum, so that all of them do the same work.

use std::cell::Cell;
use std::rc::Rc;

use measure::{Axis, Choice::Number, Failure, Loop, Operation, Setting, repeat, size, term};
use record::Estimate;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, fstatfs, fsync, openat, unlinkat};
use rustix::io::{pread, pwrite, write};
use rustix::param::page_size;

use crate::DEFAULT;
use crate::page::Mapping;
use crate::syscall::{exactly, new_file, scratch};

const BLOCKS: &[Axis] = &[size(&[Number(4 << 10), Number(64 << 10)]).headline(&[Number(4 << 10)])];
const CREATED: &[Axis] = &[size(&[Number(0), Number(10 << 10)]).headline(&[Number(0)])];

/// Bytes in the file that is read or overwritten from end to end, over and over: a multiple of every block size, and
/// small enough for the core's own cache. With 4 MiB two runs differed by 6 %, by what others left of the shared cache.
const FILE: usize = 512 << 10;

/// Files created and deleted in one batch, and batches of them in a round. Some file systems pass over inodes deleted within the last minutes, so each
/// makes the next one dearer: 40,000 of them made it twice as dear (ext4).
const CREATED_AT_ONCE: u64 = 4;
const BATCHES_OF_CREATED: u32 = 8;

/// Bytes written before each sync.
const SYNCED: usize = 4 << 10;

/// File systems that keep everything in memory, by the number `statfs` gives them: tmpfs and ramfs.
const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58F6];

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "file.read",
        summary: "read the next block of a file and add up its bytes",
        per: "block",
        like: &["FREAD"],
        axes: BLOCKS,
        headline: true,
        moves: |point| point.number("size").unwrap_or(0),
        explained_by: &[term(1.0, "syscall.read.null"), term(1.0, "file.read.mapped").same(&["size"])],
        prepare: |setting| {
            let file = filled(setting)?;
            let mut buffer = Buffer::new(setting.size(), 0);
            let mut offset = 0;
            summed(setting, move || {
                let block = buffer.block();
                exactly(block.len(), pread(&file, &mut *block, offset as u64)?)?;
                offset = after(offset, block.len());
                Ok(sum(block))
            })
        },
        ..DEFAULT
    },
    Operation {
        id: "file.read.mapped",
        summary: "add up the bytes of the next block of a mapped file, its pages touched before",
        per: "block",
        like: &["mapped"],
        axes: BLOCKS,
        headline: true,
        moves: |point| point.number("size").unwrap_or(0),
        prepare: |setting| {
            let mapping = Mapping::shared(filled(setting)?, FILE)?;
            let length = setting.size();
            (0..FILE).step_by(page_size()).for_each(|offset| mapping.read(offset));
            let mut offset = 0;
            summed(setting, move || {
                let block = &mapping.bytes()[offset..offset + length];
                offset = after(offset, length);
                Ok(sum(block))
            })
        },
        ..DEFAULT
    },
    Operation {
        id: "file.write",
        summary: "overwrite the next block of a file, without waiting for the device",
        per: "block",
        axes: BLOCKS,
        headline: true,
        moves: |point| point.number("size").unwrap_or(0),
        explained_by: &[term(1.0, "syscall.write.null")],
        prepare: |setting| {
            let file = filled(setting)?;
            let mut buffer = Buffer::new(setting.size(), 1);
            let mut offset = 0;
            Ok(repeat(move || {
                let block = buffer.block();
                exactly(block.len(), pwrite(&file, block, offset as u64)?)?;
                offset = after(offset, block.len());
                Ok(())
            }))
        },
        ..DEFAULT
    },
    Operation {
        id: "file.fsync",
        summary: "overwrite 4 KiB of a file and wait until the device has them",
        headline: true,
        quoted: Estimate::Typical,
        moves: |_| SYNCED as u64,
        explained_by: &[term(1.0, "file.write").at(&[("size", Number(SYNCED as u64))])],
        prepare: |setting| {
            let file = new_file(&scratch(setting)?)?;
            if IN_MEMORY.contains(&(fstatfs(&file)?.f_type as u32)) {
                return Err(Failure::skip("the scratch folder is in memory", "set TMPDIR to a folder on a disk"));
            }
            let block = [1; SYNCED];
            let overwrite = move || {
                exactly(SYNCED, pwrite(&file, &block, 0)?)?;
                Ok(fsync(&file)?)
            };
            // The first one also has to find room for the block.
            overwrite()?;
            Ok(repeat(overwrite))
        },
        ..DEFAULT
    },
    Operation {
        id: "file.create.delete",
        summary: "create a file of this size in an open folder, close it, and delete it",
        per: "file",
        axes: CREATED,
        headline: true,
        moves: |point| point.number("size").unwrap_or(0),
        explained_by: &[term(1.0, "syscall.open.close"), term(1.0, "syscall.getppid")],
        prepare: |setting| {
            let folder = scratch(setting)?;
            let content = vec![1; setting.size()];
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            Ok(repeat(move || {
                let file = openat(&folder, c"new", flags, Mode::RUSR | Mode::WUSR)?;
                if !content.is_empty() {
                    exactly(content.len(), write(&file, &content)?)?;
                }
                drop(file);
                Ok(unlinkat(&folder, c"new", AtFlags::empty())?)
            })
            .at_most(CREATED_AT_ONCE)
            .batches(BATCHES_OF_CREATED))
        },
        ..DEFAULT
    },
];

/// A block that begins at a page's beginning, as the blocks of the page cache do: where it lies in its page is worth
/// a third of the time of a copy of 4 KiB.
struct Buffer {
    bytes: Vec<u8>,
    length: usize,
}

impl Buffer {
    fn new(length: usize, byte: u8) -> Buffer {
        Buffer { bytes: vec![byte; length + page_size()], length }
    }

    fn block(&mut self) -> &mut [u8] {
        let start = self.bytes.as_ptr().align_offset(page_size());
        &mut self.bytes[start..start + self.length]
    }
}

/// A scratch file of [`FILE`] bytes, all of its blocks alike.
fn filled(setting: &Setting) -> Result<OwnedFd, Failure> {
    let file = new_file(&scratch(setting)?)?;
    let block = pattern(setting);
    for offset in (0..FILE).step_by(block.len()) {
        exactly(block.len(), pwrite(&file, &block, offset as u64)?)?;
    }
    Ok(file)
}

/// One block's bytes: no two words alike, and others in every round.
fn pattern(setting: &Setting) -> Vec<u8> {
    (0..setting.size() as u64 / 8)
        .flat_map(|word| setting.seed().wrapping_add(word).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_ne_bytes())
        .collect()
}

/// A loop whose body reads one block and gives its sum; a batch whose sums do not add up to what was written failed.
fn summed(setting: &Setting, mut next: impl FnMut() -> Result<u64, Failure> + 'static) -> Result<Loop, Failure> {
    let expected = sum(&pattern(setting));
    let total = Rc::new(Cell::new(0_u64));
    let (started, finished) = (Rc::clone(&total), Rc::clone(&total));
    let reading = repeat(move || {
        total.set(total.get().wrapping_add(next()?));
        Ok(())
    });
    let reading = reading.before(move |_| {
        started.set(0);
        Ok(())
    });
    Ok(reading.verify(move |times| match finished.get() == expected.wrapping_mul(times) {
        true => Ok(()),
        false => Err(Failure::wrong("the bytes read do not add up to those written")),
    }))
}

/// The sum of all bytes, taken as 64-bit words.
#[inline(always)]
fn sum(block: &[u8]) -> u64 {
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
    block.chunks_exact(8).fold(0, |total, bytes| total.wrapping_add(word(bytes)))
}

/// Where the next block of this length begins; after the last comes the first.
fn after(offset: usize, length: usize) -> usize {
    if offset + length < FILE { offset + length } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_right_and_written() {
        crate::trial::perform_all(OPERATIONS);
    }

    #[test]
    fn blocks_follow_each_other_and_begin_again() {
        assert_eq!(after(0, 4096), 4096);
        assert_eq!(after(FILE - 4096, 4096), 0);
    }
}
