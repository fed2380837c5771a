//! The family `file`: a file read by each method and written, with its blocks in memory unless stated otherwise. Every
//! reader adds up all it reads as 64-bit words, and the sum is checked, so that all readers do the same work.

use std::cell::Cell;

use operation::Value::Number;
use operation::{Axis, Failure, Loop, Operation, Setting, bytes, numbers, repeat, size, term};
use record::{Estimate, Point};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::param::page_size;

use crate::file::reading::source::within_limit;
use crate::file::reading::sum::sum;
use crate::file::residence;
use crate::kit::library::{fsync, openat, pread, pwrite, unlinkat, write};
use crate::kit::{BASE, Block, Mapping, NEAR, apart, call, ensure, exactly, handles, new_file, scratch};

/// The bytes of a block, of the file, and of each write that filled it. A file system that supports large folios keeps the
/// data of one write in one contiguous piece of memory, which it looks up, locks and marks once.
const BLOCKS: &[Axis] = &[
    size(numbers![4 << 10, 64 << 10]).headline(numbers![4 << 10]).in_steps(8, 8, NEAR),
    bytes("file", numbers![NEAR, 4 << 20, 64 << 20]).headline(numbers![4 << 20]).in_steps(4 << 10, NEAR, 256 << 20),
    FILLED,
];

/// Sizes up to a large folio: when a page is overwritten, ext4 looks at every 4 KiB block of its folio.
pub(crate) const FILLED: Axis = bytes("filled", numbers![4 << 10, 128 << 10, 1 << 20, 2 << 20])
    .headline(numbers![128 << 10])
    .in_steps(4 << 10, 4 << 10, 2 << 20);

/// A file that fits the private cache of a core, one that does not, and one that few shared caches hold; the second also
/// filled in smaller and in larger pieces.
const OF_BLOCKS: fn(&Point) -> bool =
    |point| point.number("filled") == Some(128 << 10) || point.number("file") == Some(4 << 20);

/// The axes that determine the file.
const SAME: &[&str] = &["size", "file", "filled"];

const CREATED: &[Axis] = &[size(numbers![0, 10 << 10]).headline(numbers![0]).within(0, 1 << 20)];

/// Files created and deleted in one batch of at least 100 µs, and batches in a round. Files that a round deletes make files
/// of later rounds more expensive in the same part of the file system (see `kit::folder`).
pub(crate) const CREATED_AT_ONCE: u64 = 32;
pub(crate) const BATCHES_OF_CREATED: u32 = 8;

/// Bytes written before each sync.
const SYNCED: usize = 4 << 10;

pub(crate) const OPERATIONS: &[Operation] = &[
    OF_A_FILE
        .named("file.read", "read the next block of a file that was filled by writes of this many bytes, and add it up")
        .aliases(&["FREAD"])
        .explained_by(&[term(1.0, "syscall.read.null"), term(1.0, "file.read.mapped").same(SAME)])
        .prepare(|setting| {
            let (file, mut place) = filled(setting, setting.size()?)?;
            let mut block = Block::new(setting.size()?);
            summed(setting, 1, move || {
                exactly(block.len(), pread(&file, &mut block, place.next() as u64)?)?;
                Ok(sum(&block))
            })
        }),
    OF_A_FILE
        .id("file.read.mapped")
        .summary("add up the next block of a mapped file, all pages present: no map, no fault, no unmap")
        .aliases(&["mapped"])
        .prepare(|setting| {
            let (length, size) = (setting.number("file")? as usize, setting.size()?);
            let (file, mut place) = filled(setting, size)?;
            let mapping = Mapping::shared(file, length)?;
            (0..length).step_by(page_size()).for_each(|offset| mapping.read(offset));
            summed(setting, 1, move || Ok(sum(&mapping.bytes()[place.next()..][..size])))
        }),
    OF_A_FILE
        .named(
            "file.map.read.unmap",
            "add up the next block of a file that is mapped for one pass over it, including its share of map, \
            faults and unmap",
        )
        .version(1)
        .calls(&["mmap", "munmap"])
        .explained_by(&[term(1.0, "file.read.mapped").same(SAME)])
        .at_least(&["file.read.mapped"])
        .prepare(|setting| {
            let (length, size) = (setting.number("file")? as usize, setting.size()?);
            let (file, _) = filled(setting, size)?;
            let blocks = (length / size) as u64;
            let passes = summed(setting, blocks, move || {
                let mapping = Mapping::shared(&file, length)?;
                let total =
                    mapping.bytes().chunks_exact(size).fold(0_u64, |total, block| total.wrapping_add(sum(block)));
                mapping.unmap()?;
                Ok(total)
            });
            Ok(passes?.unrolled(blocks))
        }),
    OF_A_FILE
        .named(
            "file.write",
            "overwrite the next block of a file that was filled by writes of this many bytes, without waiting for \
            the device",
        )
        .explained_by(&[term(1.0, "syscall.write.null")])
        .prepare(|setting| {
            let (file, mut place) = filled(setting, setting.size()?)?;
            let block = Block::new(setting.size()?);
            Ok(repeat(move || exactly(block.len(), pwrite(&file, &block, place.next() as u64)?)))
        }),
    BASE.named("file.fsync", "overwrite 4 KiB of a file and wait until they are on the device")
        .headline()
        .quoted(Estimate::Typical)
        .waits(|_| true)
        .moves(|_| SYNCED as u64)
        .explained_by(&[term(1.0, "file.write").at(&[
            ("size", Number(SYNCED as u64)),
            ("file", Number(4 << 20)),
            ("filled", Number(128 << 10)),
        ])])
        .prepare(|setting| {
            let file = new_file(&scratch(setting)?)?;
            residence::on_a_device(&file)?;
            let block = [1; SYNCED];
            let overwrite = move || {
                exactly(SYNCED, pwrite(&file, &block, 0)?)?;
                Ok(fsync(&file)?)
            };
            // The first one also allocates the block.
            overwrite()?;
            Ok(repeat(overwrite))
        }),
    BASE.named(
        "file.create.delete",
        "create a file of this size in an open folder, close it, and delete it, in a part of the file system \
            with few files",
    )
    .version(3)
    .per("file")
    .axes(CREATED)
    .headline()
    .moves(|point| point.number("size").unwrap_or(0))
    .explained_by(&[term(1.0, "syscall.open.close"), term(1.0, "syscall.getppid")])
    .prepare(|setting| {
        let folder = apart(setting)?;
        let content = Block::new(setting.size()?);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(repeat(move || {
            let file = openat(&folder, c"new", flags, Mode::RUSR | Mode::WUSR)?;
            if !content.is_empty() {
                exactly(content.len(), write(&file, &content)?)?;
            }
            exactly(0, call::close(file)?)?;
            Ok(unlinkat(&folder, c"new", AtFlags::empty())?)
        })
        .at_most(CREATED_AT_ONCE)
        .batches(BATCHES_OF_CREATED))
    }),
];

/// The defaults of operations that pass over a file block by block, from beginning to end, repeatedly.
const OF_A_FILE: Operation = BASE
    .per("block")
    // Until version 1 the file had one size, which fits the private cache of a core.
    .version(2)
    .axes(BLOCKS)
    .has_point(OF_BLOCKS)
    .headline()
    .follows_clock(|point| point.number("file").unwrap_or(0) <= NEAR)
    .moves(|point| point.number("size").unwrap_or(0));

/// A scratch file with the number of bytes that the point says, written in pieces of the size that it says, and the offsets
/// of its blocks of `size` bytes in sequence. All blocks have the same content.
pub(crate) fn filled(setting: &Setting, size: usize) -> Result<(OwnedFd, BlockOffset), Failure> {
    let length = setting.number("file")? as usize;
    let file = in_pieces(setting, size, (length, setting.number("filled")? as usize))?;
    Ok((file, BlockOffset { here: 0, size, file: length }))
}

/// Such a file with this number of bytes, in pieces of this size.
pub(crate) fn in_pieces(setting: &Setting, size: usize, (length, piece): (usize, usize)) -> Result<OwnedFd, Failure> {
    within_limit(length as u64)?;
    let file = new_file(&scratch(setting)?)?;
    let bytes: Vec<u8> = pattern(setting, size).into_iter().cycle().take(piece + size).collect();
    for offset in (0..length).step_by(piece) {
        // A piece may be smaller than a block, and the last one is smaller where the file is no multiple of it.
        let piece = piece.min(length - offset);
        let from = offset % size;
        exactly(piece, pwrite(&file, &bytes[from..from + piece], offset as u64)?)?;
    }
    Ok(file)
}

/// The bytes of one block: all words differ, and every round has others.
fn pattern(setting: &Setting, size: usize) -> Vec<u8> {
    (0..size as u64 / 8)
        .flat_map(|word| setting.seed().wrapping_add(word).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_ne_bytes())
        .collect()
}

/// A loop whose body reads a number of blocks and returns their sum. A batch fails if its sums do not match what was
/// written.
fn summed(
    setting: &Setting,
    blocks: u64,
    mut next: impl FnMut() -> Result<u64, Failure> + 'static,
) -> Result<Loop, Failure> {
    let expected = sum(&pattern(setting, setting.size()?)).wrapping_mul(blocks);
    let [total, sum] = handles(Cell::new(0_u64));
    let reading = repeat(move || {
        total.set(total.get().wrapping_add(next()?));
        Ok(())
    });
    Ok(reading.verify(move |times| {
        ensure(sum.replace(0) == expected.wrapping_mul(times), || "the bytes read do not add up to those written")
    }))
}

/// The offset of the next block; the first follows the last.
pub(crate) struct BlockOffset {
    here: usize,
    size: usize,
    file: usize,
}

impl BlockOffset {
    #[inline(always)]
    pub(crate) fn next(&mut self) -> usize {
        let here = self.here;
        self.here = if here + 2 * self.size <= self.file { here + self.size } else { 0 };
        here
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::memory::page::frames::tests::frame_of;

    #[test]
    fn files_are_read_right_and_written() {
        let scratch = tempfile::tempdir().expect("a folder");
        for operation in OPERATIONS {
            for point in operation.points(false) {
                let setting = Setting::new(point, scratch.path().into(), 0, None, 1);
                crate::kit::trial::perform_in(&setting, operation);
            }
        }
    }

    #[test]
    fn blocks_follow_each_other_and_begin_again() {
        let mut place = BlockOffset { here: 0, size: 4096, file: 3 * 4096 };
        let places: Vec<usize> = (0..5).map(|_| place.next()).collect();
        assert_eq!(places, [0, 4096, 8192, 0, 4096]);
    }

    fn setting(folder: &std::path::Path, size: u64, filled: u64) -> Setting {
        let numbers = [("size", size), ("file", 4 << 20), ("filled", filled)];
        let point = Point(numbers.map(|(axis, number)| (axis.into(), Number(number))).into());
        Setting::new(point, folder.into(), 0, None, 1)
    }

    #[test]
    fn a_file_holds_the_same_however_it_was_filled() {
        let scratch = tempfile::tempdir().expect("a folder");
        for size in [4096, 65536] {
            let read = |pieces| {
                let setting = setting(scratch.path(), size, pieces);
                let mut bytes = vec![0; 4 << 20];
                std::fs::File::from(filled(&setting, size as usize).expect("a file").0)
                    .read_exact_at(&mut bytes, 0)
                    .expect("read");
                assert!(
                    bytes.chunks(size as usize).all(|block| block == pattern(&setting, size as usize)),
                    "{size} by {pieces}"
                );
                bytes
            };
            assert_eq!(read(4096), read(128 << 10));
        }
    }

    /// Pages of the file that lie in memory in larger pieces, by the kernel's flags of each frame, which only root may read
    /// (`/proc/kpageflags`, bits 15 and 16: the head and the rest of such a piece); `None` if the flags are hidden.
    fn in_large_pieces(file: &OwnedFd) -> Option<usize> {
        let mapping = Mapping::shared(file, 4 << 20).expect("mapped");
        let flags = std::fs::File::open("/proc/kpageflags").ok()?;
        let mut large = 0;
        for offset in (0..4 << 20).step_by(page_size()) {
            mapping.read(offset);
            let frame = frame_of(mapping.bytes().as_ptr() as usize + offset)?;
            let mut entry = [0; 8];
            flags.read_exact_at(&mut entry, frame * 8).ok()?;
            large += usize::from(u64::from_ne_bytes(entry) >> 15 & 3 != 0);
        }
        Some(large)
    }

    #[test]
    fn a_file_lies_in_memory_in_pieces_no_larger_than_its_writes() {
        let scratch = tempfile::tempdir().expect("a folder");
        let pieces = |pieces| in_large_pieces(&filled(&setting(scratch.path(), 4096, pieces), 4096).expect("a file").0);
        match (pieces(4096), pieces(128 << 10)) {
            (Some(small), Some(large)) => {
                assert_eq!(small, 0, "pages of a file written page by page lie in larger pieces");
                eprintln!("{large} pages of {} lie in larger pieces after writes of 128 KiB", (4 << 20) / page_size());
            }
            _ => testing::not_tested!("in which pieces the file lies; run as root"),
        }
    }
}
