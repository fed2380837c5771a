//! Copying against splicing: bytes of a file in memory are moved into a pipe, through a buffer of the program or by passing the
//! pages. Both variants empty the pipe in the same way, by splicing it to /dev/null.

use std::os::fd::OwnedFd;

use operation::{Axis, Failure, Loop, Operation, Setting, numbers, repeat, size, term};
use rustix::pipe::SpliceFlags;

use crate::kit::library::{self, pread, splice, write};
use crate::kit::{BASE, Block, device, ensure, exactly, hold, new_file, scratch};

/// Bytes moved at a time: up to what a pipe holds where nobody made it larger, in pages that begin where the file does.
const MOVED: Axis = size(numbers![512, 4096, 65536]).within(1, 64 << 10);

const MOVE: Operation = BASE.per("move").axes(&[MOVED]).moves(|point| point.number("size").unwrap_or(0));

pub(crate) const OPERATIONS: &[Operation] = &[
    MOVE.named("move.copy", "read from a file in memory, write it to a pipe, and empty the pipe")
        .calls(&["pread64", "write", "splice"])
        .explained_by(&[term(1.0, "syscall.read.null"), term(1.0, "syscall.write.null"), term(1.0, "syscall.getppid")])
        .prepare(|setting| {
            let mut buffer = Block::new(setting.size()?);
            moves(setting, move |file, pipe| {
                exactly(buffer.len(), pread(file, &mut buffer, 0)?)?;
                exactly(buffer.len(), write(pipe, &buffer)?)
            })
        }),
    MOVE.id("move.splice")
        .summary("splice from a file in memory to a pipe, which then holds the file's own pages, and empty the pipe")
        .calls(&["splice", "splice"])
        .explained_by(&[term(1.0, "call.splice")])
        .prepare(|setting| {
            let size = setting.size()?;
            moves(setting, move |file, pipe| spliced((file, Some(0)), (pipe, None), size))
        }),
];

fn spliced(from: (&OwnedFd, Option<u64>), to: (&OwnedFd, Option<u64>), size: usize) -> Result<(), Failure> {
    let (mut here, mut there) = (from.1, to.1);
    let mut moved = 0;
    while moved < size {
        match splice(from.0, here.as_mut(), to.0, there.as_mut(), size - moved, SpliceFlags::empty())? {
            0 => return Err(Failure::wrong("nothing more could be spliced")),
            more => moved += more,
        }
    }
    Ok(())
}

/// A loop of moves. One more is made first, and the pipe must hold what the file does.
fn moves(
    setting: &Setting,
    mut into_pipe: impl FnMut(&OwnedFd, &OwnedFd) -> Result<(), Failure> + 'static,
) -> Result<Loop, Failure> {
    let size = setting.size()?;
    let file = new_file(&scratch(setting)?)?;
    let content: Vec<u8> = (0..size).map(|place| (place as u64 ^ setting.seed()).to_le_bytes()[0] | 1).collect();
    exactly(size, library::pwrite(&file, &content, 0)?)?;
    let (reader, writer) = library::pipe()?;
    hold(&writer, size)?;
    let null = device(c"/dev/null")?;
    into_pipe(&file, &writer)?;
    let mut came = vec![0; size];
    crate::kit::channel::read_whole(&reader, &mut came)?;
    ensure(came == content, || "the pipe holds something else than the file")?;
    Ok(repeat(move || {
        into_pipe(&file, &writer)?;
        spliced((&reader, None), (&null, None), size)
    }))
}
