//! bpf(2): maps, programs, attachments. Knows nothing of what they count.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::instruction::Instruction;

/// Commands of bpf(2) (include/uapi/linux/bpf.h, `enum bpf_cmd`).
pub(super) mod command {
    pub(super) const MAP_CREATE: i32 = 0;
    pub(super) const MAP_LOOKUP: i32 = 1;
    pub(super) const MAP_UPDATE: i32 = 2;
    pub(super) const MAP_DELETE: i32 = 3;
    pub(super) const MAP_NEXT_KEY: i32 = 4;
    pub(super) const PROGRAM_LOAD: i32 = 5;
    pub(super) const TEST_RUN: i32 = 10;
    pub(super) const INFORMATION: i32 = 15;
    pub(super) const RAW_TRACEPOINT_OPEN: i32 = 17;
    pub(super) const MAP_TAKE: i32 = 21;
    pub(super) const MAP_UPDATE_BATCH: i32 = 26;
    pub(crate) const LINK_BY_ID: i32 = 30;
    pub(crate) const NEXT_LINK_ID: i32 = 31;
    pub(super) const ENABLE_STATISTICS: i32 = 32;
}

/// `BPF_PROG_TYPE_RAW_TRACEPOINT`.
const RAW_TRACEPOINT: u32 = 17;
/// `BPF_PROG_TYPE_TRACING`, and `BPF_TRACE_RAW_TP`: at a raw tracepoint whose arguments have types.
const TRACING: u32 = 26;
const TYPED_TRACEPOINT: u32 = 23;
/// `BPF_PROG_TYPE_PERF_EVENT`.
const EVENT: u32 = 7;
/// Helpers that read kernel memory are for programs under this license.
const LICENSE: &std::ffi::CStr = c"GPL";

/// Refusals of programs that the kernel did not check.
const UNCHECKED: [i32; 5] = [libc::EPERM, libc::ENOSYS, libc::EMFILE, libc::ENFILE, libc::ENOMEM];

/// The kinds of maps that are used (`enum bpf_map_type`).
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(crate) enum MapKind {
    Hash = 1,
    Array = 2,
    /// A full one drops the entry that was not used for the longest time.
    RecentHash = 9,
    /// Its values are arrays.
    ArrayOfMaps = 12,
    Queue = 22,
    Stack = 23,
}

/// A map. The kernel frees it when this and all programs that use it are gone.
#[derive(Debug)]
pub(crate) struct Map {
    descriptor: OwnedFd,
    key: usize,
    value: usize,
    entries: usize,
}

#[repr(C)]
#[derive(Default)]
struct CreateMap {
    kind: u32,
    key: u32,
    value: u32,
    entries: u32,
    flags: u32,
    inner: u32,
    rest: [u32; 6],
}

#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct Batch {
    cursors: [u64; 2],
    keys: u64,
    values: u64,
    count: u32,
    map: u32,
    element_flags: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct LoadProgram {
    kind: u32,
    instructions: u32,
    at: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
    btf: [u32; 9],
    attach_to: u32,
}

#[repr(C)]
struct OpenTracepoint {
    name: u64,
    program: u32,
    unused: u32,
}

/// `struct bpf_prog_info`, up to what is used.
#[repr(C)]
#[derive(Default)]
struct ProgramInfo {
    before: [u64; 24],
    run_time_ns: u64,
    run_count: u64,
}

#[repr(C)]
struct InfoRequest {
    descriptor: u32,
    size: u32,
    info: u64,
}

#[repr(C)]
#[derive(Default)]
struct TestRun {
    program: u32,
    result: u32,
    sizes: [u32; 2],
    data: [u64; 2],
    repeat: u32,
    duration: u32,
    context_sizes: [u32; 2],
    contexts: [u64; 2],
    flags: u32,
    cpu: u32,
}

/// Calls bpf(2).
pub(super) fn bpf<T>(command: i32, attributes: &mut T) -> io::Result<i32> {
    // SAFETY: the attributes live through the call and their size is given. Every pointer in them was made by this file
    // from memory that lives through the call and has the size that the kernel uses.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer as i32) }
}

/// The descriptor that bpf(2) has just returned.
pub(super) fn owned(descriptor: i32) -> OwnedFd {
    // SAFETY: the kernel just gave us this descriptor, close-on-exec, and nobody else knows it.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

/// Fills a structure of numbers with what the kernel knows of a program or a link. Fails if it does not report as much.
pub(super) fn describe<T>(described: &OwnedFd, info: &mut T) -> io::Result<()> {
    let (size, info) = (size_of::<T>() as u32, std::ptr::from_mut(info).expose_provenance() as u64);
    let mut request = InfoRequest { descriptor: described.as_raw_fd() as u32, size, info };
    bpf(command::INFORMATION, &mut request).map(|_| ())
}

impl Map {
    /// A map of `entries` values of `value` bytes, by keys of `key` bytes; 0 for queues and stacks.
    pub(crate) fn new(kind: MapKind, key: usize, value: usize, entries: usize) -> io::Result<Map> {
        let (kind, key, value) = (kind as u32, key as u32, value as u32);
        Map::create(CreateMap { kind, key, value, entries: entries as u32, ..CreateMap::default() })
    }

    /// An array of arrays like this one.
    pub(crate) fn array_of(&self, entries: usize) -> io::Result<Map> {
        let (kind, inner) = (MapKind::ArrayOfMaps as u32, self.descriptor() as u32);
        Map::create(CreateMap { kind, key: 4, value: 4, entries: entries as u32, inner, ..CreateMap::default() })
    }

    fn create(mut attributes: CreateMap) -> io::Result<Map> {
        let descriptor = owned(bpf(command::MAP_CREATE, &mut attributes)?);
        let CreateMap { key, value, entries, .. } = attributes;
        Ok(Map { descriptor, key: key as usize, value: value as usize, entries: entries as usize })
    }

    pub(crate) fn descriptor(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    fn element(&self, key: Option<&[u8]>, value: Option<&mut [u8]>) -> Element {
        assert!(key.is_none_or(|key| key.len() == self.key), "a key of the map");
        assert!(value.as_ref().is_none_or(|value| value.len() == self.value), "a value of the map");
        Element {
            map: self.descriptor() as u32,
            key: key.map_or(0, |key| key.as_ptr().addr() as u64),
            value: value.map_or(0, |value| value.as_mut_ptr().expose_provenance() as u64),
            ..Element::default()
        }
    }

    /// The value of a key. Fails if there is none.
    pub(crate) fn get(&self, key: &[u8]) -> io::Result<Vec<u8>> {
        let mut value = vec![0; self.value];
        bpf(command::MAP_LOOKUP, &mut self.element(Some(key), Some(&mut value)))?;
        Ok(value)
    }

    /// Sets the value of a key. Fails if the map is full.
    pub(crate) fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let mut value = value.to_vec();
        let key = (self.key > 0).then_some(key);
        bpf(command::MAP_UPDATE, &mut self.element(key, Some(&mut value))).map(|_| ())
    }

    /// Sets the values of an array from this place on. In an array of arrays each call waits until no program uses the values before
    /// (some 10 ms), so that all are set by one call where the kernel can (Linux 5.19).
    pub(crate) fn set_from(&self, first: u32, values: &[u8]) -> io::Result<()> {
        let keys: Vec<[u8; 4]> = (first..).take(values.len() / self.value).map(u32::to_ne_bytes).collect();
        let mut batch = Batch {
            keys: keys.as_ptr().expose_provenance() as u64,
            values: values.as_ptr().expose_provenance() as u64,
            count: keys.len() as u32,
            map: self.descriptor() as u32,
            ..Batch::default()
        };
        if bpf(command::MAP_UPDATE_BATCH, &mut batch).is_ok() {
            return Ok(());
        }
        keys.iter().zip(values.chunks_exact(self.value)).try_for_each(|(key, value)| self.set(key, value))
    }

    /// Removes a key. Fails if it is not there.
    pub(crate) fn remove(&self, key: &[u8]) -> io::Result<()> {
        bpf(command::MAP_DELETE, &mut self.element(Some(key), None)).map(|_| ())
    }

    /// Puts a value into a queue or stack. Fails if it is full.
    pub(crate) fn push(&self, value: &[u8]) -> io::Result<()> {
        self.set(&[], value)
    }

    /// Takes the next value of a queue or stack, if there is one.
    pub(crate) fn take(&self) -> Option<Vec<u8>> {
        let mut value = vec![0; self.value];
        bpf(command::MAP_TAKE, &mut self.element(None, Some(&mut value))).ok()?;
        Some(value)
    }

    /// All keys of a hash. Keys that come or go meanwhile may be missing, and others may come twice: after a key that is gone,
    /// the kernel begins again.
    pub(crate) fn keys(&self) -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        loop {
            let mut next = vec![0; self.key];
            let mut attributes = self.element(keys.last().map(Vec::as_slice), None);
            attributes.value = next.as_mut_ptr().expose_provenance() as u64;
            if bpf(command::MAP_NEXT_KEY, &mut attributes).is_err() || keys.len() > 2 * self.entries {
                return keys;
            }
            keys.push(next);
        }
    }
}

/// Where a program is to run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Runs {
    /// At a tracepoint that is named later.
    Tracepoint,
    /// At the tracepoint with this type, whose arguments are read without helpers.
    Typed(u32),
    /// At each of some events.
    Events,
}

/// What the kernel's own statistics have of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ran {
    pub times: u64,
    pub together_ns: u64,
}

impl Ran {
    /// What it took on the mean since this was known, in ns; 0 if it did not run.
    pub(crate) fn mean_ns_since(self, before: Ran) -> f64 {
        (self.together_ns - before.together_ns) as f64 / (self.times - before.times).max(1) as f64
    }
}

/// A program that the kernel has checked.
#[derive(Debug)]
pub(crate) struct Program {
    descriptor: OwnedFd,
    /// True if it was loaded for one tracepoint, which is not named again.
    is_typed: bool,
}

impl Program {
    /// Has the kernel check and translate the instructions.
    /// Fails if this process may not load programs, or the kernel does not accept this one; the error holds what its checker printed.
    pub(crate) fn load(name: &str, instructions: &[Instruction]) -> io::Result<Program> {
        Program::load_for(name, instructions, Runs::Tracepoint)
    }

    /// The same for another place.
    pub(crate) fn load_for(name: &str, instructions: &[Instruction], runs: Runs) -> io::Result<Program> {
        match Program::load_with(name, instructions, runs, &mut []) {
            // A message is worth its time only after a refusal; it needs a buffer large enough for all of it.
            Err(error) if !error.raw_os_error().is_some_and(|number| UNCHECKED.contains(&number)) => {
                let mut log = vec![0; 1 << 20];
                let again = Program::load_with(name, instructions, runs, &mut log);
                again.map_err(|error| {
                    let text = String::from_utf8_lossy(&log);
                    let text = text.trim_end_matches('\0').trim_end();
                    let last: Vec<&str> = text.lines().rev().take(4).collect();
                    let last: Vec<&str> = last.into_iter().rev().collect();
                    io::Error::new(error.kind(), format!("program {name}: {error}: {}", last.join("; ")))
                })
            }
            other => other,
        }
    }

    fn load_with(name: &str, instructions: &[Instruction], runs: Runs, log: &mut [u8]) -> io::Result<Program> {
        let (kind, attach_type, attach_to) = match runs {
            Runs::Tracepoint => (RAW_TRACEPOINT, 0, 0),
            Runs::Typed(of) => (TRACING, TYPED_TRACEPOINT, of),
            Runs::Events => (EVENT, 0, 0),
        };
        let mut attributes = LoadProgram {
            kind,
            attach_type,
            attach_to,
            instructions: instructions.len() as u32,
            at: instructions.as_ptr().expose_provenance() as u64,
            license: LICENSE.as_ptr().expose_provenance() as u64,
            log_level: u32::from(!log.is_empty()),
            log_size: log.len() as u32,
            log: if log.is_empty() { 0 } else { log.as_mut_ptr().expose_provenance() as u64 },
            ..LoadProgram::default()
        };
        for (to, from) in attributes.name.iter_mut().take(15).zip(name.bytes()) {
            *to = from;
        }
        let descriptor = owned(bpf(command::PROGRAM_LOAD, &mut attributes)?);
        Ok(Program { descriptor, is_typed: matches!(runs, Runs::Typed(_)) })
    }

    /// Runs the program at this tracepoint until the result is dropped or this process ends.
    /// Fails if this kernel does not have the tracepoint.
    pub(crate) fn attach(&self, tracepoint: &std::ffi::CStr) -> io::Result<Attachment> {
        let name = if self.is_typed { 0 } else { tracepoint.as_ptr().expose_provenance() as u64 };
        let mut attributes = OpenTracepoint { name, program: self.descriptor() as u32, unused: 0 };
        Ok(Attachment { _descriptor: owned(bpf(command::RAW_TRACEPOINT_OPEN, &mut attributes)?) })
    }

    pub(crate) fn descriptor(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// How often it ran while the kernel kept statistics, and how long.
    /// Fails if this kernel does not report it (before Linux 5.1).
    pub(crate) fn ran(&self) -> io::Result<Ran> {
        let mut info = ProgramInfo::default();
        describe(&self.descriptor, &mut info)?;
        Ok(Ran { times: info.run_count, together_ns: info.run_time_ns })
    }
}

/// Has the kernel note how often and how long programs run, all of the system, until the result is dropped.
/// Fails if this process may not, or the kernel cannot (before Linux 5.8).
pub(crate) fn keep_statistics() -> io::Result<OwnedFd> {
    const RUN_TIME: u32 = 0;
    Ok(owned(bpf(command::ENABLE_STATISTICS, &mut RUN_TIME.to_owned())?))
}

/// An attached program. Dropping it detaches the program; so does the end of this process, however it ends.
#[derive(Debug)]
pub(crate) struct Attachment {
    pub(super) _descriptor: OwnedFd,
}

/// Runs a program once, in the task that calls this. Allocates nothing, so it may be called between fork and exec.
/// Fails if this kernel cannot (before Linux 5.10).
pub(crate) fn run_here(program: i32) -> io::Result<()> {
    let mut attributes = TestRun { program: program as u32, ..TestRun::default() };
    bpf(command::TEST_RUN, &mut attributes).map(|_| ())
}
