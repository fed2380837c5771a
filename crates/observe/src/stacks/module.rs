//! A file of a program: where a process has it in its memory, and its tables of callers.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, EndianRcSlice, NativeEndian, ParsedEhFrameHdr};
use object::{Object, ObjectSection, ObjectSegment};

/// The end of a name that no file has any more.
const DELETED: &str = " (deleted)";

/// Larger files are not read.
const MOST_BYTES: u64 = 512 << 20;

pub(super) type Bytes = EndianRcSlice<NativeEndian>;

/// A file of a program. Several may have one path, in containers and after an upgrade.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ProgramFile {
    pub path: PathBuf,
    pub device: String,
    pub inode: u64,
}

/// An address of a program: its file and the address in it; without a file, memory that the program wrote itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub file: Option<ProgramFile>,
    pub address: u64,
    /// True if it is in the file that the process executes.
    pub own: bool,
}

/// Executable memory of a process.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    begin: u64,
    end: u64,
    offset: u64,
    pub file: Option<ProgramFile>,
    /// The same file as this process sees it, which may be in a container.
    through: PathBuf,
    pub own: bool,
}

impl Mapping {
    /// Reads a line of the maps of a process that executes this file; `None` if it is not executable.
    fn read(process: u32, executed: &str, line: &str) -> Option<Mapping> {
        let (range, rest) = line.split_once(' ')?;
        let (begin, end) = range.split_once('-')?;
        let mut fields = rest.split_ascii_whitespace();
        fields.next().filter(|rights| rights.contains('x'))?;
        let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let (begin, end, offset) = (number(begin)?, number(end)?, number(fields.next()?)?);
        let (device, inode) = (fields.next()?.into(), fields.next()?.parse().ok()?);
        // The name may hold blanks.
        let name = line.find('/').map(|place| &line[place..]);
        let through = match name {
            // What has its name now is another file.
            Some(name) if name.ends_with(DELETED) => format!("/proc/{process}/map_files/{begin:x}-{end:x}"),
            name => format!("/proc/{process}/root{}", name.unwrap_or_default()),
        };
        let own = name == Some(executed);
        let file = name.map(|name| ProgramFile { path: name.trim_end_matches(DELETED).into(), device, inode });
        Some(Mapping { begin, end, offset, file, through: through.into(), own })
    }

    /// The mapping of an address.
    pub(super) fn of(all: &[Mapping], address: u64) -> Option<&Mapping> {
        all.iter().find(|mapping| (mapping.begin..mapping.end).contains(&address))
    }

    /// The offset of an address in the file.
    pub(super) fn in_file(&self, address: u64) -> u64 {
        address - self.begin + self.offset
    }

    /// The file, open, so that it can be read when the process is gone; `None` if it is no regular one, or no longer there.
    pub(super) fn open(&self) -> Option<File> {
        let file = self.file.as_ref()?;
        let through = fs::metadata(&self.through).map(|found| (&self.through, found));
        // Of a process that is gone, the file that this process sees may be another one.
        let own =
            || fs::metadata(&file.path).ok().filter(|found| found.ino() == file.inode).map(|found| (&file.path, found));
        let (path, found) = through.ok().or_else(own)?;
        found.is_file().then(|| File::open(path).ok()).flatten()
    }
}

/// The executable memory of a process, as it is now; nothing of one that is gone.
pub(super) fn mappings(process: u32) -> Vec<Mapping> {
    let executed = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    let text = fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
    let (executed, text) = (executed.to_string_lossy(), String::from_utf8_lossy(&text));
    text.lines().filter_map(|line| Mapping::read(process, &executed, line)).collect()
}

/// The contents of a program's file, unless it is too large.
pub(super) fn contents(file: &File) -> Option<Vec<u8>> {
    let size = file.metadata().ok()?.len();
    let mut bytes = vec![0; usize::try_from(size).ok().filter(|_| size <= MOST_BYTES)?];
    file.read_exact_at(&mut bytes, 0).ok().map(|()| bytes)
}

/// What is needed of a file to find callers.
#[derive(Debug)]
pub(super) struct Module {
    /// Of each loaded part: its offset in the file, its size there, its address.
    segments: Vec<(u64, u64, u64)>,
    pub bases: BaseAddresses,
    pub frames: EhFrame<Bytes>,
    pub index: ParsedEhFrameHdr<Bytes>,
}

impl Module {
    /// Reads a file; `None` if it has no such tables.
    pub(super) fn read(file: &File) -> Option<Module> {
        let bytes = contents(file)?;
        let file = object::File::parse(bytes.as_slice()).ok()?;
        let segments = file.segments().map(|part| {
            let (offset, size) = part.file_range();
            (offset, size, part.address())
        });
        let segments = segments.collect();
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            Some((section.address(), EndianRcSlice::new(section.data().ok()?.into(), NativeEndian)))
        };
        let (text, (at_frames, frames), (at_index, index)) =
            (section(".text").map_or(0, |(address, _)| address), section(".eh_frame")?, section(".eh_frame_hdr")?);
        let bases = BaseAddresses::default().set_text(text).set_eh_frame(at_frames).set_eh_frame_hdr(at_index);
        let index = EhFrameHdr::from(index).parse(&bases, 8).ok()?;
        let mut frames = EhFrame::from(frames);
        if cfg!(target_arch = "aarch64") {
            // Return addresses may be signed.
            frames.set_vendor(gimli::Vendor::AArch64);
        }
        Some(Module { segments, bases, frames, index })
    }

    /// The address of an offset of the file, by which tables and symbols go.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        let part = self.segments.iter().find(|(begin, size, _)| (*begin..begin + size).contains(&offset));
        part.map(|(begin, _, address)| offset - begin + address)
    }
}

#[cfg(test)]
mod tests {
    use super::super::symbols::Symbols;
    use super::*;

    #[test]
    fn a_file_that_was_replaced_is_found_by_its_memory() {
        let begin = "0055d0a000-0055d0b000 r-xp 00001000 fe:01 23 ";
        let read =
            |name: &str| Mapping::read(7, "/a b/serve (deleted)", &format!("{begin}  {name}")).expect("a mapping");
        let (gone, there) = (read("/a b/serve (deleted)"), read("/a b/libc.so"));
        assert_eq!((gone.through.to_str(), gone.own), (Some("/proc/7/map_files/55d0a000-55d0b000"), true));
        assert_eq!(gone.file.map(|file| file.path), Some("/a b/serve".into()));
        assert_eq!((there.through.to_str(), there.own), (Some("/proc/7/root/a b/libc.so"), false));
        assert!(Mapping::read(7, "", &begin.replace('x', "-")).is_none());
    }

    #[test]
    fn this_program_is_mapped_and_has_tables() {
        let all = mappings(std::process::id());
        let here = this_program_is_mapped_and_has_tables as fn() as usize as u64;
        let mapping = Mapping::of(&all, here).expect("this function is mapped");
        assert!(mapping.own, "{mapping:?}");
        let file = mapping.open().expect("this program");
        let address = Module::read(&file).expect("tables").address(mapping.in_file(here)).expect("a place");
        assert!(mappings(u32::MAX >> 2).is_empty());
        // Its names come from what is open, whatever has its path for this process.
        let program = ProgramFile { path: "/no/such".into(), ..mapping.file.clone().expect("it has a file") };
        let place = Place { file: Some(program), address, own: true };
        let named = Symbols::default().frames(&place, Some(&file));
        assert!(named[0].function.contains("this_program_is_mapped_and_has_tables"), "{named:?}");
    }
}
