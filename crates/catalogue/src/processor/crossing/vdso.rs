//! The vDSO: kernel code that is mapped into every process and called without entering the kernel. It is found as the
//! dynamic linker finds it, because a static program has no dynamic linker.

use operation::{Failure, Operation, Value, repeat, term};

use super::CROSSING;
use super::text::{CALLS, OF_A_TURN, sixteen_times};
use crate::kit::{ensure, exactly};

/// The kernel's name of the procedure that returns a clock's resolution. It reads one word of the page shared with the
/// kernel and, unlike reading a clock, needs no counter of the processor.
const PROCEDURE: &str = if cfg!(target_arch = "aarch64") { "__kernel_clock_getres" } else { "__vdso_clock_getres" };

type ClockGetres = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

pub(crate) const OPERATIONS: &[Operation] = &[CROSSING
    .id("crossing.vdso")
    .summary("call the kernel's own code in this process's memory, with 2 arguments (the vDSO's clock_getres)")
    .terms(OF_A_TURN)
    .explained_by(&[term(1.0, "crossing.procedure").at(&[("arguments", Value::Number(2))])])
    .at_least(&["crossing.procedure"])
    .prepare(|_| {
        let absent = |what: &str| Failure::skip(what, "a kernel, or an emulator, that maps a vDSO with clock_getres");
        let image = Image::here().ok_or_else(|| absent("there is no vDSO in this process"))?;
        let address = image.procedure(PROCEDURE).ok_or_else(|| absent("the vDSO has no clock_getres"))?;
        // SAFETY: the vDSO's own table lists a procedure with this name, and the kernel fixes its type.
        let get_resolution = unsafe { std::mem::transmute::<*const u8, ClockGetres>(address) };
        let mut step = Box::new(libc::timespec { tv_sec: 0, tv_nsec: 0 });
        let turns = repeat(move || {
            *step = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            let mut refused = 0;
            // SAFETY: it writes one timespec, and receives a valid one.
            sixteen_times!(refused |= unsafe { get_resolution(libc::CLOCK_MONOTONIC, &mut *step) });
            exactly(0, refused as usize)?;
            ensure(step.tv_sec > 0 || step.tv_nsec > 0, || "the clock has no resolution")
        });
        Ok(turns.unrolled(CALLS))
    })];

/// The vDSO as it lies in memory: an ELF shared object (System V ABI, chapters 4 and 5).
struct Image {
    bytes: &'static [u8],
    /// The address that the file gives its first byte.
    base: u64,
}

const PROGRAM_HEADER: usize = 56;
const SYMBOL: usize = 24;
const LOADED: u32 = 1;
const DYNAMIC: u32 = 2;
const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;

impl Image {
    /// The vDSO that the kernel reports to have mapped.
    fn here() -> Option<Image> {
        // SAFETY: reads a number that this process was started with.
        let start = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as *const u8;
        if start.is_null() {
            return None;
        }
        // SAFETY: the kernel maps whole pages, the first of which begins with the headers, and never unmaps them.
        let first = unsafe { std::slice::from_raw_parts(start, 4096) };
        let (base, length) = extent(first)?;
        // SAFETY: the headers say that this number of bytes is loaded.
        Some(Image { bytes: unsafe { std::slice::from_raw_parts(start, length) }, base })
    }

    fn procedure(&self, name: &str) -> Option<*const u8> {
        let dynamic = segments(self.bytes).into_iter().find(|segment| segment.kind == DYNAMIC)?;
        let dynamic = self.offset(dynamic.address)?;
        let entries = (dynamic..).step_by(16).map_while(|at| Some((long(self.bytes, at)?, long(self.bytes, at + 8)?)));
        let entries: Vec<(u64, u64)> = entries.take_while(|(tag, _)| *tag != 0).collect();
        let entry = |wanted| self.offset(entries.iter().find(|(tag, _)| *tag == wanted)?.1);
        let (symbols, strings) = (entry(SYMBOLS)?, entry(STRINGS)?);
        // Linkers put the strings behind the symbols. Without hashing, nothing else gives the number of symbols.
        let wanted = [name.as_bytes(), b"\0"].concat();
        let mut all = (symbols..strings).step_by(SYMBOL);
        let symbol = all.find(|&at| {
            let here = int(self.bytes, at).and_then(|name| self.bytes.get(strings + name as usize..));
            let section = self.bytes.get(at + 6..at + 8);
            here.is_some_and(|text| text.starts_with(&wanted)) && section.is_some_and(|section| section != [0, 0])
        })?;
        let offset = self.offset(long(self.bytes, symbol + 8)?)?;
        self.bytes.get(offset..).map(<[u8]>::as_ptr)
    }

    /// The offset in the image of an address of the file. A loader may have relocated it to an address of this process.
    fn offset(&self, address: u64) -> Option<usize> {
        let start = self.bytes.as_ptr() as u64;
        let base = if address >= start { start } else { self.base };
        usize::try_from(address.checked_sub(base)?).ok().filter(|&offset| offset < self.bytes.len())
    }
}

/// The lowest address of the file, and the number of bytes loaded from there.
fn extent(first: &[u8]) -> Option<(u64, usize)> {
    if !first.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let loaded: Vec<Segment> = segments(first).into_iter().filter(|segment| segment.kind == LOADED).collect();
    let base = loaded.iter().map(|segment| segment.address).min()?;
    let end = loaded.iter().map(|segment| segment.address.saturating_add(segment.size)).max()?;
    Some((base, usize::try_from(end - base).ok()?))
}

/// What a program header says of a part of the file.
struct Segment {
    kind: u32,
    address: u64,
    size: u64,
}

/// The program headers, as far as they lie within these bytes.
fn segments(bytes: &[u8]) -> Vec<Segment> {
    let count = bytes.get(56..58).and_then(|field| field.try_into().ok()).map_or(0, u16::from_le_bytes);
    let start = long(bytes, 32).and_then(|start| usize::try_from(start).ok()).unwrap_or(usize::MAX);
    let header = |number: u16| {
        let at = start.checked_add(usize::from(number) * PROGRAM_HEADER)?;
        Some(Segment { kind: int(bytes, at)?, address: long(bytes, at + 16)?, size: long(bytes, at + 40)? })
    };
    (0..count).map_while(header).collect()
}

/// Four bytes as a number; `None` if they are missing.
fn int(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

/// Eight bytes as a number; `None` if they are missing.
fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_there_is_not_found() {
        match Image::here() {
            Some(image) => {
                assert!(image.procedure(PROCEDURE).is_some(), "every kernel's has it since 5.3");
                assert!(image.procedure("__vdso_clock_get").is_none(), "a name's beginning is no name");
            }
            None => testing::not_tested!("there is no vDSO here; run on a kernel that maps one"),
        }
    }

    #[test]
    fn damaged_headers_are_no_image() {
        assert!(extent(b"\x7fELF\x01").is_none());
        let mut header = [0xff_u8; 4096];
        assert!(extent(&header).is_none());
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert!(extent(&header).is_none());
    }
}
