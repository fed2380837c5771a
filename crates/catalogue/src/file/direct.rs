//! Single reads past the page cache: each goes to the device and waits for it.

use operation::{Axis, Failure, Operation, Setting, bytes, numbers, repeat, size};
use record::Estimate;
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;

use crate::file::reading::source::within_limit;
use crate::file::residence;
use crate::kit::library::{fsync, openat, pread, pwrite};
use crate::kit::{BASE, Block, ensure, exactly, new_file, scratch};

const DIRECT: &[Axis] = &[size(numbers![4 << 10, 64 << 10]), bytes("file", numbers![64 << 20])];

pub(crate) const OPERATIONS: &[Operation] = &[BASE
    .named(
        "file.read.direct",
        "read a block from a random place of a file, past the page cache (O_DIRECT): one request to the device",
    )
    .axes(DIRECT)
    .moves(|point| point.number("size").unwrap_or(0))
    .quoted(Estimate::Typical)
    .waits(|_| true)
    .prepare(|setting| {
        let size = setting.size()?;
        let blocks = setting.number("file")? / size as u64;
        let file = filled(setting, size, blocks)?;
        setting.count_reads(&file);
        let mut block = Block::new(size);
        let mut random = fastrand::Rng::with_seed(setting.seed());
        Ok(repeat(move || {
            let number = random.u64(0..blocks);
            exactly(size, pread(&file, block.bytes(), number * size as u64)?)?;
            // Each block begins with its number.
            let reported = block.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
            ensure(reported == number, || "another block was read")
        }))
    })];

/// A file whose blocks begin with their numbers, written to its device, open for direct reads.
pub(crate) fn filled(setting: &Setting, size: usize, blocks: u64) -> Result<OwnedFd, Failure> {
    const PIECE: u64 = 256;
    within_limit(size as u64 * blocks)?;
    let folder = scratch(setting)?;
    let file = new_file(&folder)?;
    residence::on_a_device(&file)?;
    let mut piece = Block::of(1, size * PIECE as usize);
    for first in (0..blocks).step_by(PIECE as usize) {
        for (number, block) in (first..).zip(piece.bytes().chunks_exact_mut(size)) {
            block[..8].copy_from_slice(&number.to_ne_bytes());
        }
        let length = size * PIECE.min(blocks - first) as usize;
        exactly(length, pwrite(&file, &piece[..length], first * size as u64)?)?;
    }
    let direct = openat(&folder, c"file", OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC, rustix::fs::Mode::empty());
    let direct = direct.map_err(|error| {
        Failure::from(error).skip_on(
            &[libc::EINVAL, libc::EOPNOTSUPP],
            "this file system has no direct reads",
            "set TMPDIR to a folder on a disk",
        )
    })?;
    fsync(&file)?;
    residence::is_past_memory(&file, || exactly(size, pread(&direct, &mut piece[..size], 0)?))?;
    Ok(direct)
}
