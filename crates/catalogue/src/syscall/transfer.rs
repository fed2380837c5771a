//! Calls that read, write and move the bytes of descriptors, and allocate or free the space for them.

use std::os::fd::OwnedFd;

use libc::iovec;
use operation::{Failure, Loop, Operation, Setting, bytes, numbers, repeat};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use super::{BLOCK, CALL, PAIR};
use crate::file::access::{FILLED, filled, in_pieces};
use crate::kit::library;
use crate::kit::{
    Buffers, NEAR, Null, PAGE, STOCK, call, device, exactly, file_of, handles, scratch, steadily_with, steady_with,
    tried, with_file,
};

/// Blocks that a batch of at least 100 µs goes through: 1 MiB of a file.
const BLOCKS: u64 = 2048;

/// A call that moves one block. Since version 2 the block begins at a page boundary.
const MOVE: Operation = CALL.version(2).moves(|_| BLOCK as u64);

/// The same of the next block each time: together they are more than a private cache holds.
const ONWARDS: Operation = MOVE.follows_clock(|_| BLOCKS * BLOCK as u64 <= NEAR);

/// The same on files: one of a page, and one of 4 MiB filled by writes of this number of bytes (see `file::access`).
const OF_A_FILE: Operation = MOVE
    .axes(&[bytes("file", numbers![PAGE as u64, 4 << 20]).headline(numbers![4 << 20]), FILLED])
    .has_point(|point| point.number("file") >= point.number("filled"))
    .follows_clock(|point| point.number("file") == Some(PAGE as u64));

pub(crate) const OPERATIONS: &[Operation] = &[
    ONWARDS
        .named("call.read", "read 512 bytes of a file that is in memory")
        .prepare(|setting| onwards(setting, Placed([0_u8; BLOCK]), |file, block| call::read(file, &mut block.0))),
    ONWARDS
        .named("call.write", "overwrite 512 bytes of a file, without waiting for the device")
        .prepare(|setting| onwards(setting, Placed([0_u8; BLOCK]), |file, block| call::write(file, &block.0))),
    ONWARDS
        .named("call.readv", "read 512 bytes of a file into two buffers")
        .prepare(|setting| onwards(setting, Halves::new(), |file, halves| call::readv(file, halves.vectors()))),
    ONWARDS
        .named("call.writev", "overwrite 512 bytes of a file from two buffers")
        .prepare(|setting| onwards(setting, Halves::new(), |file, halves| call::writev(file, halves.vectors()))),
    OF_A_FILE
        .named("call.pread64", "read the next 512 bytes of a file that was filled by writes of this many bytes")
        .prepare(|setting| {
            let (file, mut place) = filled(setting, BLOCK)?;
            let mut block = Placed([0_u8; BLOCK]);
            tried(repeat(move || exactly(BLOCK, call::pread64(&file, &mut block.0, place.next())?)))
        }),
    OF_A_FILE
        .named("call.pwrite64", "overwrite the next 512 bytes of a file that was filled by writes of this many bytes")
        .prepare(|setting| {
            let (file, mut place) = filled(setting, BLOCK)?;
            let block = Placed([0_u8; BLOCK]);
            tried(repeat(move || exactly(BLOCK, call::pwrite64(&file, &block.0, place.next())?)))
        }),
    MOVE.named("call.preadv", "read 512 bytes at an offset of a file into two buffers")
        .prepare(|setting| in_halves(setting, |file, halves| call::preadv(file, halves, 0, 0))),
    MOVE.named("call.pwritev", "overwrite 512 bytes at an offset of a file from two buffers")
        .prepare(|setting| in_halves(setting, |file, halves| call::pwritev(file, halves, 0, 0))),
    MOVE.named("call.preadv2", "read 512 bytes at an offset of a file into two buffers, with flags")
        .prepare(|setting| in_halves(setting, |file, halves| call::preadv2(file, halves, 0, 0, 0))),
    MOVE.named("call.pwritev2", "overwrite 512 bytes at an offset of a file from two buffers, with flags")
        .prepare(|setting| in_halves(setting, |file, halves| call::pwritev2(file, halves, 0, 0, 0))),
    CALL.named("call.lseek", "go to the end of a file")
        .prepare(|setting| steadily_with(PAGE, file_of(setting, PAGE)?, |file| call::lseek(&*file, 0, libc::SEEK_END))),
    MOVE.named("call.sendfile", "send 512 bytes of a file into another one").prepare(|setting| {
        let source = file_of(setting, PAGE)?;
        let [target, again] = handles(second(setting)?);
        let mut offset = [0_u64];
        tried(
            repeat(move || {
                offset[0] = 0;
                exactly(BLOCK, call::sendfile(&*target, &source, &mut offset, BLOCK)?)
            })
            .at_most(BLOCKS)
            .before(move |_| rewind(&again)),
        )
    }),
    MOVE.named("call.copy_file_range", "copy 512 bytes of a file into another one, within the kernel").prepare(
        |setting| {
            let (source, target) = (file_of(setting, PAGE)?, second(setting)?);
            let (mut from, mut to) = ([0_u64], [0_u64]);
            tried(repeat(move || {
                (from[0], to[0]) = (0, 0);
                exactly(BLOCK, call::copy_file_range(&source, &mut from, &target, &mut to, BLOCK, 0)?)
            }))
        },
    ),
    PAIR.named("call.splice", "move a page of a file into a pipe, and from there to /dev/null, without copying it")
        .calls(&["splice", "splice"])
        .moves(|_| PAGE as u64)
        .prepare(|setting| {
            let (file, null) = (file_of(setting, PAGE)?, device(c"/dev/null")?);
            let (reader, writer) = library::pipe()?;
            let mut offset = [0_u64];
            tried(repeat(move || {
                offset[0] = 0;
                exactly(PAGE, call::splice(&file, &mut offset, &writer, Null, PAGE, 0)?)?;
                exactly(PAGE, call::splice(&reader, Null, &null, Null, PAGE, 0)?)
            }))
        }),
    CALL.named("call.tee", "pass a page from one pipe to a second one, without copying it (tee)")
        .moves(|_| PAGE as u64)
        .prepare(|_| {
            let (source, filler) = library::pipe()?;
            exactly(PAGE, library::write(&filler, &[1; PAGE])?)?;
            let (reader, writer) = roomy_pipe()?;
            tried(
                repeat(move || {
                    let _open = &filler;
                    exactly(PAGE, call::tee(&source, &writer, PAGE, 0)?)
                })
                .at_most(STOCK)
                .before(move |_| drain(&reader)),
            )
        }),
    CALL.named("call.vmsplice", "put a page of memory into a pipe without copying it").moves(|_| PAGE as u64).prepare(
        |_| {
            let (reader, writer) = roomy_pipe()?;
            let mut page = vec![1_u8; 2 * PAGE];
            let start = page.as_mut_ptr().wrapping_add(page.as_ptr().align_offset(PAGE));
            let vector = [iovec { iov_base: start.cast(), iov_len: PAGE }];
            tried(
                repeat(move || {
                    let _kept = &page;
                    // SAFETY: the page is kept, and nothing changes it.
                    let buffers = unsafe { Buffers::new(&vector) };
                    exactly(PAGE, call::vmsplice(&writer, buffers, 0)?)
                })
                .at_most(STOCK)
                .before(move |_| drain(&reader)),
            )
        },
    ),
    CALL.named("call.readahead", "request readahead of a page of a file that is already in memory")
        .prepare(|setting| steady_with(file_of(setting, PAGE)?, |file| call::readahead(&*file, 0, PAGE))),
    CALL.named("call.fadvise64", "advise that a page of a file will be needed that is already in memory").prepare(
        |setting| {
            steady_with(file_of(setting, PAGE)?, |file| call::fadvise64(&*file, 0, PAGE, libc::POSIX_FADV_WILLNEED))
        },
    ),
    PAIR.named("call.fallocate", "allocate 64 KiB of a file, and free them")
        .calls(&["fallocate", "fallocate"])
        .waits(|_| true)
        .prepare(|setting| {
            let file = file_of(setting, 0)?;
            let hole = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            tried(repeat(move || {
                exactly(0, call::fallocate(&file, 0, 0, 64 << 10)?)?;
                exactly(0, call::fallocate(&file, hole, 0, 64 << 10)?)
            }))
        }),
    PAIR.named("call.ftruncate", "lengthen an open file by a page that is a hole, and shorten it again")
        .calls(&["ftruncate", "ftruncate"])
        .prepare(|setting| {
            let file = file_of(setting, 0)?;
            tried(repeat(move || {
                exactly(0, call::ftruncate(&file, PAGE)?)?;
                exactly(0, call::ftruncate(&file, 0)?)
            }))
        }),
    PAIR.named("call.truncate", "lengthen a file by a page that is a hole, and shorten it again, both by its name")
        .calls(&["truncate", "truncate"])
        .prepare(|setting| {
            with_file(setting)?;
            tried(repeat(move || {
                exactly(0, call::truncate(c"file", PAGE)?)?;
                exactly(0, call::truncate(c"file", 0)?)
            }))
        }),
    CALL.named("call.cachestat", "ask which of a file's pages are in memory").prepare(|setting| {
        let file = file_of(setting, PAGE)?;
        let (range, mut pages) = ([0_u64, PAGE as u64], [0_u64; 5]);
        tried(repeat(move || {
            exactly(0, call::cachestat(&file, &range, &mut pages, 0)?)?;
            exactly(1, pages[0] as usize)
        }))
    }),
];

/// A block that begins at a page boundary, wherever the loop that owns it lies.
#[repr(align(4096))]
struct Placed([u8; BLOCK]);

struct Halves {
    block: Placed,
    vectors: [iovec; 2],
}

impl Halves {
    fn new() -> Halves {
        let nothing = iovec { iov_base: std::ptr::null_mut(), iov_len: BLOCK / 2 };
        Halves { block: Placed([1; BLOCK]), vectors: [nothing; 2] }
    }

    /// Their addresses, which change when the loop that owns them moves.
    #[inline(always)]
    fn vectors(&mut self) -> Buffers<'_> {
        let start = self.block.0.as_mut_ptr();
        self.vectors[0].iov_base = start.cast();
        self.vectors[1].iov_base = start.wrapping_add(BLOCK / 2).cast();
        // SAFETY: both halves are of the block, which is borrowed as long as they are.
        unsafe { Buffers::new(&self.vectors) }
    }
}

/// A loop that moves the next block of a file, filled as files usually are. Each batch begins at the beginning.
#[inline(always)]
fn onwards<B: 'static>(
    setting: &Setting,
    mut block: B,
    mut request: impl FnMut(&OwnedFd, &mut B) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    let [file, rewound] = handles(in_pieces(setting, BLOCK, (BLOCK * BLOCKS as usize, 128 << 10))?);
    let moving = repeat(move || exactly(BLOCK, request(&file, &mut block)?));
    tried(moving.at_most(BLOCKS).before(move |_| rewind(&rewound)))
}

/// A loop that moves the first block of a file from or to two buffers.
#[inline(always)]
fn in_halves(
    setting: &Setting,
    mut request: impl FnMut(&OwnedFd, Buffers<'_>) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    let mut halves = Halves::new();
    steadily_with(BLOCK, file_of(setting, PAGE)?, move |file| request(file, halves.vectors()))
}

fn second(setting: &Setting) -> Result<OwnedFd, Failure> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    Ok(library::openat(scratch(setting)?, c"second", flags, Mode::RUSR | Mode::WUSR)?)
}

/// A pipe with space for a page from each iteration of a batch. Reading it never waits.
fn roomy_pipe() -> Result<(OwnedFd, OwnedFd), Failure> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    fcntl_setpipe_size(&writer, STOCK as usize * rustix::param::page_size())?;
    Ok((reader, writer))
}

fn drain(reader: &OwnedFd) -> Result<(), Failure> {
    let mut bytes = vec![0; 16 * PAGE];
    loop {
        match library::read(reader, &mut bytes) {
            Ok(_) => {}
            Err(Errno::AGAIN) => return Ok(()),
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn rewind(file: &OwnedFd) -> Result<(), Failure> {
    exactly(0, call::lseek(file, 0, libc::SEEK_SET)?)
}
