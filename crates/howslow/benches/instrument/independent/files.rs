//! Files that are read, written, made and deleted, and the waiting for their device.

use std::os::fd::AsRawFd;
use std::time::Instant;

use super::calls::filled;
use super::entry::{Entry, Group, entry, unrolled};
use super::harness::{Made, Work};
use super::kernel::done;

pub(super) const GROUP: Group = Group { title: "files", entries: ENTRIES };

const MIB: usize = 1 << 20;

const ENTRIES: &[Entry] = &[
    entry("file.create.delete", "size=0B", || create_delete(0)),
    entry("file.create.delete", "size=10KiB", || create_delete(10 << 10)),
    unrolled("file.fsync", "", || {
        let (file, bytes) = (filled(4096)?, [3_u8; 4096]);
        done("fsync", call!(libc::SYS_fsync, file.as_raw_fd()))?;
        Ok(Work::calls(move || {
            call!(libc::SYS_pwrite64, file.as_raw_fd(), bytes.as_ptr(), 4096, 0) == 4096
                && call!(libc::SYS_fsync, file.as_raw_fd()) == 0
        })
        .at_most(16))
    }),
    unrolled("read.read.unused", "file=16MiB,order=sequential,record=128KiB,state=warm", || {
        const RECORD: usize = 128 << 10;
        let (file, mut bytes) = (filled(16 * MIB)?, vec![0_u8; RECORD]);
        Ok(Work::calls(move || {
            let mut total = 0;
            assert_eq!(call!(libc::SYS_lseek, file.as_raw_fd(), 0, libc::SEEK_SET), 0, "lseek");
            loop {
                match call!(libc::SYS_read, file.as_raw_fd(), bytes.as_mut_ptr(), RECORD) {
                    0 => break,
                    read => total += read,
                }
            }
            total == 16 * MIB as isize
        }))
    }),
    unrolled("write.pwrite", "file=1MiB,order=sequential,over=old,record=128KiB,sync=none", || {
        const RECORD: usize = 128 << 10;
        let (file, bytes) = (filled(MIB)?, vec![9_u8; RECORD]);
        Ok(Work::calls(move || {
            let write = |at: usize| call!(libc::SYS_pwrite64, file.as_raw_fd(), bytes.as_ptr(), RECORD, at);
            (0..MIB).step_by(RECORD).all(|at| write(at) == RECORD as isize)
        }))
    }),
    entry("sparse.write", "offset=0,size=4KiB", || {
        let bytes = [3_u8; 4096];
        Ok(Work::calls(move || {
            let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
            let file = call!(libc::SYS_openat, libc::AT_FDCWD, c"sparse".as_ptr(), flags, 0o600);
            file >= 0
                && call!(libc::SYS_pwrite64, file, bytes.as_ptr(), 4096, 0) == 4096
                && call!(libc::SYS_close, file) == 0
                && call!(libc::SYS_unlinkat, libc::AT_FDCWD, c"sparse".as_ptr(), 0) == 0
        })
        .at_most(32))
    }),
    entry("call.pwrite64", "", || overwrite(512, 4096)),
    entry("file.read.mapped", "size=4KiB", || mapped(4096)),
];

fn create_delete(bytes: usize) -> Made {
    let content = vec![5_u8; bytes];
    let folder = std::fs::File::open(".").map_err(|error| error.to_string())?;
    Ok(Work::calls(move || {
        let at = folder.as_raw_fd();
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let file = call!(libc::SYS_openat, at, c"new".as_ptr(), flags, 0o600);
        file >= 0
            && (bytes == 0 || call!(libc::SYS_write, file, content.as_ptr(), bytes) == bytes as isize)
            && call!(libc::SYS_close, file) == 0
            && call!(libc::SYS_unlinkat, at, c"new".as_ptr(), 0) == 0
    })
    .at_most(32))
}

fn overwrite(bytes: usize, size: usize) -> Made {
    let (file, content) = (filled(size)?, vec![5_u8; bytes]);
    Ok(Work::calls(move || {
        call!(libc::SYS_pwrite64, file.as_raw_fd(), content.as_ptr(), bytes, 0) == bytes as isize
    }))
}

/// A file of 16 MiB, all its pages touched through the mapping before.
fn mapped(block: usize) -> Made {
    let file = filled(16 * MIB)?;
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    let place =
        done("mmap", call!(libc::SYS_mmap, 0_usize, 16 * MIB, libc::PROT_READ, flags, file.as_raw_fd(), 0))?;
    let first = std::ptr::with_exposed_provenance::<u64>(place);
    // SAFETY: the mapping is that long, aligned, and stays; nothing writes the file.
    let words = unsafe { std::slice::from_raw_parts(first, 2 * MIB) };
    let sum = |words: &[u64]| words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
    let block = block / 8;
    let expected = sum(&words[..block]);
    let mut at = 0;
    Ok(Work::timed(move |times| {
        let mut right = 0;
        let start = Instant::now();
        for _ in 0..times {
            right += u64::from(std::hint::black_box(sum(&words[at..at + block])) == expected);
            at = (at + block) % words.len();
        }
        let time = start.elapsed();
        assert_eq!(right, times, "a sum was wrong");
        time
    }))
}
