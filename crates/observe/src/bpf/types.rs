//! Where the running kernel has the fields that show what a descriptor is: from its own description of its types (BTF,
//! Documentation/bpf/btf.rst). Without one, calls are not distinguished by what they are made on.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::OnceLock;

/// Offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Types {
    /// In a task: its flags, its files, its memory, its CPU, how long it has run.
    pub flags: i32,
    pub files: i32,
    pub memory: i32,
    pub cpu: i32,
    pub run_time: i32,
    /// In its files: their table; in the table: how many descriptors it has, and their files.
    pub table: i32,
    pub descriptors: i32,
    pub by_descriptor: i32,
    /// In a file: its inode, its modes, what its kind keeps with it, its name.
    pub inode: i32,
    pub modes: i32,
    pub private: i32,
    pub entry: i32,
    pub name: i32,
    /// In an inode: its mode, its file system, its device; in the file system: what shows which it is.
    pub mode: i32,
    pub system: i32,
    pub device: i32,
    pub magic: i32,
    /// In a socket: its type, its other half; in that: its family.
    pub kind: i32,
    pub sock: i32,
    pub family: i32,
    /// In a task's memory: how many of its anonymous pages are there.
    pub anonymous: Option<i32>,
    /// The number of the type of the tracepoint after calls, by which a program there may read the saved registers itself.
    pub at_return: Option<u32>,
}

impl Types {
    /// Those of the running kernel.
    pub(crate) fn here() -> Option<Types> {
        static HERE: OnceLock<Option<Types>> = OnceLock::new();
        *HERE.get_or_init(|| Types::of(&Described::read(&std::fs::read("/sys/kernel/btf/vmlinux").ok()?)?))
    }

    fn of(known: &Described) -> Option<Types> {
        let at = |structure: &str, path: &[&str]| known.offset(structure, path);
        /// `MM_ANONPAGES` (include/linux/mm_types_task.h).
        const ANONYMOUS: i32 = 1;
        let counters = || {
            let (first, count) = (at("mm_struct", &["rss_stat"])?, at("percpu_counter", &["count"])?);
            Some(first + ANONYMOUS * known.size("percpu_counter")? + count)
        };
        // Since Linux 6.2 the counts are those of `struct percpu_counter`. Before, they were numbers, and there were such counters too.
        let anonymous = match known.place("mm_rss_stat").is_some() {
            true => at("mm_struct", &["rss_stat", "count"]).map(|first| first + ANONYMOUS * size_of::<u64>() as i32),
            false => counters(),
        };
        Some(Types {
            flags: at("task_struct", &["flags"])?,
            files: at("task_struct", &["files"])?,
            memory: at("task_struct", &["mm"])?,
            cpu: at("task_struct", &["thread_info", "cpu"]).or_else(|| at("task_struct", &["cpu"]))?,
            run_time: at("task_struct", &["se", "sum_exec_runtime"])?,
            table: at("files_struct", &["fdt"])?,
            descriptors: at("fdtable", &["max_fds"])?,
            by_descriptor: at("fdtable", &["fd"])?,
            inode: at("file", &["f_inode"])?,
            modes: at("file", &["f_mode"])?,
            private: at("file", &["private_data"])?,
            entry: at("file", &["f_path", "dentry"])?,
            name: at("dentry", &["d_name", "name"])?,
            mode: at("inode", &["i_mode"])?,
            system: at("inode", &["i_sb"])?,
            device: at("inode", &["i_rdev"])?,
            magic: at("super_block", &["s_magic"])?,
            kind: at("socket", &["type"])?,
            sock: at("socket", &["sk"])?,
            family: at("sock", &["__sk_common", "skc_family"])?,
            at_return: known.place("btf_trace_sys_exit").map(|place| place as u32),
            anonymous,
        })
    }
}

/// A description: where each type begins, and which type has a name, of structures and tracepoints. All else is read when it is looked
/// for: of some 100,000 types, a dozen are.
struct Described<'a> {
    bytes: &'a [u8],
    names: usize,
    types: Vec<usize>,
    named: HashMap<&'a [u8], usize>,
}

/// The words at the beginning of a type.
struct Type {
    at: usize,
    name: u32,
    info: u32,
    /// The size of a structure; another type for names and qualifiers.
    size_or_type: u32,
}

impl Type {
    fn kind(&self) -> u32 {
        self.info >> 24 & 0x1f
    }

    fn count(&self) -> usize {
        (self.info & 0xffff) as usize
    }
}

/// The kinds of types (include/uapi/linux/btf.h).
mod kind {
    pub(super) const STRUCTURES: [u32; 2] = [4, 5];
    /// `typedef`, `volatile`, `const`, `restrict`, tags of types.
    pub(super) const OTHER_NAMES: [u32; 5] = [8, 9, 10, 11, 18];
    /// The words that follow a type of this kind: a number for all, and a number for each member.
    pub(super) fn words(kind: u32) -> (usize, usize) {
        match kind {
            1 | 14 | 17 => (1, 0),
            3 => (3, 0),
            4 | 5 | 15 | 19 => (0, 3),
            6 | 13 => (0, 2),
            _ => (0, 0),
        }
    }
}

impl<'a> Described<'a> {
    /// Reads a description. `None` if it is none, or of another order of bytes.
    fn read(bytes: &'a [u8]) -> Option<Described<'a>> {
        const MAGIC: u32 = 0xeb9f;
        let mut known = Described { bytes, names: 0, types: vec![0], named: HashMap::new() };
        if known.word(0)? & 0xffff != MAGIC {
            return None;
        }
        let head = known.word(4)? as usize;
        let (mut at, length) = (head + known.word(8)? as usize, known.word(12)? as usize);
        let end = at + length;
        known.names = head + known.word(16)? as usize;
        while at < end {
            let found = known.at(at)?;
            let kind = found.kind();
            if kind == kind::STRUCTURES[0] || kind == kind::OTHER_NAMES[0] {
                let name = known.name(found.name)?;
                if kind == kind::STRUCTURES[0] || name.starts_with(b"btf_trace_") {
                    known.named.entry(name).or_insert(known.types.len());
                }
            }
            known.types.push(at);
            let (all, each) = kind::words(kind);
            at += 12 + 4 * (all + each * found.count());
        }
        Some(known)
    }

    fn word(&self, at: usize) -> Option<u32> {
        self.bytes.get(at..)?.first_chunk().map(|word| u32::from_ne_bytes(*word))
    }

    fn at(&self, at: usize) -> Option<Type> {
        Some(Type { at, name: self.word(at)?, info: self.word(at + 4)?, size_or_type: self.word(at + 8)? })
    }

    fn name(&self, at: u32) -> Option<&'a [u8]> {
        CStr::from_bytes_until_nul(self.bytes.get(self.names + at as usize..)?).ok().map(CStr::to_bytes)
    }

    /// A type by its number. The type 0 is `void`.
    fn numbered(&self, number: usize) -> Option<Type> {
        self.at(*self.types.get(number).filter(|_| number > 0)?)
    }

    /// The number of a structure or a tracepoint.
    fn place(&self, name: &str) -> Option<usize> {
        self.named.get(name.as_bytes()).copied()
    }

    fn size(&self, structure: &str) -> Option<i32> {
        self.numbered(self.place(structure)?).map(|known| known.size_or_type as i32)
    }

    /// The offset of a member, through the members on the way to it.
    fn offset(&self, structure: &str, path: &[&str]) -> Option<i32> {
        let (mut place, mut offset) = (self.place(structure)?, 0);
        for name in path {
            let (next, further) = self.member(place, name)?;
            (place, offset) = (next, offset + further);
        }
        Some(offset as i32)
    }

    /// A member's type and offset. Members without a name are looked into.
    fn member(&self, place: usize, wanted: &str) -> Option<(usize, u32)> {
        let mut found = self.numbered(place)?;
        while !kind::STRUCTURES.contains(&found.kind()) {
            let is_name = kind::OTHER_NAMES.contains(&found.kind());
            found = self.numbered(found.size_or_type as usize).filter(|_| is_name)?;
        }
        (0..found.count()).find_map(|member| {
            let at = found.at + 12 + member * 12;
            let (name, of, bits) = (self.name(self.word(at)?)?, self.word(at + 4)? as usize, self.word(at + 8)?);
            // With bit fields, the high byte is their length.
            let offset = if found.info >> 31 == 1 { bits & 0xff_ffff } else { bits } / 8;
            match name {
                b"" => self.member(of, wanted).map(|(of, further)| (of, offset + further)),
                name => (name == wanted.as_bytes()).then_some((of, offset)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A description of `struct outer { int a; union { struct inner { long b; long c; } }; }`, with lengths in bytes.
    #[test]
    fn members_are_found_through_those_without_a_name() {
        let names = b"\0outer\0inner\0b\0c\0d\0";
        let at = |name: &[u8]| names.windows(name.len()).position(|part| part == name).expect("a name") as u32;
        let mut words: Vec<u32> = Vec::new();
        words.extend([at(b"inner\0"), 4 << 24 | 2, 16, at(b"b\0"), 0, 0, at(b"c\0"), 0, 64]);
        words.extend([0, 5 << 24 | 1, 16, at(b"d\0"), 1, 0]);
        words.extend([at(b"outer\0"), 4 << 24 | 1, 24, 0, 2, 64]);
        let head = [0x1_eb9f, 24, 0, 4 * words.len() as u32, 4 * words.len() as u32, names.len() as u32];
        let mut bytes: Vec<u8> = head.iter().chain(&words).flat_map(|word| word.to_ne_bytes()).collect();
        bytes.extend(names);
        let known = Described::read(&bytes).expect("a description");
        assert_eq!(known.offset("outer", &["d", "c"]), Some(16));
        assert_eq!((known.size("outer"), known.offset("outer", &["no"])), (Some(24), None));
        assert!(Described::read(&bytes[4..]).is_none());
    }
}
