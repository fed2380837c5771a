//! The smallest program that does nothing, as an executable file.

use std::ffi::{CStr, CString};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use operation::{Failure, Setting};
use rustix::fs::Access;
use rustix::io::Errno;

use super::process::{spawn, wait_for};
use super::scratch::c_path;
use crate::kit::library::access;

/// Writes the smallest program that does nothing into the scratch folder. Returns its path.
pub(crate) fn do_nothing(setting: &Setting) -> Result<CString, Failure> {
    let path = setting.scratch().join("nothing");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o700).open(&path)?;
    file.write_all(&program())?;
    drop(file);
    match access(&path, Access::EXEC_OK) {
        Ok(()) => {}
        Err(Errno::ACCESS) => {
            let reason = "programs in the scratch folder may not be run (noexec)";
            return Err(Failure::skip(reason, "set TMPDIR to a folder where they may"));
        }
        Err(errno) => return Err(errno.into()),
    }
    let program = c_path(&path)?;
    match run_once_closed(&program) {
        Err(Failure::Errno { errno: libc::ENOEXEC }) => Err(Failure::skip(
            "the system under the emulator does not execute programs of the emulated processor",
            "register the emulator with that system (binfmt_misc; Debian: apt install qemu-user-binfmt)",
        )),
        // Other reasons why it cannot be started are reported by the loop.
        _ => Ok(program),
    }
}

/// Runs a program that was just written. A child that another thread created meanwhile holds the file open for writing until
/// it executes a program of its own: until then this one is "busy".
fn run_once_closed(program: &CStr) -> Result<(), Failure> {
    const PAUSE: Duration = Duration::from_millis(1);
    let mut pauses = 0..1000;
    loop {
        match spawn(&[program]).and_then(wait_for) {
            Err(Failure::Errno { errno: libc::ETXTBSY }) if pauses.next().is_some() => std::thread::sleep(PAUSE),
            ended => return ended,
        }
    }
}

/// `exit(0)`: xor edi, edi; mov eax, 60; syscall.
#[cfg(target_arch = "x86_64")]
const EXIT: &[u8] = &[0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05];
#[cfg(target_arch = "x86_64")]
/// The number of this processor in an ELF header.
pub(crate) const ELF_MACHINE: u16 = 62;

/// `exit(0)`: mov x0, 0; mov x8, 93; svc 0.
#[cfg(target_arch = "aarch64")]
const EXIT: &[u8] = &[0x00, 0x00, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4];
#[cfg(target_arch = "aarch64")]
/// The number of this processor in an ELF header.
pub(crate) const ELF_MACHINE: u16 = 183;

/// A static executable of one segment that holds the whole file: two headers and the code. The layout is that of
/// the ELF-64 object file format, little-endian, version 1.
pub fn program() -> Vec<u8> {
    const FILE_HEADER: u16 = 64;
    const PROGRAM_HEADER: u16 = 56;
    const HEADERS: u64 = FILE_HEADER as u64 + PROGRAM_HEADER as u64;
    const ADDRESS: u64 = 0x40_0000;
    // The largest page size of both architectures. The segment's address and offset must be equal modulo this size.
    const PAGE: u64 = 0x1_0000;
    let whole = HEADERS + EXIT.len() as u64;

    let mut file = Vec::with_capacity(whole as usize);
    // 64-bit, little-endian, version 1, no particular system.
    file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    // Executable, for this machine, version 1.
    file.extend([2, ELF_MACHINE, 1, 0].map(u16::to_le_bytes).as_flattened());
    // Entry point, offset of the program headers, no sections.
    file.extend([ADDRESS + HEADERS, u64::from(FILE_HEADER), 0].map(u64::to_le_bytes).as_flattened());
    // No flags (two halves); sizes of the headers; one program header; no sections.
    file.extend([0, 0, FILE_HEADER, PROGRAM_HEADER, 1, 0, 0, 0].map(u16::to_le_bytes).as_flattened());
    // To be loaded, readable and executable.
    file.extend([1_u32, 4 | 1].map(u32::to_le_bytes).as_flattened());
    // From the beginning of the file, to the address (virtual and physical), size in file and memory, alignment.
    file.extend([0, ADDRESS, ADDRESS, whole, whole, PAGE].map(u64::to_le_bytes).as_flattened());
    file.extend(EXIT);
    file
}
