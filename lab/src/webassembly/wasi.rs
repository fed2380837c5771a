//! What the guests of `mode` request from their host: the file calls of WASI preview 1 on files opened for them, as far as
//! the guests use them. Both engines use this one implementation, so that differences are those of the engines. WASI's
//! interface: github.com/WebAssembly/WASI, legacy/preview1/docs.md.

use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, seek};
use rustix::io::{self, pread, read};

/// WASI's error numbers.
const SUCCESS: i32 = 0;
const BAD_DESCRIPTOR: i32 = 8;
const BAD_ADDRESS: i32 = 21;
const INVALID: i32 = 28;
const INPUT_OUTPUT: i32 = 29;

/// The guest's first descriptor that is not a standard stream.
const FIRST: usize = 3;

/// Bytes of an element of a vector: an address and a length.
const ELEMENT: usize = 8;

/// A guest's host: its open files, and the engine's handle of its memory, once that exists.
pub(super) struct WasiHost<M> {
    pub(super) files: Vec<OwnedFd>,
    pub(super) memory: Option<M>,
}

impl<M> WasiHost<M> {
    /// `fd_read`: fills the guest's vector from a file's current position and stores the number of bytes read.
    pub(super) fn read(&self, memory: &mut [u8], descriptor: i32, vector: (i32, i32), result: i32) -> i32 {
        self.file(descriptor).and_then(|file| fill(memory, vector, result, |part, _| read(file, part))).err_or_success()
    }

    /// `fd_pread`: the same from a given position.
    pub(super) fn read_at(
        &self,
        memory: &mut [u8],
        descriptor: i32,
        vector: (i32, i32),
        (offset, result): (i64, i32),
    ) -> i32 {
        let Ok(offset) = u64::try_from(offset) else { return INVALID };
        self.file(descriptor)
            .and_then(|file| fill(memory, vector, result, |part, before| pread(file, part, offset + before)))
            .err_or_success()
    }

    /// `fd_seek`: moves a file's current position and stores it.
    pub(super) fn seek(&self, memory: &mut [u8], descriptor: i32, (offset, whence): (i64, i32), result: i32) -> i32 {
        let place = match (whence, u64::try_from(offset)) {
            (0, Ok(offset)) => SeekFrom::Start(offset),
            (1, _) => SeekFrom::Current(offset),
            (2, _) => SeekFrom::End(offset),
            _ => return INVALID,
        };
        self.file(descriptor)
            .and_then(|file| store(memory, result, &seek(file, place).map_err(|_| INPUT_OUTPUT)?.to_le_bytes()))
            .err_or_success()
    }

    fn file(&self, descriptor: i32) -> Result<&OwnedFd, i32> {
        let place = usize::try_from(descriptor).ok().and_then(|descriptor| descriptor.checked_sub(FIRST));
        place.and_then(|place| self.files.get(place)).ok_or(BAD_DESCRIPTOR)
    }
}

/// Reads into the parts that a vector (its address, its length) names, until one is not filled, and stores the number of
/// bytes read. `read` receives a part and the number of bytes read before it.
fn fill(
    memory: &mut [u8],
    (vector, count): (i32, i32),
    result: i32,
    read: impl Fn(&mut [u8], u64) -> io::Result<usize>,
) -> Result<(), i32> {
    let mut total = 0_u32;
    for index in 0..count as u32 as usize {
        let element = range(memory, vector as u32 as usize + index * ELEMENT, ELEMENT)?;
        let (address, length) = (word(&element[..4]) as usize, word(&element[4..]) as usize);
        let came = read(range(memory, address, length)?, total.into()).map_err(|_| INPUT_OUTPUT)?;
        total += came as u32;
        if came < length {
            break;
        }
    }
    store(memory, result, &total.to_le_bytes())
}

fn store(memory: &mut [u8], at: i32, bytes: &[u8]) -> Result<(), i32> {
    range(memory, at as u32 as usize, bytes.len())?.copy_from_slice(bytes);
    Ok(())
}

/// A part of the guest's memory, if it lies within it.
fn range(memory: &mut [u8], at: usize, length: usize) -> Result<&mut [u8], i32> {
    memory.get_mut(at..at + length).ok_or(BAD_ADDRESS)
}

fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

/// The number a WASI call returns.
trait Returned {
    fn err_or_success(self) -> i32;
}

impl Returned for Result<(), i32> {
    fn err_or_success(self) -> i32 {
        self.err().unwrap_or(SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A host with one file of ten bytes, and a memory with a vector of 4 and of 8 bytes at address 0; both parts point to
    /// address 32.
    fn given() -> (WasiHost<()>, Vec<u8>) {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"0123456789").expect("written");
        let mut memory = vec![0; 64];
        for (place, value) in [32_u32, 4, 36, 8].into_iter().enumerate() {
            memory[4 * place..4 * place + 4].copy_from_slice(&value.to_le_bytes());
        }
        (WasiHost { files: vec![file.into()], memory: None }, memory)
    }

    #[test]
    fn a_vector_is_filled_from_a_place_as_far_as_the_file_goes() {
        let (host, mut memory) = given();
        assert_eq!(host.read_at(&mut memory, 3, (0, 2), (1, 16)), SUCCESS);
        assert_eq!(&memory[32..41], b"123456789");
        assert_eq!(memory[16], 9);
        assert_eq!(host.read_at(&mut memory, 3, (0, 2), (10, 16)), SUCCESS);
        assert_eq!(memory[16], 0);
    }

    #[test]
    fn reading_goes_on_from_where_it_was_sought() {
        let (host, mut memory) = given();
        assert_eq!(host.seek(&mut memory, 3, (-4, 2), 16), SUCCESS);
        assert_eq!(memory[16], 6);
        assert_eq!(host.read(&mut memory, 3, (0, 1), 16), SUCCESS);
        assert_eq!((&memory[32..36], memory[16]), (&b"6789"[..], 4));
        assert_eq!(host.seek(&mut memory, 3, (0, 1), 16), SUCCESS);
        assert_eq!(memory[16], 10);
    }

    #[test]
    fn what_a_guest_must_not_do_is_refused() {
        let (host, mut memory) = given();
        for descriptor in [-1, 0, 2, 4, i32::MAX] {
            assert_eq!(host.read(&mut memory, descriptor, (0, 1), 16), BAD_DESCRIPTOR, "{descriptor}");
        }
        assert_eq!(host.read(&mut memory, 3, (60, 1), 16), BAD_ADDRESS);
        assert_eq!(host.read(&mut memory, 3, (-8, 1), 16), BAD_ADDRESS);
        assert_eq!(host.read(&mut memory, 3, (0, 1), 61), BAD_ADDRESS);
        assert_eq!(host.read_at(&mut memory, 3, (0, 1), (-1, 16)), INVALID);
        assert_eq!(host.seek(&mut memory, 3, (-1, 0), 16), INVALID);
        assert_eq!(host.seek(&mut memory, 3, (0, 3), 16), INVALID);
        memory[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(host.read(&mut memory, 3, (0, 1), 16), BAD_ADDRESS);
    }
}
