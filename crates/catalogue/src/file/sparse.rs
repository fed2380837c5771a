//! The family `sparse`: files that consist mostly of holes. The cost and the occupied space of writing far from the
//! beginning, of reading a hole, and of finding the data.

use std::cell::Cell;

use operation::Value::Number;
use operation::{Axis, Failure, Loop, Operation, Setting, count, numbers, repeat, size, term, word, words};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, SeekFrom};

use crate::file::access::{BATCHES_OF_CREATED, CREATED_AT_ONCE};
use crate::file::reading::source::within_limit;
use crate::file::reading::sum::sum as sum_of;
use crate::file::residence;
use crate::kit::library::{fstat, fsync, ftruncate, openat, pread, pwrite, seek, unlinkat};
use crate::kit::{BASE, Block, apart, call, ensure, exactly, handles, new_file, scratch};

/// The size of the paper's file, with a byte for each social security number.
const FAR: u64 = 999_999_999;

const WRITTEN: Axis = size(numbers![1, 4 << 10]);
const AT: Axis = count("offset", numbers![0, FAR]);
const OF: Axis = word("of", words!["data", "hole", "new_hole"]);

/// The bytes of the file that is written without holes, and of each write.
const DENSE: u64 = 4 << 20;
const BLOCK: usize = 64 << 10;

/// The number of blocks that are read repeatedly: together they stay in the private cache of a core.
const BLOCKS: u64 = 8;

/// The number of blocks of a hole that are read for the first time in one batch: 16 MiB.
const NEW_BLOCKS: u64 = 256;

/// The most bytes that a file with one written byte may occupy and still count as sparse. File systems allocate 4 to 128
/// KiB for a single write.
const SPARSE: u64 = 1 << 20;

/// The distance at which it is first tried whether the file system makes holes: a file system without holes would write 1
/// GB, which could fill a disk.
const TRIED: u64 = 16 << 20;

/// The number of islands of data in the file that is walked, the bytes of each, and the distance between two.
const ISLANDS: u64 = 256;
const ISLAND: u64 = 64 << 10;
const APART: u64 = 1 << 20;

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.named("sparse.write", "create a file, write this many bytes at this offset, close the file and delete it")
        .version(3)
        .per("file")
        .axes(&[WRITTEN, AT])
        .moves(|point| point.number("size").unwrap_or(0))
        .explained_by(&[term(1.0, "file.create.delete").at(&[("size", Number(0))]), term(1.0, "syscall.write.null")])
        .prepare(|setting| {
            let folder = apart(setting)?;
            let (size, at) = (setting.size()?, setting.number("offset")?);
            let length = at + size as u64;
            within_limit(length)?;
            holes_are_made(&folder)?;
            let mut checked = Some(scratch(setting)?);
            let content = Block::new(size);
            let written = content.clone();
            let writing = repeat(move || {
                let file = create(&folder)?;
                exactly(written.len(), pwrite(&file, &written, at)?)?;
                exactly(0, call::close(file)?)?;
                Ok(unlinkat(&folder, c"new", AtFlags::empty())?)
            });
            Ok(writing.at_most(CREATED_AT_ONCE).batches(BATCHES_OF_CREATED).verify(move |_| {
                // One more file is checked before it is deleted; only once per round, because writing it out takes the
                // device's time.
                let Some(folder) = checked.take() else { return Ok(()) };
                let file = create(&folder)?;
                exactly(content.len(), pwrite(&file, &content, at)?)?;
                unlinkat(&folder, c"new", AtFlags::empty())?;
                exactly(length as usize, fstat(&file)?.st_size as usize)?;
                sparse(occupied(&file)?).map(drop)
            }))
        }),
    BASE.id("sparse.write.dense")
        .summary("create a file, write 4 MiB of it without a hole, 64 KiB at a time, close the file and delete it")
        .version(4)
        .per("file")
        .moves(|_| DENSE)
        .follows_clock(|_| false)
        .prepare(|setting| {
            let folder = apart(setting)?;
            let block = Block::new(BLOCK);
            Ok(repeat(move || {
                let file = create(&folder)?;
                for offset in (0..DENSE).step_by(BLOCK) {
                    exactly(BLOCK, pwrite(&file, &block, offset)?)?;
                }
                exactly(0, call::close(file)?)?;
                Ok(unlinkat(&folder, c"new", AtFlags::empty())?)
            })
            .at_most(CREATED_AT_ONCE)
            .batches(BATCHES_OF_CREATED))
        }),
    BASE.named(
        "sparse.occupied",
        "ask for the space that a file occupies in which one byte far from the beginning was written; the \
            points are the possible answers",
    )
    .axes(&[size(numbers![OCCUPIED])])
    .explained_by(&[term(1.0, "syscall.fstat")])
    .prepare(|setting| {
        let file = written_far(setting)?;
        match sparse(occupied(&file)?)? {
            OCCUPIED => Ok(repeat(move || exactly(OCCUPIED as usize / UNIT, fstat(&file)?.st_blocks as usize))),
            other => Err(Failure::skip(format!("here a far write of one byte occupies {other} bytes"), "")),
        }
    }),
    BASE.named("sparse.read", "read the next 64 KiB of a file: data, a hole read before, or a hole never read before")
        .version(2)
        .per("block")
        .axes(&[OF])
        .moves(|_| BLOCK as u64)
        .explained_by(&[term(1.0, "syscall.read.null")])
        .prepare(|setting| if setting.word("of")? == "new_hole" { new_hole(setting) } else { read_again(setting) }),
    BASE.id("sparse.seek")
        .summary("find the next data of a file of 256 islands of 64 KiB, 1 MiB apart, and the hole behind them")
        .per("island")
        .explained_by(&[term(2.0, "syscall.getppid")])
        .prepare(islands),
];

/// The unit of `st_blocks`, whatever the block size of the file system.
const UNIT: usize = 512;

/// The space that a far write of one byte occupies on most file systems: one block.
const OCCUPIED: u64 = 4 << 10;

#[inline(always)]
fn create(folder: &OwnedFd) -> Result<OwnedFd, Failure> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(openat(folder, c"new", flags, Mode::RUSR | Mode::WUSR)?)
}

/// Skips if the file system fills holes, which is tried at a harmless distance.
fn holes_are_made(folder: &OwnedFd) -> Result<(), Failure> {
    within_limit(TRIED + 1)?;
    let file = create(folder)?;
    unlinkat(folder, c"new", AtFlags::empty())?;
    exactly(1, pwrite(&file, &[1], TRIED)?)?;
    sparse(occupied(&file)?).map(drop)
}

/// A file in which only one byte was ever written.
fn written_far(setting: &Setting) -> Result<OwnedFd, Failure> {
    let folder = scratch(setting)?;
    holes_are_made(&folder)?;
    let file = new_file(&folder)?;
    within_limit(FAR + 1)?;
    exactly(1, pwrite(&file, &[1], FAR)?)?;
    Ok(file)
}

/// The bytes that a file occupies, after all of it has been allocated.
fn occupied(file: &OwnedFd) -> Result<u64, Failure> {
    fsync(file)?;
    Ok(fstat(file)?.st_blocks as u64 * UNIT as u64)
}

/// Returns this number of bytes if it is that of a file with a hole.
fn sparse(occupied: u64) -> Result<u64, Failure> {
    match occupied {
        0..SPARSE => Ok(occupied),
        _ => Err(Failure::skip(
            format!(
                "the file system of the scratch folder has no sparse files: a single write occupied {occupied} bytes"
            ),
            "set TMPDIR to a folder of ext4, XFS, Btrfs or tmpfs",
        )),
    }
}

/// The loop that reads the same few blocks in a cycle. Their bytes are not zero only in data.
fn read_again(setting: &Setting) -> Result<Loop, Failure> {
    let byte = if setting.word("of")? == "data" { 7 } else { 0 };
    let file = new_file(&scratch(setting)?)?;
    let length = BLOCKS * BLOCK as u64;
    match byte {
        0 => ftruncate(&file, length)?,
        _ => exactly(length as usize, pwrite(&file, &vec![byte; length as usize], 0)?)?,
    }
    let mut next = 0;
    Ok(summed(byte, move |block| {
        let offset = next;
        next = (next + BLOCK as u64) % length;
        exactly(BLOCK, pread(&file, block, offset)?)
    }))
}

/// The loop that reads a hole of which the kernel has nothing in memory.
fn new_hole(setting: &Setting) -> Result<Loop, Failure> {
    let file = written_far(setting)?;
    fsync(&file)?;
    let forgotten = openat(scratch(setting)?, c"file", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let [next, begun] = handles(Cell::new(0));
    let reading = summed(0, move |block| {
        let offset = next.replace(next.get() + BLOCK as u64);
        exactly(BLOCK, pread(&file, block, offset)?)
    });
    let mut reading = reading.at_most(NEW_BLOCKS).before(move |_| {
        begun.set(0);
        residence::put_out_of_memory(&forgotten)
    });
    reading.perform(1)?;
    Ok(reading)
}

/// The loop in which `read` reads blocks of this byte. It adds up their words and checks the sum.
fn summed(byte: u8, mut read: impl FnMut(&mut [u8]) -> Result<(), Failure> + 'static) -> Loop {
    let expected = u64::from_ne_bytes([byte; 8]).wrapping_mul(BLOCK as u64 / 8);
    // The buffer first holds something that no file here contains.
    let mut block = Block::of(0xFF, BLOCK);
    let [total, sum] = handles(Cell::new(0_u64));
    repeat(move || {
        read(&mut block)?;
        total.set(total.get().wrapping_add(sum_of(&block)));
        Ok(())
    })
    .verify(move |times| {
        ensure(sum.replace(0) == expected.wrapping_mul(times), || "the bytes read do not add up to those of the file")
    })
}

/// The islands, and the loop that walks from one to the next in a cycle.
fn islands(setting: &Setting) -> Result<Loop, Failure> {
    let file = new_file(&scratch(setting)?)?;
    within_limit(ISLANDS * APART)?;
    ftruncate(&file, ISLANDS * APART)?;
    let content = vec![1; ISLAND as usize];
    for island in 0..ISLANDS {
        exactly(content.len(), pwrite(&file, &content, island * APART + APART / 2)?)?;
    }
    fsync(&file)?;
    if seek(&file, SeekFrom::Data(0))? == 0 {
        return Err(Failure::skip(
            "the file system of the scratch folder does not report holes",
            "set TMPDIR to a folder of ext4, XFS, Btrfs or tmpfs",
        ));
    }
    let mut island = 0;
    Ok(repeat(move || {
        let start = island * APART;
        let data = seek(&file, SeekFrom::Data(start))?;
        let hole = seek(&file, SeekFrom::Hole(data))?;
        island = (island + 1) % ISLANDS;
        exactly((start + APART / 2) as usize, data as usize)?;
        exactly((start + APART / 2 + ISLAND) as usize, hole as usize)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_occupies_what_it_spans_is_not_sparse() {
        assert_eq!(sparse(4096), Ok(4096));
        let Err(Failure::Skip { reason, remedy }) = sparse(FAR) else { panic!("it counts as sparse") };
        assert!(reason.contains("999999999") && !remedy.is_empty());
    }

    #[test]
    fn other_bytes_than_the_files_are_found_out() {
        let mut reading = summed(0, |block| {
            block.fill(0);
            block[BLOCK - 1] = 1;
            Ok(())
        });
        assert!(matches!(reading.perform(1), Err(Failure::Wrong(_))));
    }
}
