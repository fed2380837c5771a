//! The program that nodes run: which architecture it is for, and whether it needs a dynamic linker.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::FleetError;

/// An architecture that howslow runs on, by the name that `uname -m` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Architecture {
    /// x86-64.
    #[serde(rename = "x86_64")]
    X86,
    /// 64-bit Arm.
    #[serde(rename = "aarch64")]
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

/// Offsets and values of ELF64, from the System V ABI: `e_machine`, `e_phoff`, `e_phentsize`, `e_phnum`, `PT_INTERP`.
const MACHINE: usize = 18;
const HEADERS_AT: usize = 32;
const HEADER_SIZE: usize = 54;
const HEADER_COUNT: usize = 56;
const INTERPRETER: u64 = 3;
const X86: u64 = 62;
const ARM: u64 = 183;

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

fn parse(head: &[u8]) -> Option<(Architecture, bool)> {
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let field = head.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    // ELF, 64 bits, little end first.
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let architecture = match number(MACHINE, 2)? {
        X86 => Architecture::X86,
        ARM => Architecture::Arm,
        _ => return None,
    };
    let (at, size) = (number(HEADERS_AT, 8)? as usize, number(HEADER_SIZE, 2)? as usize);
    let mut is_static = true;
    for header in 0..number(HEADER_COUNT, 2)? as usize {
        is_static &= number(at.checked_add(header * size)?, 4)? != INTERPRETER;
    }
    Some((architecture, is_static))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of ELF with one program header of this type.
    fn elf(machine: u8, header: u8) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[MACHINE] = machine;
        bytes[HEADERS_AT] = 64;
        bytes[HEADER_SIZE] = 56;
        bytes[HEADER_COUNT] = 1;
        bytes[64] = header;
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
        far[HEADERS_AT..HEADERS_AT + 8].fill(0xff);
        for bytes in [&b""[..], b"#!/bin/sh\n", &elf(8, 1), &elf(62, 1)[..66], &far] {
            assert_eq!(parse(bytes), None);
        }
        assert!(Program::read(Path::new("/etc/passwd")).is_err_and(|error| error.is_misuse()));
    }
}
