//! The family `called`: the system calls that programs make most, on what they make them. Those that take names or files are measured on
//! one file and on many different ones. A bill prices programs by these.

pub(crate) mod connection;
pub(crate) mod created;
pub(crate) mod listing;
pub(crate) mod object;
pub(crate) mod peer;
pub(crate) mod rewritten;

use std::cell::Cell;
use std::sync::atomic::AtomicU32;

use operation::{Axis, Failure, Loop, Operation, Setting, count, numbers, repeat, size};
use rustix::fs::{AtFlags, SeekFrom};
use rustix::io::Errno;

use crate::kit::library::{self, fstat, ftruncate, futex, read, seek, statat, write};
use crate::kit::{
    BASE, Block, ENTRY, Mapping, NEAR, STOCK, Slots, Tree, at_once, call, consuming, device, exactly, file_of, handles,
    new_file, on_each, producing, refilled, scratch, tried,
};

/// One file, which stays in the private caches, or many different ones in turn, which do not: of each, the kernel touches about
/// 1.3 KiB.
const FILES: Axis = count("files", numbers![1, MANY]);
const MANY: u64 = 4096;
/// Files of these sizes whose contents fill 16 MiB.
const FILLING: [(u64, u64); 3] = [(PAGE, MANY), (64 << 10, 256), (1 << 20, 16)];
const FILES_READ: Axis = count("files", numbers![1, 16, 256, MANY]);
/// None at the end of a file; a page; more, of which the largest part is the copy; and so much that the copy leaves the private caches.
const SIZES: Axis = size(numbers![0, 1, 512, PAGE, 64 << 10, 1 << 20]);
const PAGE: u64 = 4 << 10;

/// Bytes of a file that are mapped: what a small section of a shared library has.
const SECTION: usize = 16 << 10;

/// Bytes after which a file that grows is emptied: more than private caches hold.
const GROWN: u64 = 64 << 20;
/// Blocks appended in one batch.
const APPENDED: u64 = 128;

/// One file is in the private caches; many are not.
const ON_FILES: Operation = CALLED.axes(&[FILES]).follows_clock(|point| point.number("files") == Some(1));
const CALLED: Operation = BASE.explained_by(ENTRY);

pub(crate) const OPERATIONS: &[Operation] = &[
    ON_FILES
        .named("called.stat", "ask for the attributes of the next of so many files, by its name in an open folder")
        .calls(&["newfstatat"])
        .prepare(|setting| {
            let mut tree = tree(setting, 0)?;
            tried(repeat(move || look(&mut tree)))
        }),
    CALLED
        .id("called.stat.missing")
        .summary("ask for the attributes of a file that does not exist, by its name in an open folder")
        .prepare(|setting| {
            let folder = scratch(setting)?;
            tried(repeat(move || match statat(&folder, c"missing", AtFlags::empty()) {
                Err(Errno::NOENT) => Ok(()),
                Err(other) => Err(other.into()),
                Ok(_) => Err(Failure::wrong("a file exists that nobody created")),
            }))
        }),
    ON_FILES
        .named("called.open", "open the next of so many files, by its name in an open folder")
        .calls(&["openat"])
        .prepare(|setting| {
            let mut tree = tree(setting, 0)?;
            tried(producing(move || tree.open_next()))
        }),
    CALLED
        .named("called.close", "close the only descriptor of a file that was opened shortly before")
        .calls(&["close"])
        .prepare(|setting| {
            let mut tree = Tree::new(setting, STOCK as usize, 0)?;
            tried(consuming(move || tree.open_next(), |file| exactly(0, call::close(file)?)))
        }),
    CALLED
        .named("called.close.copy", "close a descriptor of a file that stays open through another")
        .calls(&["close"])
        .prepare(|_| {
            let null = device(c"/dev/null")?;
            let copy = move || Ok(library::dup(&null)?);
            tried(consuming(copy, |copy| exactly(0, call::close(copy)?)))
        }),
    ON_FILES
        .id("called.read")
        .summary("read the only block of the next of so many files, or at its end nothing; the files are in memory")
        .calls(&["read"])
        .axes(&[SIZES, FILES_READ])
        .follows_clock(|point| point.number("files") == Some(1) && point.number("size").unwrap_or(0) <= NEAR)
        .has_point(|point| {
            let [size, files] = ["size", "files"].map(|axis| point.number(axis).unwrap_or(0));
            files == 1 || FILLING.contains(&(size, files))
        })
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(reading),
    CALLED
        .named("called.append", "write the next block at the end of a file, without waiting for the device")
        .calls(&["write"])
        .axes(&[size(numbers![PAGE, 64 << 10])])
        .follows_clock(|_| false)
        .moves(|point| point.number("size").unwrap_or(0))
        .prepare(appending),
    CALLED.named("called.fstat", "ask for the attributes of an open file").calls(&["fstat"]).prepare(|setting| {
        let file = new_file(&scratch(setting)?)?;
        tried(repeat(move || exactly(0, fstat(&file)?.st_size as usize)))
    }),
    CALLED.named("called.fcntl", "ask for the flags of a descriptor").calls(&["fcntl"]).prepare(|_| {
        let null = device(c"/dev/null")?;
        tried(repeat(move || exactly(libc::FD_CLOEXEC as usize, call::fcntl(&null, libc::F_GETFD)?)))
    }),
    CALLED.named("called.lseek", "ask for the position in a file").calls(&["lseek"]).prepare(|setting| {
        let file = new_file(&scratch(setting)?)?;
        tried(repeat(move || exactly(0, seek(&file, SeekFrom::Current(0))? as usize)))
    }),
    CALLED
        .named("called.futex", "wake the threads that wait for a word, of which there are none")
        .calls(&["futex"])
        .prepare(|_| {
            let word = AtomicU32::new(0);
            tried(repeat(move || exactly(0, futex::wake(&word, futex::Flags::PRIVATE, 1)?)))
        }),
    CALLED
        .named("called.mmap", "map the first 16 KiB of a file, as a separate private mapping")
        .calls(&["mmap"])
        .prepare(|setting| {
            let file = file_of(setting, SECTION)?;
            tried(producing(move || Mapping::private(&file, SECTION)))
        }),
    CALLED
        .named("called.munmap", "unmap an untouched page of anonymous memory between guard pages: a whole mapping")
        .calls(&["munmap"])
        .prepare(|_| {
            let unmap = |places: &Slots, turn: usize| places.unmap(turn);
            refilled(STOCK, Slots::new(STOCK as usize)?, Slots::map, unmap)
        }),
];

/// The files of this point, each of this number of bytes.
fn tree(setting: &Setting, bytes: usize) -> Result<Tree, Failure> {
    Tree::new(setting, setting.number("files")? as usize, bytes)
}

/// Asks for the attributes of the next file.
#[inline(always)]
fn look(tree: &mut Tree) -> Result<(), Failure> {
    let (folder, name) = tree.next();
    exactly(0, statat(folder, name, AtFlags::empty())?.st_size as usize)
}

/// Each file is opened before its batch and closed after it.
fn reading(setting: &Setting) -> Result<Loop, Failure> {
    let size = setting.size()?;
    let mut tree = tree(setting, size)?;
    let mut block = Block::new(size.max(1));
    let reading = on_each(
        move |times| (0..times).map(|_| tree.open_next()).collect(),
        move |file| exactly(size, read(file, &mut block)?),
        |_| Ok(()),
    );
    tried(reading.at_most(at_once()))
}

/// The file grows over many batches, so that the kernel takes pages that were not used a moment ago.
fn appending(setting: &Setting) -> Result<Loop, Failure> {
    let size = setting.size()?;
    let [file, emptied, filled] = handles(new_file(&scratch(setting)?)?);
    let [written, grown] = handles(Cell::new(0));
    let block = Block::new(size);
    let appending = repeat(move || exactly(size, write(&*file, &block)?));
    tried(
        appending
            .at_most(APPENDED)
            .before(move |_| {
                if written.get() > GROWN {
                    written.set(0);
                    ftruncate(&*emptied, 0)?;
                    seek(&*emptied, SeekFrom::Start(0))?;
                }
                Ok(())
            })
            .verify(move |times| {
                grown.set(grown.get() + size as u64 * times);
                exactly(grown.get() as usize, fstat(&*filled)?.st_size as usize)
            }),
    )
}

#[cfg(test)]
mod tests {
    use record::Point;

    use super::*;

    #[test]
    fn each_point_has_the_files_that_it_names() {
        for operation in OPERATIONS.iter().filter(|operation| operation.axis("files").is_some()) {
            let files: Vec<Option<u64>> = operation.points(false).iter().map(|at: &Point| at.number("files")).collect();
            assert!(files.contains(&Some(1)) && files.contains(&Some(MANY)), "{}: {files:?}", operation.id);
            assert!(!operation.headline, "{} is no headline", operation.id);
        }
    }
}
