//! Names of places: function, file and line by debug information, else the function by the symbols of the file.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use addr2line::Context;
use gimli::{Dwarf, EndianRcSlice, NativeEndian};
use object::{Object, ObjectSection, ObjectSymbol};
use record::StackFrame;

use super::module::{Bytes, Place, ProgramFile, contents};

/// Files whose symbols were read, and places that were named.
#[derive(Default)]
pub(super) struct Symbols {
    files: HashMap<ProgramFile, Option<SymbolFile>>,
    named: HashMap<Place, Vec<StackFrame>>,
}

/// The symbols of a file, and its debug information if it has some.
struct SymbolFile {
    lines: Option<Context<Bytes>>,
    /// Address and name of each function, by address.
    functions: Vec<(u64, String)>,
}

impl Symbols {
    /// The functions of a place, the outermost first: several where some are inlined. By the open file of the place, if there is one.
    pub(super) fn frames(&mut self, place: &Place, open: Option<&File>) -> Vec<StackFrame> {
        if let Some(known) = self.named.get(place) {
            return known.clone();
        }
        let mut frames = match (&place.file, open) {
            (Some(file), Some(open)) => {
                let known = self.files.entry(file.clone()).or_insert_with(|| SymbolFile::read(open));
                known.as_ref().map_or_else(Vec::new, |known| known.frames(place))
            }
            _ => Vec::new(),
        };
        if frames.is_empty() {
            let file = place.file.as_ref().map_or_else(|| "[memory]".into(), |file| short(&file.path));
            frames.push(StackFrame { function: format!("{file}+{:#x}", place.address), line: None, own: place.own });
        }
        self.named.insert(place.clone(), frames.clone());
        frames
    }
}

impl SymbolFile {
    /// Reads a file, and the one beside it that holds its debug information where distributions put that.
    fn read(file: &File) -> Option<SymbolFile> {
        let bytes = contents(file)?;
        let file = object::File::parse(bytes.as_slice()).ok()?;
        let apart = file.build_id().ok().flatten().and_then(debug_file).and_then(|file| contents(&file));
        let apart = apart.as_deref().and_then(|bytes| object::File::parse(bytes).ok());
        let mut known = functions(&file);
        known.extend(apart.iter().flat_map(functions));
        known.sort();
        Some(SymbolFile { lines: apart.as_ref().and_then(lines).or_else(|| lines(&file)), functions: known })
    }

    fn frames(&self, place: &Place) -> Vec<StackFrame> {
        let mut frames = Vec::new();
        let found = self.lines.as_ref().map(|lines| lines.find_frames(place.address).skip_all_loads());
        if let Some(Ok(mut found)) = found {
            while let Ok(Some(frame)) = found.next() {
                let name = frame.function.as_ref().and_then(|name| Some(name.demangle().ok()?.into_owned()));
                let line = frame.location.and_then(|at| Some(format!("{}:{}", short(Path::new(at.file?)), at.line?)));
                frames.extend(name.map(|function| StackFrame { function, line, own: place.own }));
            }
        }
        if frames.is_empty() {
            let after = self.functions.partition_point(|(address, _)| *address <= place.address);
            let symbol = after.checked_sub(1).and_then(|at| self.functions.get(at));
            frames.extend(symbol.map(|(_, name)| StackFrame {
                function: addr2line::demangle_auto(name.into(), None).into_owned(),
                line: None,
                own: place.own,
            }));
        }
        frames.reverse();
        frames
    }
}

/// Where distributions put the debug information of a program with this id (`.note.gnu.build-id`).
fn debug_file(id: &[u8]) -> Option<File> {
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    File::open(format!("/usr/lib/debug/.build-id/{first:02x}/{rest}.debug")).ok()
}

/// The functions that a file has symbols for.
fn functions(file: &object::File) -> Vec<(u64, String)> {
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let symbols = symbols.filter(|symbol| symbol.kind() == object::SymbolKind::Text && symbol.is_definition());
    symbols.filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?.to_string()))).collect()
}

/// The debug information of a file.
fn lines(file: &object::File) -> Option<Context<Bytes>> {
    file.section_by_name(".debug_line")?;
    let section = |id: gimli::SectionId| -> Result<Bytes, gimli::Error> {
        let data = file.section_by_name(id.name()).and_then(|section| section.uncompressed_data().ok());
        Ok(EndianRcSlice::new(data.unwrap_or_default().as_ref().into(), NativeEndian))
    };
    Context::from_dwarf(Dwarf::load(section).ok()?).ok()
}

/// The last part of a path.
fn short(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_without_a_file_and_one_in_no_program_have_names_all_the_same() {
        let mut symbols = Symbols::default();
        let mut named = |path: Option<&str>| {
            let file = path.map(|path| ProgramFile { path: path.into(), ..ProgramFile::default() });
            let open = path.and_then(|path| File::open(path).ok());
            symbols.frames(&Place { file, address: 0x10, own: false }, open.as_ref())[0].function.clone()
        };
        assert_eq!(named(None), "[memory]+0x10");
        assert_eq!(named(Some("/etc/passwd")), "passwd+0x10");
        assert_eq!(named(Some("/no/such")), "such+0x10");
    }
}
