//! User-supplied routines: a C function of a shared object, called like any operation. It belongs to no family, because it
//! is made from a name on the command line.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_void};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use operation::{Failure, Loop, Operation, Setting, repeat};
use record::Estimate;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use system::guard::apart;

use crate::kit::library::getpid;
use crate::kit::{BASE, ELF_MACHINE, Shared};
use crate::user::HUNG_REMEDY;

/// A symbol with this ending receives the count and loops itself. Every other symbol is called once per iteration.
pub const COUNTED: &str = "_times";

/// Why a name on the command line cannot be timed as a routine.
#[derive(Debug, thiserror::Error)]
pub enum RoutineError {
    /// It has no colon, or nothing on one side of the colon.
    #[error("'{0}' names no routine; say FILE:ROUTINE, such as ./mine.so:routine (a command goes after --)")]
    Name(String),
    #[error("{file}: {error}; say the path of a shared object")]
    Read { file: String, error: std::io::Error },
    #[error("{file} is {what}, not a shared object; compile it with -shared -fPIC")]
    Other { file: String, what: &'static str },
    #[error("{file} is for {found} and this machine runs {wanted}; compile it for this machine")]
    Architecture { file: String, found: String, wanted: String },
    #[error("{file} cannot be loaded: {why}")]
    Load {
        file: String,
        /// The linker's message, or how the process that tried ended.
        why: String,
    },
    #[error("{file} has no routine '{symbol}'; it must be exported by exactly this name (extern \"C\", no_mangle)")]
    Symbol { file: String, symbol: String },
    #[error(
        "this howslow is linked statically and cannot load shared objects; time a command, or build it dynamically"
    )]
    Static,
}

/// What a round needs of a routine.
struct Routine {
    path: CString,
    symbol: CString,
}

/// The operation `FILE:SYMBOL`, after a trial in a separate process that it can be loaded: its constructors must not run
/// here. A round that takes `patience` seconds counts as hung. `quoted` by its typical figure is for routines that
/// wait. Fails with what is wrong with the name, the file or the symbol.
pub fn routine(name: &str, patience: f64, quoted: Estimate) -> Result<&'static Operation, RoutineError> {
    if cfg!(target_feature = "crt-static") {
        return Err(RoutineError::Static);
    }
    let (file, symbol) = name
        .rsplit_once(':')
        .filter(|(file, symbol)| !file.is_empty() && !symbol.is_empty())
        .ok_or_else(|| RoutineError::Name(name.into()))?;
    let unreadable = |error| RoutineError::Read { file: file.into(), error };
    check_file(file)?;
    // Without a slash the linker would search its default folders.
    let path = std::path::absolute(file).map_err(unreadable)?;
    let whole = |bytes: &[u8]| CString::new(bytes).map_err(|_| RoutineError::Name(name.into()));
    let routine = Routine { path: whole(path.as_os_str().as_bytes())?, symbol: whole(symbol.as_bytes())? };
    match apart(Duration::from_secs_f64(patience), || load(&routine).map(|found| found.is_some())) {
        Ok(Ok(true)) => {}
        Ok(Ok(false)) => return Err(RoutineError::Symbol { file: file.into(), symbol: symbol.into() }),
        Ok(Err(why)) => return Err(RoutineError::Load { file: file.into(), why }),
        Err(lost) => return Err(RoutineError::Load { file: file.into(), why: lost.to_string() }),
    }
    let once = Operation {
        // These strings come from the command line, so they are few and live as long as the process.
        id: Box::leak(name.into()),
        quoted,
        patience,
        hung_remedy: HUNG_REMEDY,
        // Which calls a routine makes is the user's business.
        memory: u64::MAX,
        argument: Some(Box::leak(Box::new(routine))),
        ..BASE
    };
    Ok(Box::leak(Box::new(if symbol.ends_with(COUNTED) {
        Operation {
            summary: "an iteration of the routine's own loop",
            per: "iteration",
            terms: &[],
            prepare: prepare_counted,
            ..once
        }
    } else {
        Operation { summary: "a call of the routine, in a loop", prepare: prepare_called, ..once }
    })))
}

fn prepare_called(setting: &Setting) -> Result<Loop, Failure> {
    let address = loaded(setting)?;
    // SAFETY: the symbol's name promises `void routine(void)`. If that is wrong, only this round's process is lost.
    let routine: unsafe extern "C" fn() = unsafe { std::mem::transmute(address) };
    let copies = Copies::watch()?;
    let work = repeat(move || {
        // SAFETY: as above, and the object stays loaded until the process ends.
        unsafe { routine() };
        Ok(())
    });
    Ok(work.verify(move |_| copies.none()))
}

fn prepare_counted(setting: &Setting) -> Result<Loop, Failure> {
    let address = loaded(setting)?;
    // SAFETY: the symbol's name promises `void routine_times(uint64_t)`. If that is wrong, only this process is lost.
    let routine: unsafe extern "C" fn(u64) = unsafe { std::mem::transmute(address) };
    let copies = Copies::watch()?;
    let work = Loop::new(move |times| {
        // SAFETY: as above, and the object stays loaded until the process ends.
        unsafe { routine(times) };
        Ok(())
    });
    Ok(work.verify(move |_| copies.none()))
}

fn loaded(setting: &Setting) -> Result<NonNull<c_void>, Failure> {
    let found = load(setting.argument()?).map_err(|why| Failure::skip(format!("it cannot be loaded: {why}"), ""))?;
    found.ok_or_else(|| Failure::skip("the symbol is gone", "do not change the file while it is timed"))
}

/// Loads the object for the rest of the process's life, because a destructor that crashes must not cost the round. `None`
/// if it lacks the symbol.
fn load(routine: &Routine) -> Result<Option<NonNull<c_void>>, String> {
    // SAFETY: the path ends in null. The object's constructors may do anything, which is why this runs in a separate
    // process.
    let object = unsafe { libc::dlopen(routine.path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if object.is_null() {
        return Err(linkers_words());
    }
    // SAFETY: the object is loaded, and the name ends in null.
    Ok(NonNull::new(unsafe { libc::dlsym(object, routine.symbol.as_ptr()) }))
}

fn linkers_words() -> String {
    // SAFETY: this process has one thread, so the text is valid until the next call.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic linker does not say why".into();
    }
    // SAFETY: it is not null, so it is a text that ends in null.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Detects a routine that forks and returns twice: the copy would continue to measure, and to fork.
struct Copies {
    original: Pid,
    seen: Shared<AtomicBool>,
    /// True once a child had time to show that it is a copy.
    waited: Cell<bool>,
}

impl Copies {
    fn watch() -> Result<Copies, Failure> {
        Ok(Copies { original: getpid(), seen: Shared::new(AtomicBool::new(false))?, waited: Cell::new(false) })
    }

    /// Gives a child time to return from the routine. A short round could be over before it runs at all.
    fn await_child(&self) {
        /// In milliseconds. A child that runs longer is a program of the routine's own.
        const PATIENCE: u32 = 50;
        if self.waited.get() {
            return;
        }
        for _ in 0..PATIENCE {
            let child = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT);
            // An error says that there is none; a status, that one has ended.
            if self.seen.load(Ordering::SeqCst) || !matches!(child, Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.waited.set(true);
    }

    /// Ends the process if it is a copy. Fails if there has been one.
    fn none(&self) -> Result<(), Failure> {
        if getpid() != self.original {
            self.seen.store(true, Ordering::SeqCst);
            // SAFETY: ends the copy without running the original's destructors.
            unsafe { libc::_exit(0) };
        }
        self.await_child();
        match self.seen.load(Ordering::SeqCst) {
            true => Err(Failure::wrong("it forked, and its copy returned from the routine too")),
            false => Ok(()),
        }
    }
}

/// Reads the file's first bytes, as the ELF object file format lays them out (System V ABI, chapter 4).
fn check_file(file: &str) -> Result<(), RoutineError> {
    let unreadable = |error| RoutineError::Read { file: file.into(), error };
    let other = |what| RoutineError::Other { file: file.into(), what };
    // Opening a FIFO would wait for its writer.
    let kind = std::fs::metadata(Path::new(file)).map_err(unreadable)?.file_type();
    if !kind.is_file() {
        return Err(other(if kind.is_dir() { "a folder" } else { "no regular file" }));
    }
    let mut head = Vec::new();
    File::open(file).and_then(|file| file.take(20).read_to_end(&mut head)).map_err(unreadable)?;
    if !head.starts_with(b"\x7fELF") {
        return Err(other(if head.is_empty() { "empty" } else { "no ELF file" }));
    }
    let &[_, _, _, _, class, order, _, _, _, _, _, _, _, _, _, _, type_low, type_high, machine_low, machine_high] =
        head.as_slice()
    else {
        return Err(other("a file cut off in its header"));
    };
    let half = if order == 2 { u16::from_be_bytes } else { u16::from_le_bytes };
    let found = processor(half([machine_low, machine_high]), class, order);
    let wanted = processor(ELF_MACHINE, 2, 1);
    if found != wanted {
        return Err(RoutineError::Architecture { file: file.into(), found, wanted });
    }
    match half([type_low, type_high]) {
        3 => Ok(()),
        1 => Err(other("an object file that is not linked yet")),
        2 => Err(other("a program")),
        4 => Err(other("a core dump")),
        _ => Err(other("an ELF file of no known kind")),
    }
}

/// The usual name of a processor, by its number in the ELF header, with its word size and byte order if these are unusual.
fn processor(machine: u16, class: u8, order: u8) -> String {
    let name = match machine {
        3 => "x86".into(),
        8 => "MIPS".into(),
        20 | 21 => "PowerPC".into(),
        22 => "S/390".into(),
        40 => "Arm".into(),
        62 => "x86-64".into(),
        183 => "aarch64".into(),
        243 => "RISC-V".into(),
        258 => "LoongArch".into(),
        other => format!("ELF machine {other}"),
    };
    let size = if class == 2 { "" } else { ", 32 bits" };
    let order = if order == 2 { ", big-endian" } else { "" };
    format!("{name}{size}{order}")
}
