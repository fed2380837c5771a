//! The program that nodes run: which architecture it is for, and whether it needs a dynamic linker.

use std::io::Read;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{EM_AARCH64, EM_X86_64, FileHeader64, PT_INTERP};
use object::read::elf::{FileHeader as _, ProgramHeader as _};

use crate::error::FleetError;

/// An architecture that howslow runs on, by the name that `uname -m` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    X86,
    Arm,
}

impl Architecture {
    /// The name that `uname -m` gives.
    pub fn name(self) -> &'static str {
        match self {
            Architecture::X86 => "x86_64",
            Architecture::Arm => "aarch64",
        }
    }
}

/// A program that can be sent to nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub file: PathBuf,
    pub architecture: Architecture,
    /// True if it needs no dynamic linker and no library.
    pub is_static: bool,
}

impl Program {
    /// Reads what a file is. Fails if it cannot be read, or is no program for Linux on an architecture that howslow knows.
    pub fn read(file: &Path) -> Result<Program, FleetError> {
        const MOST: u64 = 64 << 10;
        let mut head = Vec::new();
        let opened = record::open_input(file).and_then(|opened| opened.take(MOST).read_to_end(&mut head));
        opened.map_err(|source| FleetError::io("read", file, source))?;
        let (architecture, is_static) = parse(&head).ok_or_else(|| {
            let text = format!("{} is no program for Linux on x86-64 or aarch64", file.display());
            FleetError::Misuse(record::printable(&text))
        })?;
        Ok(Program { file: file.into(), architecture, is_static })
    }
}

/// What the beginning of a file is, if that is ELF of 64 bits, little end first.
fn parse(head: &[u8]) -> Option<(Architecture, bool)> {
    let elf = FileHeader64::<Endianness>::parse(head).ok()?;
    let architecture = match elf.e_machine(Endianness::Little) {
        EM_X86_64 => Architecture::X86,
        EM_AARCH64 => Architecture::Arm,
        _ => return None,
    };
    let headers = elf.program_headers(Endianness::Little, head).ok().filter(|_| elf.is_little_endian())?;
    Some((architecture, headers.iter().all(|header| header.p_type(Endianness::Little) != PT_INTERP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of ELF with one program header of this type.
    fn elf(machine: u8, header: u8) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        // `e_machine`, `e_phoff`, `e_phentsize`, `e_phnum`, and `p_type`.
        for (at, value) in [(18, machine), (32, 64), (54, 56), (56, 1), (64, header)] {
            bytes[at] = value;
        }
        bytes
    }

    #[test]
    fn a_program_shows_what_it_needs() {
        assert_eq!(parse(&elf(62, 1)), Some((Architecture::X86, true)));
        assert_eq!(parse(&elf(183, 3)), Some((Architecture::Arm, false)));
        let own = Program::read(Path::new("/proc/self/exe")).expect("this program");
        assert_eq!(own.architecture.name(), std::env::consts::ARCH);
        assert_eq!(own.is_static, cfg!(target_env = "musl"));
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let mut far = elf(62, 1);
        far[32..40].fill(0xff);
        for bytes in [&b""[..], b"#!/bin/sh\n", &elf(8, 1), &elf(62, 1)[..66], &far] {
            assert_eq!(parse(bytes), None);
        }
        assert!(Program::read(Path::new("/etc/passwd")).is_err_and(|error| error.is_misuse()));
    }
}
