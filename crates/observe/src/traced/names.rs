//! How many different names a followed thread looks up: the rules and the hashes are those of the programs in the kernel
//! (`bpf/names.rs`), so that both ways of counting report the same.

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::sys;
use crate::counts::Counts;
use crate::naming::{ATTRIBUTES, COPIES, ENTERS, FIRST, GOLDEN, MAY_COPY, MAY_CREATE, NAME_SIZE, OPENS, SECOND, class};

/// The bytes of a name that are hashed at a time.
const ROOM: usize = NAME_SIZE - 1;

/// Stands for the working folder.
const WORKING: i32 = libc::AT_FDCWD;

/// A call that returned.
pub(super) struct Returned {
    pub number: u16,
    pub arguments: [u64; 3],
    pub result: Result<u64, u16>,
    /// True if it was to create a file that was not there.
    pub creates: bool,
}

/// Hashes of the names by which the descriptors of a process were opened, and of that of its working folder. A new process has those of its
/// creator.
#[derive(Clone, Debug, Default)]
pub(super) struct Folders {
    names: HashMap<i32, u64>,
    /// The name whose attributes were requested last; 0 if another name came after.
    attributes_of: u64,
}

impl Folders {
    /// Counts what a call named, and keeps it for names that are relative to it.
    pub(super) fn note(&mut self, thread: u32, call: &Returned, counts: &mut Counts) {
        match class(call.number) {
            0 => {}
            class if class & COPIES != 0 => self.copy(class, call),
            class => self.look_up(class, thread, call, counts),
        }
    }

    fn look_up(&mut self, class: u8, thread: u32, call: &Returned, counts: &mut Counts) {
        let (folder, address) = named(class, &call.arguments);
        let mut name = [0; NAME_SIZE];
        if sys::read(thread, address, &mut name).is_err() {
            return;
        }
        let start = match name[0] {
            // Such a call is about a descriptor.
            0 => return,
            b'/' => 0,
            _ => self.at(folder),
        };
        let mut hash = hashed(&mut name, start);
        // What there was no room for is hashed as a name in a folder that is what came before.
        if name[ROOM - 1] != 0 && sys::read(thread, address + ROOM as u64, &mut name).is_ok() && name[0] != 0 {
            hash = hashed(&mut name, hash);
        }
        counts.names.insert(hash);
        let requested = std::mem::replace(&mut self.attributes_of, if class & ATTRIBUTES == 0 { 0 } else { hash });
        let Ok(result) = call.result else { return };
        counts.attributes_first += u64::from(class & OPENS != 0 && requested == hash);
        if class & OPENS != 0 {
            self.set(result as i32, hash);
        } else if class & ENTERS != 0 {
            self.set(WORKING, hash);
        }
        counts.creates += u64::from(call.creates);
        let writes = !call.creates && may_change(class, &call.arguments) && may_be_regular(thread, result);
        counts.writing += u64::from(writes);
        counts.truncating += u64::from(writes && flags(class, &call.arguments) & libc::O_TRUNC != 0);
    }

    /// A copied descriptor, or one that becomes the working folder, passes its hash on.
    fn copy(&mut self, class: u8, call: &Returned) {
        let Ok(result) = call.result else { return };
        let copies = [libc::F_DUPFD, libc::F_DUPFD_CLOEXEC].contains(&(call.arguments[1] as i32));
        if class & MAY_COPY == 0 || copies {
            let hash = self.at(call.arguments[0] as i32);
            self.set(if class & ENTERS == 0 { result as i32 } else { WORKING }, hash);
        }
    }

    fn at(&self, descriptor: i32) -> u64 {
        self.names.get(&descriptor).copied().unwrap_or(0)
    }

    fn set(&mut self, descriptor: i32, hash: u64) {
        self.names.insert(descriptor, hash);
    }
}

fn flags(class: u8, arguments: &[u64; 3]) -> i32 {
    arguments[if class & SECOND == 0 { 1 } else { 2 }] as i32
}

/// True if a call opens a file to create or to write it.
fn may_change(class: u8, arguments: &[u64; 3]) -> bool {
    class & MAY_CREATE != 0 && flags(class, arguments) & (libc::O_CREAT | libc::O_ACCMODE) != 0
}

/// False if a descriptor is known to stand for something else than a regular file, such as `/dev/null`.
fn may_be_regular(thread: u32, descriptor: u64) -> bool {
    std::fs::metadata(format!("/proc/{thread}/fd/{descriptor}")).map_or(true, |found| found.is_file())
}

/// True if a call that begins is to create a file that is not there yet.
pub(super) fn creates(thread: u32, number: u16, arguments: &[u64; 3]) -> bool {
    let class = class(number);
    if class & MAY_CREATE == 0 || flags(class, arguments) & libc::O_CREAT == 0 {
        return false;
    }
    let (folder, address) = named(class, arguments);
    let mut bytes = [0; libc::PATH_MAX as usize];
    let Ok(read) = sys::read(thread, address, &mut bytes) else { return false };
    let Ok(name) = CStr::from_bytes_until_nul(&bytes[..read]) else { return false };
    let start = match folder {
        _ if name.to_bytes().starts_with(b"/") => "root".into(),
        WORKING => "cwd".into(),
        descriptor => format!("fd/{descriptor}"),
    };
    let mut path = OsString::from(format!("/proc/{thread}/{start}/"));
    path.push(OsStr::from_bytes(name.to_bytes()));
    !Path::new(&path).exists()
}

/// The folder that a call names, and the address of the name in it.
fn named(class: u8, arguments: &[u64; 3]) -> (i32, u64) {
    if class & FIRST == 0 { (arguments[0] as i32, arguments[1]) } else { (WORKING, arguments[0]) }
}

/// The hash of a text that ends by a zero, at the latest with the room for it, after what has this hash.
fn hashed(name: &mut [u8; NAME_SIZE], start: u64) -> u64 {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(ROOM);
    name[end..].fill(0);
    let words = name.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word));
    let mixed = words.take_while(|word| *word != 0).fold(start, |hash, word| {
        let hash = (hash ^ word).wrapping_mul(GOLDEN);
        hash ^ hash >> 32
    });
    let hash = mixed.wrapping_mul(GOLDEN);
    hash ^ hash >> 29
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    /// A call of this process, whose memory it may read.
    fn called(folders: &mut Folders, counts: &mut Counts, call: (i64, [u64; 3], Result<u64, u16>)) {
        let (number, arguments, result) = call;
        let (own, number) = (std::process::id(), number as u16);
        let creates = creates(own, number, &arguments);
        folders.note(own, &Returned { number, arguments, result, creates }, counts);
    }

    fn address(name: &CStr) -> u64 {
        name.as_ptr().expose_provenance() as u64
    }

    #[test]
    fn a_name_counts_once_in_each_folder() {
        let (mut folders, mut counts) = (Folders::default(), Counts::default());
        let (working, create) = (libc::AT_FDCWD as u64, libc::O_CREAT as u64);
        let [one, two, file] = [c"one", c"two", c"file"].map(address);
        for _ in 0..3 {
            called(&mut folders, &mut counts, (libc::SYS_openat, [working, one, 0], Ok(4)));
            called(&mut folders, &mut counts, (libc::SYS_openat, [4, file, create], Ok(5)));
            called(&mut folders, &mut counts, (libc::SYS_openat, [working, two, 0], Ok(6)));
            called(&mut folders, &mut counts, (libc::SYS_dup3, [6, 7, 0], Ok(7)));
            called(&mut folders, &mut counts, (libc::SYS_faccessat, [7, file, 0], Err(2)));
        }
        assert_eq!(counts.names.distinct(), Some(4), "one, two, and a file in each");
        assert_eq!((counts.creates, counts.writing), (3, 0));
        let open = ["/proc/self/exe", "/dev/null"].map(|path| File::open(path).expect(path));
        for file in &open {
            let writing = [working, address(c"/dev/null"), (libc::O_WRONLY | libc::O_TRUNC) as u64];
            called(&mut folders, &mut counts, (libc::SYS_openat, writing, Ok(file.as_raw_fd() as u64)));
        }
        assert_eq!((counts.creates, counts.writing, counts.truncating, counts.attributes_first), (3, 1, 1, 0));
        for call in [libc::SYS_newfstatat, libc::SYS_openat, libc::SYS_openat] {
            called(&mut folders, &mut counts, (call, [working, one, 0], Ok(4)));
        }
        assert_eq!(counts.attributes_first, 1, "the attributes of the second open were not requested");
        let long = std::ffi::CString::new(format!("{}proc/self/exe", "/".repeat(NAME_SIZE))).expect("no zero");
        let opened = creates(std::process::id(), libc::SYS_openat as u16, &[working, address(&long), create]);
        assert!(!opened, "it is there, though its name is longer than what is hashed");
        called(&mut folders, &mut counts, (libc::SYS_fchdir, [4, 0, 0], Ok(0)));
        called(&mut folders, &mut counts, (libc::SYS_faccessat, [working, file, 0], Ok(0)));
        assert_eq!(counts.names.distinct(), Some(5), "the same file in the folder that was entered");
        for end in ["a", "b", "a"] {
            let long = std::ffi::CString::new(format!("/{}{end}", "x".repeat(ROOM))).expect("no zero");
            called(&mut folders, &mut counts, (libc::SYS_faccessat, [working, address(&long), 0], Err(2)));
        }
        assert_eq!(counts.names.distinct(), Some(7), "they differ behind the room for a name");
    }

    #[test]
    fn a_call_about_a_descriptor_and_one_with_a_wrong_address_name_nothing() {
        let (mut folders, mut counts) = (Folders::default(), Counts::default());
        called(&mut folders, &mut counts, (libc::SYS_newfstatat, [3, address(c""), 0], Ok(0)));
        called(&mut folders, &mut counts, (libc::SYS_openat, [3, 8, 0], Err(14)));
        called(&mut folders, &mut counts, (libc::SYS_read, [3, address(c"x"), 0], Ok(0)));
        assert_eq!(counts.names.distinct(), None);
    }

    #[test]
    fn a_name_that_crosses_a_page_is_read() {
        let page = rustix::param::page_size();
        let memory = vec![0_u8; 3 * page];
        let start = memory.as_ptr().addr().next_multiple_of(page) - memory.as_ptr().addr();
        let mut read = [1; NAME_SIZE];
        let end = memory[start + page - 5..].as_ptr().expose_provenance() as u64;
        assert_eq!(sys::read(std::process::id(), end, &mut read).ok(), Some(NAME_SIZE), "across a page");
        assert!(sys::read(std::process::id(), 8, &mut read).is_err());
    }
}
