//! Files that are read, written, made and deleted, and the waiting for their device.

use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use super::calls::{LARGE, filled, filled_in_pieces};
use super::entry::{Entry, Group, entry, unrolled};
use super::harness::{Made, Work};
use super::kernel::done;

pub(super) const GROUP: Group = Group { title: "files", entries: ENTRIES };

const MIB: usize = 1 << 20;
/// Batches of files that are deleted: ext4 passes over inodes deleted lately, so that each makes the next dearer.
pub(super) const DELETING: usize = 12;

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
        let (file, bytes) = (filled_by(MIB, 16 * MIB)?, at_page(RECORD)?);
        Ok(Work::calls(move || {
            let mut total = 0;
            assert_eq!(call!(libc::SYS_lseek, file.as_raw_fd(), 0, libc::SEEK_SET), 0, "lseek");
            loop {
                match call!(libc::SYS_read, file.as_raw_fd(), bytes, RECORD) {
                    0 => break,
                    read => total += read,
                }
            }
            total == 16 * MIB as isize
        }))
    }),
    unrolled("write.pwrite", "file=64MiB,order=sequential,over=old,record=128KiB,sync=none", overwritten),
    entry("sparse.write", "offset=0,size=4KiB", || {
        let (bytes, folder) = ([3_u8; 4096], apart()?);
        Ok(Work::calls(move || {
            let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
            let file = call!(libc::SYS_openat, folder.as_raw_fd(), c"sparse".as_ptr(), flags, 0o600);
            file >= 0
                && call!(libc::SYS_pwrite64, file, bytes.as_ptr(), 4096, 0) == 4096
                && call!(libc::SYS_close, file) == 0
                && call!(libc::SYS_unlinkat, folder.as_raw_fd(), c"sparse".as_ptr(), 0) == 0
        })
        .few(4, DELETING))
    }),
    entry("call.pwrite64", "", || overwrite(512)),
    entry("file.read.mapped", "size=4KiB", || mapped(4096, MIB)),
];

/// A file of this many bytes, all its space allocated at once, filled by writes of `piece` and on its device: how large
/// the pieces of the page cache and of the file on its device are follows from that.
fn filled_by(piece: usize, bytes: usize) -> Result<std::fs::File, String> {
    let mut file = filled(0)?;
    done("fallocate", call!(libc::SYS_fallocate, file.as_raw_fd(), 0, 0, bytes))?;
    let content = vec![b'z'; piece];
    let written = (0..bytes / piece).try_for_each(|_| std::io::Write::write_all(&mut file, &content));
    written.and_then(|()| file.sync_all()).map_err(|error| error.to_string())?;
    Ok(file)
}

/// Memory from a page boundary on, for as long as this process lives: copies to and from it take longer elsewhere.
fn at_page(bytes: usize) -> Result<*mut u8, String> {
    let (access, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE);
    let place = done("mmap", call!(libc::SYS_mmap, 0_usize, bytes, access, flags, -1, 0))?;
    Ok(std::ptr::with_exposed_provenance_mut(place))
}

/// Passes over a file, of which nothing waits to be written when a pass begins. The file is read through in between, as by
/// one who looks at what was written.
fn overwritten() -> Made {
    const RECORD: usize = 128 << 10;
    let (file, bytes) = (filled_by(RECORD, 64 * MIB)?, at_page(RECORD)?);
    Ok(Work::timed(move |times| {
        let mut time = Duration::ZERO;
        for _ in 0..times {
            assert_eq!(call!(libc::SYS_fsync, file.as_raw_fd()), 0, "fsync");
            let start = Instant::now();
            let write = |at: usize| call!(libc::SYS_pwrite64, file.as_raw_fd(), bytes, RECORD, at);
            let written = (0..64 * MIB).step_by(RECORD).filter(|at| write(*at) == RECORD as isize).count();
            time += start.elapsed();
            assert_eq!(written, 64 * MIB / RECORD, "not every record was written");
            let read = |at: usize| call!(libc::SYS_pread64, file.as_raw_fd(), bytes, RECORD, at);
            assert!((0..64 * MIB).step_by(RECORD).all(|at| read(at) == RECORD as isize), "not every record was read");
        }
        time
    })
    .few(1, usize::MAX))
}

/// A new folder, open, in a part of the file system where few files came and went: ext4 spreads the folders within one that
/// is marked as a top one. Where there is no such mark it is a folder like any other.
pub(super) fn apart() -> Result<std::fs::File, String> {
    const GET: u32 = 0x8008_6601;
    const SET: u32 = 0x4008_6602;
    const TOP: u32 = 0x2_0000;
    let open = |name: &str| std::fs::create_dir_all(name).and_then(|()| std::fs::File::open(name));
    let top = open("top").map_err(|error| format!("top: {error}"))?;
    let mut flags = 0_u32;
    if call!(libc::SYS_ioctl, top.as_raw_fd(), GET, &raw mut flags) == 0 {
        flags |= TOP;
        call!(libc::SYS_ioctl, top.as_raw_fd(), SET, &raw const flags);
    }
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    let name = format!("top/{}-{now}", std::process::id());
    open(&name).map_err(|error| format!("{name}: {error}"))
}

fn create_delete(bytes: usize) -> Made {
    let content = vec![5_u8; bytes];
    let folder = apart()?;
    Ok(Work::calls(move || {
        let at = folder.as_raw_fd();
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let file = call!(libc::SYS_openat, at, c"new".as_ptr(), flags, 0o600);
        file >= 0
            && (bytes == 0 || call!(libc::SYS_write, file, content.as_ptr(), bytes) == bytes as isize)
            && call!(libc::SYS_close, file) == 0
            && call!(libc::SYS_unlinkat, at, c"new".as_ptr(), 0) == 0
    })
    .few(4, DELETING))
}

/// The next bytes of a file, whose blocks the file system looks at.
fn overwrite(bytes: usize) -> Made {
    let (file, content, mut at) = (filled_in_pieces()?, vec![5_u8; bytes], 0);
    Ok(Work::calls(move || {
        at = (at + bytes) % LARGE;
        call!(libc::SYS_pwrite64, file.as_raw_fd(), content.as_ptr(), bytes, at) == bytes as isize
    }))
}

/// A file of this many bytes, all its pages touched through the mapping before.
#[cfg(target_arch = "x86_64")]
fn mapped(block: usize, bytes: usize) -> Made {
    if !std::arch::is_x86_feature_detected!("avx2") {
        return Err("no AVX2 here".into());
    }
    let file = filled(bytes)?;
    let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
    let place = done("mmap", call!(libc::SYS_mmap, 0_usize, bytes, libc::PROT_READ, flags, file.as_raw_fd(), 0))?;
    let first = std::ptr::with_exposed_provenance_mut::<u8>(place);
    let mut at = 0;
    Ok(Work::whole(move |times| {
        for _ in 0..times {
            super::memory::read_256(first.wrapping_add(at), block);
            at = (at + block) % bytes;
        }
    }))
}

#[cfg(not(target_arch = "x86_64"))]
fn mapped(_: usize, _: usize) -> Made {
    let _ = done;
    Err("there is a loop for x86-64 alone".into())
}
