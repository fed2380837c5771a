//! System calls on files by their names, and on sockets. Names are relative to a folder of the process's own.

use std::ffi::CStr;
use std::os::fd::AsRawFd;
use std::time::Instant;

use super::calls::{filled, made};
use super::entry::{Entry, Group, entry};
use super::files::{DELETING, apart};
use super::harness::Work;
use super::kernel::done;

pub(super) const GROUP: Group = Group { title: "calls on files and sockets", entries: ENTRIES };

const FILE: &CStr = c"file";
const AT: i32 = libc::AT_FDCWD;
/// Names that a batch makes.
const MOST: usize = 8;

const ENTRIES: &[Entry] = &[
    entry("syscall.fstat", "", || {
        let (file, mut about) = (filled(100)?, [0_u64; 18]);
        Ok(Work::calls(move || call!(libc::SYS_fstat, file.as_raw_fd(), about.as_mut_ptr()) == 0))
    }),
    entry("syscall.stat", "", || {
        let (folder, mut about) = (folder()?, [0_u64; 18]);
        Ok(Work::calls(move || {
            call!(libc::SYS_newfstatat, folder.as_raw_fd(), FILE.as_ptr(), about.as_mut_ptr(), 0) == 0
        }))
    }),
    entry("syscall.open.close", "", || {
        let folder = folder()?;
        Ok(Work::calls(move || {
            let file = call!(libc::SYS_openat, folder.as_raw_fd(), FILE.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            file >= 0 && call!(libc::SYS_close, file) == 0
        }))
    }),
    entry("call.statx", "", || {
        let (folder, mut about) = (folder()?, [0_u64; 32]);
        let wanted = libc::STATX_BASIC_STATS | libc::STATX_BTIME;
        Ok(Work::calls(move || {
            call!(libc::SYS_statx, folder.as_raw_fd(), FILE.as_ptr(), 0, wanted, about.as_mut_ptr()) == 0
        }))
    }),
    entry("call.faccessat", "", || {
        let folder = folder()?;
        Ok(Work::calls(move || call!(libc::SYS_faccessat, folder.as_raw_fd(), FILE.as_ptr(), libc::R_OK) == 0))
    }),
    entry("call.fchmod", "", || {
        let file = filled(1)?;
        Ok(Work::calls(move || call!(libc::SYS_fchmod, file.as_raw_fd(), 0o600) == 0))
    }),
    entry("call.fstatfs", "", || {
        let (file, mut about) = (filled(1)?, [0_u64; 16]);
        Ok(Work::calls(move || call!(libc::SYS_fstatfs, file.as_raw_fd(), about.as_mut_ptr()) == 0))
    }),
    entry("call.readlinkat", "", || {
        let (folder, mut text) = (folder()?, [0_u8; 256]);
        done("symlinkat", call!(libc::SYS_symlinkat, FILE.as_ptr(), AT, c"link".as_ptr()))?;
        Ok(Work::calls(move || {
            call!(libc::SYS_readlinkat, folder.as_raw_fd(), c"link".as_ptr(), text.as_mut_ptr(), 256) == 4
        }))
    }),
    entry("call.getcwd", "", || {
        let mut text = [0_u8; 4096];
        Ok(Work::calls(move || call!(libc::SYS_getcwd, text.as_mut_ptr(), 4096) > 1))
    }),
    entry("call.umask", "", || Ok(Work::calls(|| call!(libc::SYS_umask, 0o22) >= 0))),
    entry("call.renameat", "", || {
        let folder = folder()?;
        let (mut here, mut there) = (FILE, c"elif");
        Ok(Work::calls(move || {
            let at = folder.as_raw_fd();
            let done = call!(libc::SYS_renameat2, at, here.as_ptr(), at, there.as_ptr(), 0) == 0;
            (here, there) = (there, here);
            done
        }))
    }),
    entry("call.mkdirat", "", || {
        // All are kept: one that is made where another was removed just before is cheaper by a third.
        let (folder, mut made) = (apart()?, 0);
        Ok(Work::timed(move |times| {
            let names = (0..times).map(|number| std::ffi::CString::new(format!("made{}", made + number)));
            let names: Vec<_> = names.collect::<Result<_, _>>().unwrap_or_default();
            made += times;
            let start = Instant::now();
            let right = names.iter().filter(|name| made_folder(folder.as_raw_fd(), name)).count();
            let time = start.elapsed();
            assert_eq!(right as u64, times, "not every folder was made");
            time
        })
        .few(MOST as u64, DELETING))
    }),
    entry("call.getxattr", "", || {
        let mut value = [0_u8; 64];
        attribute(0)?;
        Ok(Work::calls(move || {
            call!(libc::SYS_getxattr, FILE.as_ptr(), c"user.howslow".as_ptr(), value.as_mut_ptr(), 64) == 16
        }))
    }),
    entry("call.setxattr", "", || {
        attribute(1)?;
        let mut turn = 0_u8;
        Ok(Work::calls(move || {
            turn ^= 1;
            set_attribute(&[turn; 16]) == 0
        }))
    }),
    entry("call.getsockname", "", || {
        let socket = made(call!(libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0))?;
        let (mut name, mut length) = ([0_u8; 16], 16_u32);
        Ok(Work::calls(move || {
            call!(libc::SYS_getsockname, socket.as_raw_fd(), name.as_mut_ptr(), &raw mut length) == 0 && length == 16
        }))
    }),
    entry("pair.sockopt", "", || {
        // Of a connection, whose timer it sets and stops.
        let [socket, other] = super::messages::tcp()?;
        let (mut on, mut found, mut length) = (0_i32, 0_i32, 4_u32);
        let (level, name) = (libc::SOL_SOCKET, libc::SO_KEEPALIVE);
        Ok(Work::calls(move || {
            let (at, _open) = (socket.as_raw_fd(), &other);
            on ^= 1;
            call!(libc::SYS_setsockopt, at, level, name, &raw const on, 4) == 0
                && call!(libc::SYS_getsockopt, at, level, name, &raw mut found, &raw mut length) == 0
                && found == on
        }))
    }),
];

/// The folder of this process, open, with a file in it.
fn folder() -> Result<std::fs::File, String> {
    let made = std::fs::write("file", b"some bytes").and_then(|()| std::fs::File::open("."));
    made.map_err(|error| format!("cannot make a file: {error}"))
}

#[inline(always)]
fn made_folder(at: i32, name: &CStr) -> bool {
    call!(libc::SYS_mkdirat, at, name.as_ptr(), 0o700) == 0
}

/// A file with an attribute of 16 bytes.
fn attribute(byte: u8) -> Result<(), String> {
    folder()?;
    done("setxattr", set_attribute(&[byte; 16]))?;
    Ok(())
}

#[inline(always)]
fn set_attribute(value: &[u8; 16]) -> isize {
    call!(libc::SYS_setxattr, FILE.as_ptr(), c"user.howslow".as_ptr(), value.as_ptr(), 16, 0)
}
